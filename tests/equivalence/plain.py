"""Plain Datalog on sets of terms: an independent definition that the oracle itself is held against.

There are no stamps here. A fact has a stamp above t iff it is in the plain closure of the copies
whose stamp is above t; `stamps` says just that, threshold by threshold. Nothing of the engine is
used but the rules' tree (and the dictionary, to give a minted node its name).

The closure also tells how each fact came about, which is how the distribution of cases is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ensue.dictionary import Dictionary
from ensue.rules.tree import Condition, Guard, Mint, Node, Pattern, Rule, Var

Statement = tuple[str, str, str]
Solution = dict[Var, str]


class TooLargeError(Exception):
    """The closure has outgrown the limit it was given."""


@dataclass(frozen=True, slots=True)
class Origin:
    """How a fact first came about: in which round, and by which rules along the way."""

    round: int = 0
    rules: frozenset[str] = frozenset()
    recursive: bool = False
    """Whether some rule was used on the way to one of its own premises."""


class Names:
    """Names for minted nodes, with the nesting bound worked out by itself."""

    def __init__(self, nesting: int) -> None:
        self._nesting = nesting
        self._dictionary = Dictionary(nesting=255)
        self._depth: dict[str, int] = {}

    def mint(self, source: str, args: tuple[str, ...]) -> str | None:
        """The node for these arguments, None if it would nest too deep."""
        depth = 1 + max((self._depth.get(arg, 0) for arg in args), default=0)
        if depth > self._nesting:
            return None
        number = self._dictionary.mint(source, tuple(map(self._dictionary.encode, args)))
        assert number is not None
        name = self._dictionary.decode(number)
        self._depth[name] = depth
        return name


def close(
    rules: Iterable[Rule],
    stated: Iterable[Statement],
    background: Iterable[Statement] | None,
    names: Names,
    limit: int | None = None,
    never: Statement | None = None,
) -> dict[Statement, Origin]:
    """The facts of one context that a closed background does not hold; None: it is the background.

    Round n is everything that the rules give from the facts of the rounds before it, but for the
    fact `never`.
    """
    ground = frozenset(background or ())
    origins = {fact: Origin() for fact in stated if fact not in ground}
    rules = tuple(rules)
    number = 0
    while True:
        number += 1
        everywhere = Index({*origins, *ground})
        cut = everywhere if background is None else Index(ground)
        fresh: dict[Statement, Origin] = {}
        for rule in rules:
            for fact, premises in derivations(rule, everywhere, cut, names):
                if fact not in origins and fact not in ground and fact != never:
                    origin = _origin(number, rule, [origins.get(p, Origin()) for p in premises])
                    if fact not in fresh or origin.recursive > fresh[fact].recursive:
                        fresh[fact] = origin
        if not fresh:
            return origins
        origins |= fresh
        if limit is not None and len(origins) > limit:
            raise TooLargeError


def stamps(
    rules: Iterable[Rule],
    copies: Iterable[tuple[Statement, int]],
    background: Iterable[Statement],
    names: Names,
    threshold: int,
) -> dict[Statement, int]:
    """The stamp of each fact above the threshold, by one plain closure for each stamp there is."""
    rules, copies, background = tuple(rules), tuple(copies), tuple(background)
    result: dict[Statement, int] = {}
    for stamp in sorted({stamp for _, stamp in copies if stamp > threshold}):
        # Rising order: the last closure that still holds the fact is the one that counts.
        held = close(rules, (fact for fact, at in copies if at >= stamp), background, names)
        result |= dict.fromkeys(held, stamp)
    return result


class Index:
    """Facts by position and term."""

    def __init__(self, facts: Iterable[Statement]) -> None:
        self.facts = tuple(facts)
        self._found: dict[tuple[int, str], list[Statement]] = {}
        for fact in self.facts:
            for at in enumerate(fact):
                self._found.setdefault(at, []).append(fact)

    def near(self, pattern: Pattern, solution: Solution) -> Iterable[Statement]:
        """Facts among which are all that match: the shortest list that a known term gives."""
        best: Iterable[Statement] = self.facts
        size = len(self.facts)
        for position, node in enumerate(pattern):
            term = solution.get(node) if isinstance(node, Var) else node
            if term is not None:
                listed = self._found.get((position, term), [])
                if len(listed) < size:
                    best, size = listed, len(listed)
        return best


def derivations(
    rule: Rule, everywhere: Index, cut: Index, names: Names
) -> Iterator[tuple[Statement, tuple[Statement, ...]]]:
    """Each fact the rule concludes, with the premises of that derivation."""
    partial: list[tuple[Solution, tuple[Statement, ...]]] = [({}, ())]
    for premise in rule.premises:
        source = cut if premise.cut else everywhere
        partial = [
            (extended, (*used, fact))
            for solution, used in partial
            for fact in source.near(premise.pattern, solution)
            if (extended := _unify(premise.pattern, fact, solution)) is not None
        ]
    for solution, used in partial:
        final = _conditions(rule, solution, names)
        if final is not None:
            for head in rule.conclusions:
                s, p, o = (_value(node, final) for node in head)
                yield (s, p, o), used


def _origin(number: int, rule: Rule, premises: list[Origin]) -> Origin:
    before = frozenset().union(*(premise.rules for premise in premises))
    recursive = rule.name in before or any(premise.recursive for premise in premises)
    return Origin(number, before | {rule.name}, recursive)


def _unify(pattern: Pattern, fact: Statement, solution: Solution) -> Solution | None:
    extended = dict(solution)
    for node, term in zip(pattern, fact, strict=True):
        if isinstance(node, Var):
            if extended.setdefault(node, term) != term:
                return None
        elif node != term:
            return None
    return extended


def _value(node: Node, solution: Mapping[Var, str]) -> str:
    return solution[node] if isinstance(node, Var) else node


def _conditions(rule: Rule, solution: Solution, names: Names) -> Solution | None:
    body = tuple(solution.values())  # in the order in which the premises bind
    for condition in rule.conditions:
        extended = _condition(condition, solution, body, names)
        if extended is None:
            return None
        solution = extended
    return solution


def _condition(
    condition: Condition, solution: Solution, body: tuple[str, ...], names: Names
) -> Solution | None:
    if isinstance(condition, Mint):
        key = condition.key
        node = names.mint(condition.source, body if key is None else tuple(solution[v] for v in key))
        return None if node is None else solution | {condition.target: node}
    terms = [_value(arg, solution) for arg in condition.args]
    if isinstance(condition, Guard):
        return solution if _HOLDS[condition.name](terms) else None
    assert condition.name == "isDLiteral", f"random rules have no {condition.name}"
    _, typed, datatype = terms[0].rpartition('"^^')
    wanted = solution.get(condition.target, datatype)
    return solution | {condition.target: datatype} if typed and wanted == datatype else None


_HOLDS = {
    "notLiteral": lambda terms: not terms[0].startswith('"'),
    "isLiteral": lambda terms: terms[0].startswith('"'),
    "isPLiteral": lambda terms: terms[0].startswith('"') and '"^^' not in terms[0],
    "equal": lambda terms: len(set(terms)) == 1,
    "notEqual": lambda terms: len(set(terms)) == 2,
}
