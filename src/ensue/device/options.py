"""The command line of the small-device mode."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ensue.errors import UsageError
from ensue.inputlimits import MAX_DEVICE_LINE, check_max_line

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


@dataclass(frozen=True, slots=True)
class Options:
    """What a job is to do. Times are in milliseconds."""

    rules: tuple[str, ...]
    background: tuple[str, ...]
    window: int
    step: int
    patterns: tuple[str, ...]
    prefixes: tuple[tuple[str, str], ...]
    derived: bool
    listen: tuple[str, int] | None
    once: bool
    forward: tuple[str, int] | None
    dead_letter: str | None
    max_line: int = MAX_DEVICE_LINE


def read_options(argv: Sequence[str]) -> Options:
    """The options on a command line. Raises UsageError, or SystemExit for `--help`.

    >>> options = read_options(["--rules", "pdsv", "--window", "5m"])
    >>> options.window, options.step, options.derived
    (300000, 1000, True)
    """
    found = _parser().parse_args(argv)
    if found.bare and found.pattern:
        raise UsageError("--bare means without queries", hint="leave out --bare or --pattern")
    if found.once and found.listen is None:
        raise UsageError("--once is for --listen", hint="stdin ends by itself")
    return Options(
        rules=tuple(found.rules),
        background=tuple(found.background),
        window=_duration(found.window, "--window"),
        step=_duration(found.step, "--step"),
        patterns=tuple(found.pattern),
        prefixes=tuple(map(_prefix, found.prefix)),
        derived=found.derived or not found.pattern,
        listen=None if found.listen is None else _address(found.listen, "--listen", default_host="127.0.0.1"),
        once=found.once,
        forward=None if found.forward is None else _address(found.forward, "--forward"),
        dead_letter=found.dead_letter,
        max_line=check_max_line(found.max_line),
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise UsageError(message, hint="see --help")


def _parser() -> argparse.ArgumentParser:
    about = "A stream reasoner for small devices: N-Triples in, answers or derived statements out."
    parser = _Parser(prog="python -m ensue.device", description=about, allow_abbrev=False)
    add = parser.add_argument
    add("--rules", action="append", required=True, metavar="REGIME|FILE", help="bracketed rules (repeatable)")
    add("--background", action="append", default=[], metavar="FILE", help="N-Triples that hold (repeatable)")
    add("--window", default="10s", metavar="TIME", help="how long a statement counts (default: 10s)")
    add("--step", default="1s", metavar="TIME", help="how often the window moves (default: 1s)")
    pattern = "a query: '?x rdf:type <urn:A>', or premises as in rules: '(?x a:p ?y), (?y a:q ?z)'"
    add("--pattern", action="append", default=[], metavar="PATTERN", help=pattern)
    add("--prefix", action="append", default=[], metavar="NAME=IRI", help="a prefix for patterns")
    add("--derived", action="store_true", help="print derived statements, too, where there are patterns")
    add("--bare", action="store_true", help="derived statements only (the default without --pattern)")
    add("--listen", metavar="[HOST:]PORT", help="take statements from TCP connections, not from stdin")
    add("--once", action="store_true", help="with --listen: end when the last connection has closed")
    add("--forward", metavar="HOST:PORT", help="send derived statements there, not to stdout")
    add("--dead-letter", metavar="FILE", help="write malformed lines there, not to stderr")
    longest = f"a longer line is malformed (default: {MAX_DEVICE_LINE})"
    add("--max-line", type=int, default=MAX_DEVICE_LINE, metavar="BYTES", help=longest)
    return parser


def _duration(text: str, option: str) -> int:
    match = re.fullmatch(r"(\d{1,12})(ms|s|m|h)", text)
    if match is None or int(match[1]) == 0:
        raise UsageError(f"{option} {text}: not a time", hint="such as 500ms, 10s, 5m or 1h")
    return int(match[1]) * _UNITS[match[2]]


def _address(text: str, option: str, default_host: str | None = None) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host or default_host or ""
    if not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"{option} {text}: not an address", hint="such as localhost:7878")
    return host, int(port)


def _prefix(text: str) -> tuple[str, str]:
    name, equals, iri = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z][\w.-]*|", name) or re.search(r'[\s<>"{}|^`\\]', iri):
        raise UsageError(f"--prefix {text}: not a prefix", hint="such as ex=http://example.org/")
    return name, iri
