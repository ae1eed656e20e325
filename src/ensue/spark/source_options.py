"""The options of `format("ensue")`, checked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

from ensue.errors import InputError, Place, UsageError, did_you_mean
from ensue.inputlimits import MAX_LINE, check_max_line
from ensue.paths import STANDARD, FilePath

BYTES_PER_BATCH = 256 << 20

_NAMES = ("path", "streams", "rows", "speed", "bytesPerBatch", "parts", "finite", "maxLine")
_ROWS = ("lines", "chunks", "ranges")
_STREAMS_HINT = 'a JSON object of paths by IRI, say {"urn:s": "s.tsv"}'


@dataclass(frozen=True, slots=True)
class Options:
    """What a user asked for: see `source.py` for what each option means."""

    streams: Mapping[str, str]
    rows: str
    speed: float
    bytes_per_batch: int
    parts: int
    finite: bool
    max_line: int

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Options:
        """Options from their texts; an error where one is unknown, is not what it should be, or is missing.

        >>> Options.of({"path": ".", "parts": "2"}).parts
        2
        """
        known = {name.lower() for name in _NAMES}
        for name in given:
            # Spark hands names on in lower case.
            if name.lower() not in known:
                hint = did_you_mean(name, _NAMES) or f"one of {', '.join(_NAMES)}"
                raise UsageError(f"format('ensue') has no option '{name}'", hint=hint)
        return cls(
            streams=_streams(given),
            rows=_word(given, "rows", _ROWS),
            speed=_number(given, "speed", 0, 0),
            bytes_per_batch=int(_number(given, "bytesPerBatch", BYTES_PER_BATCH, 1)),
            parts=int(_number(given, "parts", 1, 1)),
            finite=_word(given, "finite", ("false", "true")) == "true",
            max_line=check_max_line(int(_number(given, "maxLine", MAX_LINE, 1))),
        )


def _streams(given: Mapping[str, str]) -> dict[str, str]:
    if ("path" in given) == ("streams" in given):
        hint = f"either path, a file or a directory, or streams, {_STREAMS_HINT}"
        raise UsageError("format('ensue') takes a path, or else streams", hint=hint)
    paths = {"": given["path"]} if "path" in given else _paths(given["streams"])
    check_there(paths)
    return paths


def check_there(paths: Mapping[str, FilePath]) -> None:
    """An error for the first stream, of paths by IRI, that is not there."""
    for path in paths.values():
        if path == STANDARD:
            hint = "Spark may read a part twice: run it with --engine local, or put it into a file"
            raise InputError("standard input is no stream for Spark", hint=hint)
        if not os.path.exists(path):
            hint = "check the path for a typing error; a directory may be empty, but has to be there"
            raise InputError("no such file or directory", place=Place(str(path)), hint=hint)


def _paths(text: str) -> dict[str, str]:
    try:
        found = json.loads(text)
    except ValueError as problem:
        raise UsageError(f"option streams: {problem}", hint=_STREAMS_HINT) from problem
    if not isinstance(found, dict) or not found or not all(isinstance(path, str) for path in found.values()):
        raise UsageError(f"option streams: '{text}'", hint=_STREAMS_HINT)
    return found


def _word(given: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    word = given.get(name, words[0]).lower()
    if word not in words:
        raise UsageError(f"option {name}: '{word}'", hint=f"one of {', '.join(words)}")
    return word


def _number(given: Mapping[str, str], name: str, default: float, least: float) -> float:
    text = given.get(name, str(default))
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not least <= number < float("inf"):
        raise UsageError(f"option {name}: '{text}'", hint=f"a number, at least {least}")
    return number
