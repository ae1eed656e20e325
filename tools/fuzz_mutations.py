"""Mutations of texts that mostly stay texts of their language.

Tokens are put for tokens of their kind, and groups for groups; what is put in comes from the other texts of
the corpus, so much of what comes out parses. A few mutations are coarse: bytes, truncation, repetition,
nesting, extreme values.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*|//[^\n]*)|(?P<iri><[^<>\s"{}|^`\\]*>)|(?P<string>\"\"\"(?:[^"\\]|\\.|"{1,2}(?!"))*\"\"\"
    |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<var>[?$]\w+)|(?P<blank>_:\w+)|(?P<pname>[A-Za-z][\w\-]*:[\w\-]*|:[\w\-]+)
    |(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-z_]\w*)|(?P<lang>@[A-Za-z\-]+)
    |(?P<open>[({\[])|(?P<close>[)}\]])|(?P<op>->|&&|\|\||[!<>]=|\^\^|.)""",
    re.VERBOSE | re.DOTALL,
)
_SWAPPED = ("iri", "string", "var", "blank", "pname", "number", "lang")
_EXTREMES = (
    *(
        "0",
        "-1",
        "1e308",
        "-1e-308",
        "9223372036854775807",
        "-9223372036854775808",
        "4294967296",
        "00",
        "1.0",
    ),
    *("''", '""', '"\\u0000"', '"\\U0010FFFF"', '"é"', "'\\\\'", "<>", "<#>", "<urn:x>", "?x", "_:b", "true"),
    *('"x"^^<http://www.w3.org/2001/XMLSchema#integer>', '"1"^^<http://www.w3.org/2001/XMLSchema#dateTime>'),
    *('"x"@en', '"NaN"^^<http://www.w3.org/2001/XMLSchema#double>', "[]", "()", "UNDEF", "*", "a"),
)
_BYTES = (0, 9, 10, 13, 32, 34, 39, 46, 59, 60, 62, 91, 92, 123, 125, 127, 128, 0xC3, 0xED, 0xFF)

Token = tuple[str, str]


