"""The commands `ensue generate` and `ensue bench`. What each needs is loaded when it runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ensue.bench.arguments import address as _address
from ensue.bench.arguments import count as _count
from ensue.bench.arguments import names as _names
from ensue.bench.arguments import numbers as _numbers
from ensue.bench.arguments import positive as _positive
from ensue.bench.arguments import rate as _rate
from ensue.bench.arguments import share as _share
from ensue.bench.arguments import whole_numbers as _whole_numbers

if TYPE_CHECKING:
    from ensue.bench.harness import Experiment

    SubParsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_generate(subparsers: SubParsers) -> None:
    """Add `ensue generate`."""
    parser = subparsers.add_parser("generate", help="make a workload")
    kinds = parser.add_subparsers(title="workloads", metavar="WORKLOAD", required=True)
    _add_isin(kinds)
    _add_ontology_stream(kinds)
    _add_trains(kinds)
    _add_bsbm(kinds)
    _add_lubm_files(kinds)


def add_bench(subparsers: SubParsers) -> None:
    """Add `ensue bench`."""
    parser = subparsers.add_parser("bench", help="run an experiment: table, JSON and plot")
    names = parser.add_subparsers(title="experiments", metavar="NAME", required=True)
    _add_imars(names)
    _add_coror(names)
    _add_kernel(names)
    _add_windows(names)
    _add_sharing(names)
    _add_pipeline(names)
    _add_qsmat(names)
    _add_auto(names)
    _add_epsilon(names)
    _add_equality(names)
    _add_lubm(names)
    _add_reason(names)
    _add_events(names)


def _add_isin(kinds: SubParsers) -> None:
    parser = kinds.add_parser("isin", help="trees of isIn, as a timed stream")
    parser.add_argument("--trees", type=_positive, default=100, metavar="N")
    parser.add_argument("--depth", type=_positive, default=5, metavar="D")
    parser.add_argument("--fanout", type=_positive, default=3, metavar="F")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--rate", type=_rate, default=1000.0, metavar="R", help="statements a second")
    parser.add_argument(
        "--background", type=_share, default=0.0, metavar="SHARE", help="share kept off the stream"
    )
    parser.add_argument("--background-file", metavar="FILE", help="where that share goes, as N-Triples")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="timed stream file (.gz works)")
    parser.set_defaults(run=_run_isin)


def _run_isin(args: argparse.Namespace) -> int:
    from ensue.bench.generate import write_isin

    return write_isin(args)


def _run_ontology_stream(args: argparse.Namespace) -> int:
    from ensue.bench.generate import write_ontology_stream

    return write_ontology_stream(args)


def _add_ontology_stream(kinds: SubParsers) -> None:
    parser = kinds.add_parser(
        "ontology-stream",
        help="for any ontology, connected statements under which every applicable rule fires",
    )
    parser.add_argument("ontology", metavar="ONTOLOGY", help="an RDF file")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", metavar="FILE", help="timed stream file (.gz works)")
    target.add_argument(
        "--socket", type=_address, metavar="HOST:PORT", help="connect and send N-Triples at the rate"
    )
    parser.add_argument("--statements", type=_positive, default=1000, metavar="N")
    parser.add_argument(
        "--rate", type=_rate, default=2.5, metavar="R", help="statements a second (the paper's: 2.5)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--rules", default="pdsv", metavar="REGIME|FILE", help="whose firings are counted")
    parser.add_argument(
        "--sample", type=_positive, default=1000, metavar="N", help="statements to count firings on"
    )
    parser.add_argument("--strategy", default="expiration", help="what closes the sample")
    parser.set_defaults(run=_run_ontology_stream)


def _add_trains(kinds: SubParsers) -> None:
    parser = kinds.add_parser("trains", help="trains, stations and commuters (IMaRS, figure 2)")
    parser.add_argument("--trains", type=_positive, metavar="N")
    parser.add_argument("--travellers", type=_positive, metavar="N")
    parser.add_argument("--seconds", type=_positive, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="a folder for stream and query")
    parser.set_defaults(run=_run_trains)


def _run_trains(args: argparse.Namespace) -> int:
    from ensue.bench.generate import write_trains

    return write_trains(args, _given(args, "trains travellers seconds seed"))


def _add_bsbm(kinds: SubParsers) -> None:
    parser = kinds.add_parser("bsbm", help="vendors, products and offers (the Berlin SPARQL Benchmark)")
    parser.add_argument("--products", type=_positive, default=100, metavar="N")
    parser.add_argument("--depth", type=_positive, metavar="D", help="levels of types below the root")
    parser.add_argument("--fanout", type=_positive, metavar="F", help="types below each, with --depth")
    parser.add_argument("--words", metavar="FILE", help="words of texts (the benchmark's: titlewords.txt)")
    parser.add_argument("--names", metavar="FILE", help="names of people (the benchmark's: givennames.txt)")
    parser.add_argument("--rate", type=_rate, default=1000.0, metavar="R", help="statements a second")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="a folder for stream and query")
    parser.set_defaults(run=_run_bsbm)


def _run_bsbm(args: argparse.Namespace) -> int:
    from ensue.bench.bsbm.files import generate

    return generate(args)


def _add_lubm_files(kinds: SubParsers) -> None:
    parser = kinds.add_parser(
        "lubm", help="universities, as UBA 1.7 writes them (Lehigh University Benchmark)"
    )
    parser.add_argument("--univ", type=_positive, default=1, metavar="N", help="how many universities")
    parser.add_argument("--index", type=_count, default=0, metavar="I", help="the number of the first")
    parser.add_argument("--seed", type=_count, default=0, metavar="S")
    parser.add_argument(
        "--format",
        choices=["owl", "nt", "timed"],
        default="owl",
        help="a document or N-Triples for each department, or one stream of which each is an event",
    )
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="a folder for data and ontology")
    parser.set_defaults(run=_run_lubm_files)


def _run_lubm_files(args: argparse.Namespace) -> int:
    from ensue.bench.lubm.files import generate

    return generate(args)


def _add_imars(names: SubParsers) -> None:
    parser = names.add_parser("imars", help="share of change in a window (IMaRS, section 5)")
    parser.add_argument("--window", type=_positive, metavar="N")
    parser.add_argument("--background", type=_count, metavar="N", help="statements that never expire")
    parser.add_argument("--depth", type=_positive, metavar="D")
    parser.add_argument("--fanout", type=_positive, metavar="F")
    parser.add_argument("--steps", type=_positive, metavar="N", help="timed steps per share of change")
    parser.add_argument(
        "--shares", type=_numbers, metavar="A,B,...", help="per cent of the window a step replaces"
    )
    parser.add_argument("--strategies", type=_names, metavar="A,B,...")
    _add_common(parser, _imars)


def _add_coror(names: SubParsers) -> None:
    parser = names.add_parser(
        "coror", help="throughput, shares, windows, ontologies, sizes, memory (Stream Coror, 6.1)"
    )
    choices = ["throughput", "share", "windows", "ontologies", "size", "memory", "all"]
    parser.add_argument("--experiment", choices=choices, default="all")
    parser.add_argument("--quick", action="store_true", help="in little: to see that it runs")
    parser.add_argument(
        "--data", metavar="DIR", help="third-party data (default: ENSUE_DATA or ../shared/data)"
    )
    parser.add_argument("--strategies", type=_names, metavar="A,B,...")
    parser.add_argument("--ontologies", type=_names, metavar="A,B,...", help="for throughput and ontologies")
    _add_common(parser, _coror)


def _add_kernel(names: SubParsers) -> None:
    parser = names.add_parser(
        "kernel", help="facts a second, bytes a fact, and cost of a step as state grows"
    )
    parser.add_argument("--strategy", default="expiration")
    parser.add_argument("--statements", type=_positive, metavar="N", help="links of the hierarchy workload")
    parser.add_argument("--trees", type=_positive, metavar="N", help="isIn trees of the transitive workload")
    parser.add_argument("--scale", type=_positive, metavar="N", help="the smaller window and background")
    parser.add_argument("--steps", type=_positive, metavar="N")
    parser.add_argument("--repeats", type=_positive, metavar="N")
    _add_common(parser, _kernel)


def _add_windows(names: SubParsers) -> None:
    parser = names.add_parser("windows", help="answers kept up to date against a window queried anew")
    parser.add_argument("--seconds", type=_positive, metavar="S", help="range of the window; its step is 1 s")
    parser.add_argument("--window", type=_positive, metavar="N", help="statements in the window")
    parser.add_argument("--answers", type=_positive, metavar="N", help="answers in a window of any size")
    parser.add_argument("--steps", type=_positive, metavar="N", help="timed steps over each full window")
    parser.add_argument("--sensors", type=_positive, metavar="N")
    parser.add_argument(
        "--factors", type=_numbers, metavar="A,B,...", help="the ranges of the scaling part, in ranges"
    )
    _add_common(parser, _windows)


def _add_sharing(names: SubParsers) -> None:
    parser = names.add_parser("sharing", help="many queries with different ranges over one stream")
    parser.add_argument("--queries", type=_positive, metavar="N")
    parser.add_argument("--shortest", type=_positive, metavar="S", help="the smallest range, in seconds")
    parser.add_argument("--longest", type=_positive, metavar="S", help="the largest range, in seconds")
    parser.add_argument("--observations", type=_positive, metavar="N", help="new observations a second")
    parser.add_argument("--answers", type=_positive, metavar="N", help="answers in the longest window")
    parser.add_argument("--steps", type=_positive, metavar="N")
    parser.add_argument("--sensors", type=_positive, metavar="N")
    parser.add_argument(
        "--check-observations", type=_positive, metavar="N", help="a second, beside separate engines"
    )
    parser.add_argument("--check-steps", type=_positive, metavar="N", help="steps beside separate engines")
    _add_common(parser, _sharing)


def _add_equality(names: SubParsers) -> None:
    parser = names.add_parser("equality", help="classes of equal terms, kept once and by plain rules")
    parser.add_argument("--terms", type=_positive, metavar="N", help="in classes of each size in turn")
    parser.add_argument("--facts", type=_positive, metavar="N", help="statements about each term")
    parser.add_argument("--sizes", type=_whole_numbers, metavar="A,B,...", help="members of a class")
    parser.add_argument("--plain-most", type=_positive, metavar="N", help="the largest for the plain rules")
    parser.add_argument(
        "--stream-sizes", type=_whole_numbers, metavar="A,B,...", help="of classes on the stream"
    )
    parser.add_argument("--joins-most", type=_positive, metavar="N", help="the largest for joins")
    parser.add_argument("--step", type=_positive, metavar="N", help="terms that a step is about")
    parser.add_argument("--steps", type=_positive, metavar="N")
    parser.add_argument("--window", type=_positive, metavar="N", help="steps in a window")
    _add_common(parser, _equality)


def _equality(args: argparse.Namespace) -> Experiment:
    from ensue.bench import equality

    names = "terms facts sizes plain_most stream_sizes joins_most step steps window seed"
    return equality.experiment(equality.Options(**_given(args, names)))


def _add_pipeline(names: SubParsers) -> None:
    parser = names.add_parser("pipeline", help="throughput, state and latency of whole jobs on Spark")
    parser.add_argument("--statements", type=_positive, metavar="N", help="of the file that is read")
    parser.add_argument("--rate", type=_positive, metavar="R", help="statements a second, by their stamps")
    parser.add_argument("--repeats", type=_positive, metavar="N")
    parser.add_argument("--shards", type=_positive, metavar="N")
    parser.add_argument("--cores", type=_positive, metavar="N", help="tasks at once (default: all cores)")
    parser.add_argument("--batch-bytes", type=_positive, metavar="N", help="of a micro-batch, at most")
    parser.add_argument("--windows", type=_positive, metavar="N", help="whose answers are timed")
    parser.add_argument("--live-rate", type=_positive, metavar="R", help="statements a second, by the wall")
    parser.add_argument("--overload-s", type=_positive, metavar="N", help="seconds of overload")
    parser.add_argument(
        "--overload-rate", type=_positive, metavar="R", help="a second (default: five times what it takes)"
    )
    parser.add_argument(
        "--background-univ", type=_whole_numbers, metavar="A,B,...", help="universities in the background"
    )
    parser.add_argument(
        "--parts",
        type=_names,
        metavar="A,B,...",
        help="throughput,state,latency by default; also overload, background",
    )
    _add_common(parser, _pipeline)


def _add_qsmat(names: SubParsers) -> None:
    parser = names.add_parser("qsmat", help="a window read for one query, by who reasons (QSMat, 3.2)")
    parser.add_argument("--types", type=_whole_numbers, metavar="A,B,...", help="sizes of the hierarchy")
    parser.add_argument("--window", type=_positive, metavar="N", help="statements in the window")
    parser.add_argument("--windows", type=_whole_numbers, metavar="A,B,...", help="the same where they grow")
    parser.add_argument("--instances", type=_positive, metavar="N", help="queries drawn from the template")
    parser.add_argument("--rounds", type=_positive, metavar="N", help="windows of each query that are timed")
    parser.add_argument("--alternatives", type=_names, metavar="A,B,...")
    _add_common(parser, _qsmat)


def _add_auto(names: SubParsers) -> None:
    parser = names.add_parser("auto", help="the strategy that is chosen, beside all others")
    parser.add_argument("--window", type=_positive, metavar="N", help="statements in the window")
    parser.add_argument("--changes", type=_numbers, metavar="A,B,...", help="shares that are new each time")
    parser.add_argument("--rounds", type=_positive, metavar="N", help="evaluations that are timed")
    _add_common(parser, _auto)


def _add_epsilon(names: SubParsers) -> None:
    parser = names.add_parser("epsilon", help="statements derived a second before the shuffle on Spark")
    parser.add_argument("--statements", type=_positive, metavar="N", help="that arrive, for each hierarchy")
    parser.add_argument("--block", type=_positive, metavar="N", help="statements of a block")
    parser.add_argument("--cores", type=_positive, metavar="N", help="tasks at once (default: 2)")
    parser.add_argument("--repeats", type=_positive, metavar="N")
    parser.add_argument("--sample", type=_positive, metavar="N", help="statements that are checked")
    parser.add_argument("--sizes", type=_names, metavar="A,B,...", help="some of small,medium,large")
    _add_common(parser, _epsilon)


def _add_lubm(names: SubParsers) -> None:
    parser = names.add_parser(
        "lubm", help="universities under OWL 2 RL, department by department (INSTANS, 6)"
    )
    parser.add_argument(
        "--univ", type=_positive, metavar="N", help="universities of one pass over all queries"
    )
    parser.add_argument(
        "--least", type=_positive, metavar="N", help="of the pass that memory is compared with"
    )
    parser.add_argument(
        "--table-univ", type=_positive, metavar="N", help="of what runs each query many times"
    )
    parser.add_argument("--window", type=_positive, metavar="N", help="departments of a window")
    parser.add_argument("--shards", type=_positive, metavar="N")
    parser.add_argument("--cores", type=_positive, metavar="N", help="tasks at once (default: 2)")
    parser.add_argument("--repeats", type=_positive, metavar="N")
    parser.add_argument("--regimes", type=_names, metavar="A,B,...")
    parser.add_argument("--parts", type=_names, metavar="A,B,...", help="some of pass,regimes,contexts")
    _add_common(parser, _lubm)


def _add_events(names: SubParsers) -> None:
    parser = names.add_parser("events", help="chains of events in time, and events as contexts")
    parser.add_argument("--events", type=_positive, metavar="N", help="statements of chains; small events")
    parser.add_argument("--keys", type=_positive, metavar="N", help="things that events are about")
    parser.add_argument("--rate", type=_positive, metavar="R", help="events in a second of the stream")
    parser.add_argument("--within-ms", type=_positive, metavar="MS", help="how long a chain may last")
    parser.add_argument("--chains", type=_whole_numbers, metavar="A,B,...", help="numbers of patterns")
    parser.add_argument("--batch", type=_positive, metavar="N", help="statements that are pushed at once")
    parser.add_argument("--spark-events", type=_positive, metavar="N", help="of the file for Spark")
    parser.add_argument("--repeats", type=_positive, metavar="N", help="of each job on Spark")
    parser.add_argument("--shards", type=_positive, metavar="N")
    parser.add_argument("--cores", type=_positive, metavar="N", help="tasks at once (default: 2)")
    parser.add_argument("--batch-bytes", type=_positive, metavar="N", help="of a micro-batch, at most")
    parser.add_argument("--grown", type=_positive, metavar="N", help="small events in one growing graph")
    parser.add_argument("--parts", type=_names, metavar="A,B,...", help="of chains,memory,spark,contexts")
    _add_common(parser, _events)


def _add_common(parser: argparse.ArgumentParser, build: Callable[[argparse.Namespace], Experiment]) -> None:
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--json", metavar="FILE", help="the same figures as JSON")
    parser.add_argument("--plot", metavar="FILE", help="a picture (.png, .svg or .pdf)")

    def run(args: argparse.Namespace) -> int:
        from ensue.bench.publish import publish

        publish(build(args), json_file=args.json, plot=args.plot)
        return 0

    parser.set_defaults(run=run)


def _imars(args: argparse.Namespace) -> Experiment:
    from ensue.bench import imars
    from ensue.rules.load import load_rules

    options = imars.Options(**_given(args, "window background depth fanout steps seed shares strategies"))
    return imars.experiment(options, load_rules("transitive-isin"))


def _coror(args: argparse.Namespace) -> Experiment:
    from ensue.bench import coror, coror_all
    from ensue.bench.ontologies import data_directory
    from ensue.rules.load import load_rules

    given = _given(args, "strategies ontologies seed")
    if "ontologies" in given:
        given["throughput"] = given["ontologies"]
    options = coror.Options(data=data_directory(args.data), rules=load_rules("pdsv"), **given)
    return coror_all.experiment(options.quick() if args.quick else options, args.experiment)


def _kernel(args: argparse.Namespace) -> Experiment:
    from ensue.bench import kernel
    from ensue.rules.load import load_rules

    options = kernel.Options(**_given(args, "strategy statements trees scale steps repeats seed"))
    return kernel.experiment(options, load_rules("transitive-isin"))


def _windows(args: argparse.Namespace) -> Experiment:
    from ensue.bench import windows

    return windows.experiment(
        windows.Options(**_given(args, "seconds window answers steps sensors factors seed"))
    )


def _sharing(args: argparse.Namespace) -> Experiment:
    from ensue.bench import sharing

    names = "queries shortest longest observations answers steps sensors check_observations check_steps seed"
    return sharing.experiment(sharing.Options(**_given(args, names)))


def _pipeline(args: argparse.Namespace) -> Experiment:
    from ensue.bench import pipeline

    names = (
        "statements rate repeats shards cores batch_bytes windows live_rate overload_s overload_rate "
        "background_univ parts"
    )
    return pipeline.experiment(pipeline.Options(**_given(args, names)))


def _qsmat(args: argparse.Namespace) -> Experiment:
    from ensue.bench import qsmat

    names = "types window windows instances rounds alternatives seed"
    return qsmat.experiment(qsmat.Options(**_given(args, names)))


def _auto(args: argparse.Namespace) -> Experiment:
    from ensue.bench import auto

    return auto.experiment(auto.Options(**_given(args, "window changes rounds seed")))


def _epsilon(args: argparse.Namespace) -> Experiment:
    from ensue.bench import epsilon

    names = "statements block cores repeats sample sizes seed"
    return epsilon.experiment(epsilon.Options(**_given(args, names)))


def _add_reason(names: SubParsers) -> None:
    parser = names.add_parser("reason", help="LUBM closed once under OWL 2 RL, beside `reasonable`")
    parser.add_argument("--univ", type=_positive, metavar="N", help="how many universities")
    parser.add_argument("--repeats", type=_positive, metavar="N")
    _add_common(parser, _reason)


def _reason(args: argparse.Namespace) -> Experiment:
    from ensue.bench.lubm import closing

    return closing.experiment(closing.Options(**_given(args, "univ repeats")))


def _lubm(args: argparse.Namespace) -> Experiment:
    from ensue.bench.lubm import experiment

    names = "univ least table_univ window shards cores repeats regimes parts"
    return experiment.experiment(experiment.Options(**_given(args, names)))


def _events(args: argparse.Namespace) -> Experiment:
    from ensue.bench import events

    names = "events keys rate within_ms chains batch grown parts seed"
    names += " spark_events repeats shards cores batch_bytes"
    return events.experiment(events.Options(**_given(args, names)))


def _given(args: argparse.Namespace, names: str) -> dict[str, Any]:
    """The options that were given: the rest keeps the default of the experiment itself."""
    return {name: getattr(args, name) for name in names.split() if getattr(args, name) is not None}
