"""Golden cases: each folder here holds streams, queries, and the answers that must come of them.

To add a case, add a folder; no code is needed. It holds

- `query.rq`, or several `*.rq` that are registered together (each with a name then). The first line is
  a comment that says what the case shows;
- the streams: timed lines in `*.tsv`, or an RDF document with times;
- `expected.jsonl`: what `ensue run --output jsonl` writes, exactly, but for the order of answers where the
  query asks for none, for how the lines of several queries are mixed, and for the labels of blank nodes;
- perhaps `background.ttl`, rule files, and graphs;
- `violations.jsonl`, if the case asks what is wrong: what `ensue run --violations` tells, in any order;
- `case.toml`: which file is which, and the options of the run.

| key | means |
|---|---|
| `[streams]` | IRI = file |
| `[graphs]` | IRI = file, for FROM and FROM NAMED |
| `[reload]` | milliseconds = file, which is all of the background from then on |
| `[reload_graphs]` | milliseconds = `{ IRI = file }` |
| `knowledge` | list of files of timed lines that are background from their times on |
| `rules` | list of regimes, or of files in the folder |
| `t0`, `disorder` | milliseconds |
| `bounds`, `late`, `report`, `nth` | as the options of those names |
| `violations` | "changes" or "all": conditions are watched |
| `strategies` | the strategies that can run it, if not all can |
| `stderr` | a pattern for what is said beside the answers |
| `[error]` | the run must fail, with code `exit` and a text that matches `message`; no `expected.jsonl` |
| `refused` | under `[error]`: the query itself is at fault |
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ensue.cli import main
from ensue.errors import EnsueError
from ensue.query.language import parse_query
from ensue.query.tree import Form
from ensue.streamfile import DeadLetters, read_stream

FOLDER = Path(__file__).parent
RUNS = (
    ("auto", "auto"),
    ("recompute", "oxigraph"),
    ("dred", "auto"),
    ("expiration", "oxigraph"),
    ("rete", "auto"),
    ("rewrite", "auto"),
    ("hybrid", "auto"),
)
"""Strategy and evaluator: each of them, but not each pair, which would take long."""
NOT_REWRITTEN = (
    *("background-copy", "background-join", "derived-across-streams"),
    *("derived-and-stated", "derived-count-window", "derived-cycle"),
    *("derived-disorder", "derived-in-named-windows", "derived-late"),
    *("derived-leaves", "derived-renewed", "derived-two-ways"),
    *("imars-figure-2", "landmark-derived", "minted-nodes"),
    *("minted-nodes-uncounted", "partition-by-graph", "rdfs-schema-on-the-stream", "rules-bracketed"),
    *("rules-sparql", "same-as", "timestamp-background"),
    *("timestamp-derived", "transitive-property", "violations", "violations-all"),
)
"""The cases with rules that join, or make nodes, or come to join by schema on the stream: refused."""
OPTIONS = ("t0", "disorder", "bounds", "late", "report", "nth")
CHANGES = {"reload", "reload_graphs", "knowledge"}
KEYS = {"streams", "graphs", "rules", "violations", "strategies", "stderr", "error", *OPTIONS, *CHANGES}
CONTENT = {Form.SELECT: {"vars", "bindings"}, Form.ASK: {"boolean"}}
LABEL = re.compile(r'(?<="type": "bnode", "value": ")[^"]+|(?<=_:)[A-Za-z0-9]+')


@dataclass(frozen=True, slots=True)
class Case:
    folder: Path
    settings: dict[str, Any]

    @property
    def queries(self) -> list[Path]:
        rules = self.settings.get("rules", [])
        return [path for path in sorted(self.folder.glob("*.rq")) if path.name not in rules]

    @property
    def expected(self) -> list[dict[str, Any]]:
        return lines_of((self.folder / "expected.jsonl").read_text())

    @property
    def violations(self) -> list[dict[str, Any]]:
        path = self.folder / "violations.jsonl"
        return lines_of(path.read_text()) if path.exists() else []

    def words(self, strategy: str, evaluator: str) -> list[str]:
        """The command line of the case."""
        words = ["run", "--engine", "local", "--strategy", strategy, "--evaluator", evaluator]
        words += ["--output", "jsonl", *map(str, self.queries)]
        if strategy == "recompute":  # The others do what the queries need, and no more.
            words.append("--no-prune")
        for option in ("stream", "graph"):
            for iri, file in self.settings.get(f"{option}s", {}).items():
                words += [f"--{option}", f"{iri}={self.folder / file}"]
        if (self.folder / "background.ttl").exists():
            words += ["--background", str(self.folder / "background.ttl")]
        for time, file in self.settings.get("reload", {}).items():
            words.append(f"--reload={time}={self.folder / file}")
        for time, graphs in self.settings.get("reload_graphs", {}).items():
            words += [f"--reload-graph={time}={iri}={self.folder / file}" for iri, file in graphs.items()]
        words += [f"--knowledge={self.folder / file}" for file in self.settings.get("knowledge", [])]
        for rules in self.settings.get("rules", []):
            file = self.folder / rules
            words += ["--rules", str(file) if file.exists() else rules]
        if "violations" in self.settings:
            words += ["--violations", "-"] + ["--every-violation"] * (self.settings["violations"] == "all")
        # With `=`, so that a value can begin with a sign.
        return words + [f"--{key}={self.settings[key]}" for key in OPTIONS if key in self.settings]


def cases() -> list[Case]:
    folders = sorted(path.parent for path in FOLDER.glob("*/case.toml"))
    return [Case(folder, tomllib.loads((folder / "case.toml").read_text())) for folder in folders]


def runs() -> list[Any]:
    """Each case with every strategy that can run it."""
    return [
        pytest.param(case, strategy, evaluator, id=f"{case.folder.name}-{strategy}-{evaluator}")
        for case in cases()
        for strategy, evaluator in RUNS
        if strategy in case.settings.get("strategies", [strategy])
    ]


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def by_query(lines: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    groups = defaultdict(list)
    for line in lines:
        groups[line["query"]].append(line)
    return dict(groups)


def normal(line: dict[str, Any], ordered: bool) -> dict[str, Any]:
    """A line in which the order of answers says something only if it must."""
    parts = {key: line[key] for key in ("bindings", "triples") if key in line and not ordered}
    return line | {
        key: sorted(part, key=lambda row: json.dumps(row, sort_keys=True)) for key, part in parts.items()
    }


def check_line(actual: dict[str, Any], expected: dict[str, Any], ordered: bool) -> None:
    """The two are the same, for some one-to-one renaming of blank nodes."""
    text, wanted = json.dumps(actual, sort_keys=True), normal(expected, ordered)
    ours, theirs = (sorted(set(LABEL.findall(t))) for t in (text, json.dumps(expected, sort_keys=True)))
    for names in permutations(theirs) if len(ours) == len(theirs) else ():
        renaming = dict(zip(ours, names, strict=True))
        renamed = LABEL.sub(lambda label, renaming=renaming: renaming[label[0]], text)
        if normal(json.loads(renamed), ordered) == wanted:
            return
    assert normal(actual, ordered) == wanted


def check_violations(told: list[dict[str, Any]], case: Case, *, stamped: bool = True) -> None:
    """What is told is what should be; without stamps nobody knows until when."""
    wanted = case.violations
    if not stamped:
        wanted = [{k: line[k] for k in line if k != "until" or line[k] == "forever"} for line in wanted]
    assert in_order(told) == in_order(wanted)


def in_order(lines: list[dict[str, Any]]) -> list[str]:
    """Lines, and the statements in each, in an order that is the same for all runs."""
    ordered = [line | {"statements": sorted(map(json.dumps, line.get("statements", [])))} for line in lines]
    return sorted(json.dumps(line, sort_keys=True) for line in ordered)


def is_ordered(query: Path) -> bool:
    return re.search(r"^[^#]*\border\s+by\b", query.read_text(), re.IGNORECASE | re.MULTILINE) is not None


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.folder.name)
def test_a_case_is_sound(case):
    """What can be said of a case without running it: its queries parse, its streams can be read, ..."""
    assert case.settings.keys() <= KEYS
    assert case.settings["streams"]
    assert case.queries
    for path in case.queries:
        assert path.read_text().startswith("# ")
    if "error" in case.settings:
        assert not (case.folder / "expected.jsonl").exists()
        return
    queries = {q.name: q for q in (parse_query(p.read_text(), str(p), p.stem) for p in case.queries)}
    for line in case.expected:
        content = CONTENT.get(queries[line["query"]].form, {"triples"})
        assert line.keys() == {"query", "open", "close"} | content
    assert ("violations" in case.settings) == bool(case.violations)
    letters = DeadLetters()
    for file in case.settings["streams"].values():
        for batch in read_stream(case.folder / file, on_bad=letters):
            assert batch
    parted = any(query.partition is not None for query in queries.values())
    assert (letters.count > 0) == ("stderr" in case.settings and not parted)


REFUSED = [case for case in cases() if case.settings.get("error", {}).get("refused")]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.folder.name)
def test_a_query_is_refused(case):
    """Parsing alone says what the run must say."""
    (path,) = case.queries
    with pytest.raises(EnsueError, match=case.settings["error"]["message"]) as caught:
        parse_query(path.read_text(), str(path), path.stem)
    assert caught.value.exit_code == case.settings["error"]["exit"]


@pytest.mark.parametrize(("case", "strategy", "evaluator"), runs())
def test_answers(case, strategy, evaluator, capsys):
    code = main(case.words(strategy, evaluator))
    said = capsys.readouterr()
    if strategy == "rewrite" and case.folder.name in NOT_REWRITTEN:
        assert code == 2
        assert re.search("cannot fold all rules into the query: rule '.*' (joins|makes a node)", said.err)
        return
    if error := case.settings.get("error"):
        assert re.search(error["message"], said.err)
        assert code == error["exit"]
        return
    assert code == 0, said.err
    assert re.search(case.settings.get("stderr", ""), said.err)
    lines = lines_of(said.out)
    check_violations([line for line in lines if "violation" in line], case, stamped=strategy != "dred")
    actual = by_query([line for line in lines if "violation" not in line])
    expected = by_query(case.expected)
    assert actual.keys() == expected.keys()
    ordered = any(map(is_ordered, case.queries))
    for name, lines in expected.items():
        assert [(line["open"], line["close"]) for line in actual[name]] == [
            (line["open"], line["close"]) for line in lines
        ]
        for line, wanted in zip(actual[name], lines, strict=True):
            check_line(line, wanted, ordered)
