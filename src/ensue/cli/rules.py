"""`ensue rules`: the regimes that there are, what is in them, and what they have in common."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ensue.cli.output import Output
from ensue.errors import UsageError
from ensue.rules import shipped
from ensue.rules.catalogue import (
    NOTES,
    STUDIED,
    STUDY,
    STUDY_CONDITIONS,
    STUDY_UNIQUE,
    Regime,
    Row,
    Written,
    overlap,
)
from ensue.rules.load import parse_rules, read_rules, regime_names

if TYPE_CHECKING:
    from ensue.cli.main import SubParsers


def add_rules(subparsers: SubParsers) -> None:
    """Add the command's options."""
    parser = subparsers.add_parser(
        "rules",
        help="show regimes and what they share",
        description="The regimes that ship with Ensue: which there are, their rules as text, their overlap.",
    )
    verbs = parser.add_subparsers(title="what to do", metavar="list|show|diff", required=True)
    listing = verbs.add_parser("list", help="the regimes, with counts of rules, conditions and axioms")
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.set_defaults(run=run_list)
    show = verbs.add_parser("show", help="a regime or a file, whole, as text that can be copied and edited")
    show.add_argument("source", metavar="REGIME|FILE", help="a regime by name or a file of rules")
    show.add_argument("--rule", metavar="NAME", help="only this rule")
    show.add_argument("--json", action="store_true", help="its rules one by one, as JSON")
    show.set_defaults(run=run_show)
    diff = verbs.add_parser("diff", help="what regimes have in common, and what not")
    diff.add_argument("sources", metavar="REGIME|FILE", nargs="*", help="two or more")
    diff.add_argument("--all", action="store_true", help="the regimes of the INSTANS study")
    diff.add_argument("--json", action="store_true", help="as JSON")
    diff.set_defaults(run=run_diff)


def run_list(args: argparse.Namespace) -> int:
    """`ensue rules list`."""
    regimes = [Regime.of(name) for name in regime_names()]
    studied = overlap([regime for regime in regimes if regime.name in STUDIED])
    rules = sum(not row.is_condition for row in studied)
    found = {"rules": rules, "conditions": len(studied) - rules}
    if args.json:
        listed = [_counts(regime) for regime in regimes]
        study = {"rules": STUDY_UNIQUE, "conditions": STUDY_CONDITIONS, "regimes": dict(STUDY)}
        _print_json({"regimes": listed, "unique": found, "study": study, "notes": list(NOTES)})
        return 0
    header = ["regime", "rules", "conditions", "axioms", "study"]
    rows = [[str(value) for value in _counts(regime).values()] for regime in regimes]
    unique = ["unique*", str(rules), str(found["conditions"]), "", f"{STUDY_UNIQUE} + {STUDY_CONDITIONS}"]
    _print([*_table([header, *rows, unique]), "", f"* of {', '.join(STUDIED)}", *_notes()])
    return 0


def run_show(args: argparse.Namespace) -> int:
    """`ensue rules show`."""
    name, text, file = _source(args.source)
    if args.rule or args.json:
        regime = Regime.of(args.source)
        every = (*regime.rules, *regime.conditions)
        chosen = [each for each in every if args.rule in (None, each.name)]
        if not chosen:
            hint = f"it has {', '.join(each.name for each in every)}"
            raise UsageError(f"'{name}' has no rule '{args.rule}'", hint=hint)
        if args.json:
            _print_json([_described(each) for each in chosen])
        else:
            _print(line for each in chosen for line in _shown(each))
        return 0
    is_sparql = shipped.SYNTAXES.get(f".{file.rpartition('.')[2]}") == "sparql"
    if is_sparql:
        from ensue.rules.flat import flat

        parse_rules(text, file)  # so that what is wrong with it is told with its place
        text = flat(text, file)
    _print([text.rstrip("\n")])
    return 0


def run_diff(args: argparse.Namespace) -> int:
    """`ensue rules diff`."""
    names = list(dict.fromkeys([*args.sources, *(STUDIED if args.all else ())]))
    if len(names) < 2:
        raise UsageError("there is nothing to compare", hint="name two regimes or files, or say --all")
    regimes = [Regime.of(name) for name in names]
    rows = overlap(regimes)
    if args.json:
        found = [
            {"names": row.names, "condition": row.is_condition, "place": str(row.place)} for row in rows
        ]
        _print_json({"regimes": names, "rows": found})
        return 0
    _print(_compared(names, rows))
    return 0


def _counts(regime: Regime) -> dict[str, Any]:
    return {
        "regime": regime.name,
        "rules": len(regime.rules),
        "conditions": len(regime.conditions),
        "axioms": regime.axioms,
        "study": STUDY.get(regime.name, ""),
    }


def _source(source: str) -> tuple[str, str, str]:
    """The name, the text and the file of a regime or a file."""
    if source in shipped.regimes():
        file = shipped.regimes()[source]
        return source, file.read_text("utf-8"), file.name
    return source, read_rules(source), source


def _described(each: Written) -> dict[str, Any]:
    return {
        "name": each.name,
        "condition": each.is_condition,
        "place": str(each.place),
        "shared": each.place is not None and each.place.file.startswith("shared/"),
        "rules": [str(rule) for rule in each.rules],
    }


def _shown(each: Written) -> Iterator[str]:
    yield f"{each.name}: {'a condition' if each.is_condition else 'a rule'}, written at {each.place}"
    yield from (f"  {rule}" for rule in each.rules)


def _compared(names: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    by_owners: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        by_owners.setdefault(tuple(name for name in names if name in row.names), []).append(row)
    conditions = sum(row.is_condition for row in rows)
    yield f"{len(rows) - conditions} different rules and {conditions} different conditions in {', '.join(names)}"
    for owners, found in sorted(by_owners.items(), key=lambda each: (-len(each[0]), each[0])):
        yield ""
        yield f"{'in' if len(owners) > 1 else 'only in'} {', '.join(owners)}: {len(found)}"
        yield from _table([[", ".join(row.names[name]) for name in owners] for row in found], indent="  ")


def _table(rows: Sequence[Sequence[str]], indent: str = "") -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _notes() -> Iterator[str]:
    yield ""
    yield "study: what INSTANS's authors count in the same regimes. Where it differs:"
    yield from (f"- {note}" for note in NOTES)


def _print(lines: Any) -> None:
    with Output(None) as output:
        output.write_lines(f"{line}\n" for line in lines)


def _print_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2)
    print()