@lru_cache(maxsize=4_000)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a text with their kinds, spaces and comments among them."""
    return tuple((match.lastgroup or "op", match.group()) for match in _TOKEN.finditer(text))


class Mutator:
    """Makes new texts of the texts of one language."""

    def __init__(self, corpus: Sequence[str]) -> None:
        self._corpus = list(corpus)
        self._pools: dict[str, list[str]] = {kind: [] for kind in _SWAPPED}
        for text in self._corpus:
            for kind, token in tokens_of(text):
                if kind in self._pools:
                    self._pools[kind].append(token)
        self._fine: tuple[Callable[[random.Random, list[Token]], None], ...] = (
            *(self._of_its_kind,) * 6,
            *(self._swapped,) * 3,
            *(self._without_a_group, self._group_twice, self._group_of_another) * 2,
            *(self._extreme, self._nested, self._without_a_token, self._token_twice),
        )

    def text(self, rng: random.Random) -> str:
        """A new text: often much like one of the corpus, seldom like none."""
        tokens = list(tokens_of(rng.choice(self._corpus)))
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
            if tokens:
                rng.choice(self._fine)(rng, tokens)
        text = "".join(token for _, token in tokens)
        if rng.random() < 0.05:
            text = coarse(rng, text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        if rng.random() < 0.002:
            text += rng.choice(("\ud800", "\x00", "\ufeff", "\u202e"))
        return text

    def _places(self, tokens: list[Token], kinds: Sequence[str]) -> list[int]:
        return [at for at, (kind, _) in enumerate(tokens) if kind in kinds]

    def _of_its_kind(self, rng: random.Random, tokens: list[Token]) -> None:
        if places := self._places(tokens, _SWAPPED):
            at = rng.choice(places)
            kind = tokens[at][0]
            # Mostly a token of the same text, so that patterns still join and prefixes are declared.
            own = [token for other, token in tokens if other == kind]
            tokens[at] = kind, rng.choice(own if rng.random() < 0.8 else self._pools[kind])

    def _swapped(self, rng: random.Random, tokens: list[Token]) -> None:
        if places := self._places(tokens, _SWAPPED):
            one = rng.choice(places)
            other = rng.choice([at for at in places if tokens[at][0] == tokens[one][0]])
            tokens[one], tokens[other] = tokens[other], tokens[one]

    def _group(self, rng: random.Random, tokens: list[Token]) -> tuple[int, int] | None:
        places = self._places(tokens, ("open",))
        if not places:
            return None
        begin, depth = rng.choice(places), 0
        for at in range(begin, len(tokens)):
            depth += (tokens[at][0] == "open") - (tokens[at][0] == "close")
            if not depth:
                return begin, at + 1
        return None

    def _without_a_group(self, rng: random.Random, tokens: list[Token]) -> None:
        if found := self._group(rng, tokens):
            begin, end = found
            del tokens[begin + 1 : end - 1]

    def _group_twice(self, rng: random.Random, tokens: list[Token]) -> None:
        if found := self._group(rng, tokens):
            times = rng.choice((1, 1, 2, 3, 30, 300)) if found[1] - found[0] < 100 else 1
            tokens[found[1] : found[1]] = tokens[found[0] : found[1]] * times

    def _group_of_another(self, rng: random.Random, tokens: list[Token]) -> None:
        other = list(tokens_of(rng.choice(self._corpus)))
        one, two = self._group(rng, tokens), self._group(rng, other)
        if one and two and tokens[one[0]] == other[two[0]]:
            tokens[one[0] : one[1]] = other[two[0] : two[1]]

    def _extreme(self, rng: random.Random, tokens: list[Token]) -> None:
        if places := self._places(tokens, _SWAPPED):
            found = rng.choice(_EXTREMES)
            if rng.random() < 0.1:
                found = (
                    '"' + rng.choice(("x", "é", "\\n", "((", "<<( ")) * rng.choice((10, 1_000, 100_000)) + '"'
                )
            tokens[rng.choice(places)] = "op", found

    def _nested(self, rng: random.Random, tokens: list[Token]) -> None:
        if found := self._group(rng, tokens):
            begin, end = found
            times = rng.choice((1, 2, 5, 20, 60, 2_000))
            tokens[begin:end] = [*[tokens[begin]] * times, *tokens[begin:end], *[tokens[end - 1]] * times]

    def _without_a_token(self, rng: random.Random, tokens: list[Token]) -> None:
        del tokens[rng.randrange(len(tokens))]

    def _token_twice(self, rng: random.Random, tokens: list[Token]) -> None:
        at = rng.randrange(len(tokens))
        times = rng.choice((1, 1, 2, 10, 3_000)) if len(tokens[at][1]) < 100 else 1
        tokens[at:at] = [tokens[at], ("space", " ")] * times


def coarse(rng: random.Random, data: bytes) -> bytes:
    """Some bytes changed, left out or repeated."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(found) + 1)
        match rng.randrange(5):
            case 0:
                found[at : at + 1] = bytes([rng.choice(_BYTES)])
            case 1:
                del found[at : at + rng.choice((1, 1, 5, 50))]
            case 2:
                found[at:at] = bytes([rng.choice(_BYTES)]) * rng.choice((1, 1, 10, 1_000))
            case 3:
                del found[at:]
            case 4:
                found[at:at] = found[at : at + 50] * rng.choice((1, 3, 30))
    return bytes(found)


_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1,
        1.5,
        2**63,
        1e308,
        "",
        "x",
        "\x00",
        [],
        {},
        [[]],
        {"": None},
        "é" * 1_000,
        -(2**70),
    ),
    *([1, 2, 3], {"x": 1}, "[" * 1_000, float("nan")),
)


def mutated_json(rng: random.Random, text: str) -> str:
    """A JSON text with some values changed, or some characters."""
    tree = json.loads(text)
    for _ in range(rng.choice((0, 1, 1, 2))):
        tree = _changed(rng, tree)
    found = json.dumps(tree, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.1:
        found = coarse(rng, found.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
    return found


def _changed(rng: random.Random, tree: Any) -> Any:
    if not isinstance(tree, dict | list) or not tree or rng.random() < 0.2:
        same = [value for value in _VALUES if type(value) is type(tree)]
        return deepcopy(rng.choice(same if same and rng.random() < 0.6 else _VALUES))
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key = rng.choice(keys)
    if isinstance(tree, dict) and rng.random() < 0.15:
        tree[rng.choice(("@id", "@context", "@graph", "@type", "@value", "x", ""))] = tree.pop(key)
    else:
        tree[key] = _changed(rng, tree[key])
    return tree
