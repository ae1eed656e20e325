"""Rules that cannot fire over some data are not loaded (selective loading, as Coror has it).

All terms that no rule names are taken for the same one, but for their kind, and the rules are tried on what
the data looks like then: a few hundred statements, however much data there is. What a rule can do with the
data it can do there, so a rule that does nothing there does nothing at all, and the closure is the same
without it. Conditions are asked as far as a term's kind tells.

Statements of the form (x P x) are kept apart: where everything is only the same as itself, the rules for
equality repeat their premises, and that is nothing.

Where anything may be the same as anything, all that can be said is said, and looking at it never pays. So
there is a bound, beyond which all rules are loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, product

import numpy as np
from numpy.typing import NDArray

from ensue.dictionary import Dictionary
from ensue.model import Copies
from ensue.plan.heads import filled
from ensue.plan.heads import value as node_of
from ensue.plan.rdflists import FIRST
from ensue.rules.builtins import holds, may_give
from ensue.rules.builtins import value as result_of
from ensue.rules.lists import variables
from ensue.rules.tree import Bind, Guard, Member, Mint, Node, Pair, Pattern, Rule, RuleSet, Var
from ensue.terms import XSD, Kind, kind_of

Numbers = NDArray[np.int64]

SAMPLES = {
    Kind.IRI: "<urn:ensue:some>",
    Kind.BLANK: "_:some",
    Kind.TRIPLE: "<<( <urn:ensue:some> <urn:ensue:some> <urn:ensue:some> )>>",
    Kind.PLAIN: '"some"',
    Kind.TYPED: f'"some"^^<{XSD}anyURI>',
}
"""What stands for all terms of a kind that no rule names."""

OTHERWISE = f'"01"^^<{XSD}integer>'
"""What stands for typed literals that can be written more simply, or are ill-typed."""

MOST_TRIES = 200_000
"""How often a premise is held against a statement, at most: some 0.3 s on one core."""

ANY = frozenset((*SAMPLES.values(), OTHERWISE))
_GIVES_IRIS = frozenset(("isDLiteral", "datatype", "baseDatatype"))
_BY_KIND = frozenset(("notLiteral", "isLiteral", "isPLiteral", "isIRI", "isBlank"))


@dataclass(frozen=True, slots=True)
class Selected:
    """The rules that may fire, and those that cannot."""

    rules: RuleSet
    left_out: tuple[Rule, ...]

    is_sure: bool = True
    """Whether all rules were looked at: if not, all of them are loaded."""

    @property
    def line(self) -> str:
        """For people."""
        if not self.is_sure:
            return f"all {len(self.rules.rules)} rules are loaded: to tell which cannot fire takes too long"
        every = len(self.rules.rules) + len(self.left_out)
        return f"{len(self.left_out)} of {every} rules are left out: nothing gives them what they ask for"


def select(rules: RuleSet, stated: Copies, dictionary: Dictionary) -> Selected:
    """The rules without those that cannot fire over what is stated.

    >>> from ensue.rules.load import load_rules
    >>> d = Dictionary()
    >>> triple = map(d.encode, ("<urn:A>", "<http://www.w3.org/2000/01/rdf-schema#subClassOf>", "<urn:B>"))
    >>> selected = select(load_rules("owl2rl"), Copies.background([tuple(triple)]), d)
    >>> "scm-sco" in {rule.name for rule in selected.rules.rules}, selected.line
    (True, '68 of 76 rules are left out: nothing gives them what they ask for')
    """
    sketch = _Sketch(rules)
    sketch.state(stated, dictionary)
    try:
        useful = sketch.close()
    except _TooDenseError:
        return Selected(rules, (), is_sure=False)
    kept = tuple(rule for rule in rules.rules if rule in useful)
    return Selected(replace(rules, rules=kept), tuple(rule for rule in rules.rules if rule not in useful))


class _TooDenseError(Exception):
    """To look for rules that cannot fire takes longer than they would."""


class _Sketch:
    """What data looks like if most terms are the same: by predicate, which ends it has."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules.rules
        self._named = frozenset(
            n for rule in rules.rules for p in _asked(rule) for n in p if isinstance(n, str)
        )
        self._pairs: dict[str, set[tuple[str, str]]] = {}
        self._loops: dict[str, set[str]] = {}
        self._tries = 0
        self._sizes: Counter[str] = Counter()
        """How many statements there are of each predicate."""
        for s, p, o in rules.axioms:
            self._add(self._seen(str(s)), self._seen(str(p)), self._seen(str(o)), loop=s == o)

    def state(self, stated: Copies, dictionary: Dictionary) -> None:
        """Take in data."""
        columns = np.stack([np.asarray(column, np.int64) for column in (stated.s, stated.p, stated.o)])
        codes, texts = self._codes(np.unique(columns), dictionary)
        (s, p, o), loops, of_each = codes[columns], columns[0] == columns[2], len(texts)
        # One number a row: rows as such take ten times as long to sort.
        for row in np.unique(((s * of_each + p) * of_each + o) * 2 + loops).tolist():
            ends, loop = divmod(row, 2)
            first, last = divmod(ends, of_each)
            self._add(texts[first // of_each], texts[first % of_each], texts[last], loop=bool(loop))

    def _codes(self, used: Numbers, dictionary: Dictionary) -> tuple[Numbers, list[str]]:
        """By the number of a term, that of what is seen of it; and what that is."""
        kinds = np.frombuffer(dictionary.kinds, np.uint8)[: int(used.max(initial=0)) + 1]
        codes = kinds.astype(np.int64)
        texts = [SAMPLES.get(Kind(kind), "") for kind in range(max(Kind) + 1)]
        special = {number: term for term in self._named if (number := dictionary.encode(term)) < len(codes)}
        for number in used[kinds[used] == Kind.TYPED].tolist():
            special.setdefault(number, self._seen(dictionary.decode(number)))
        numbers = {text: len(texts) + at for at, text in enumerate(dict.fromkeys(special.values()))}
        for number, text in special.items():
            codes[number] = numbers[text]
        return codes, [*texts, *numbers]

    def close(self) -> frozenset[Rule]:
        """Try all rules until nothing new comes of them; those that said something."""
        wanted = [_predicates(rule) for rule in self._rules]
        tried = [-1] * len(wanted)
        useful = [False] * len(wanted)
        while tried != (sizes := [self._size(each) for each in wanted]):
            for at, rule in enumerate(self._rules):
                if tried[at] != sizes[at]:
                    tried[at] = self._size(wanted[at])
                    useful[at] |= self._fire(rule)
        return frozenset(compress(self._rules, useful))

    def _size(self, predicates: frozenset[str] | None) -> int:
        """How many statements there are of some predicates, or of all."""
        return self._sizes.total() if predicates is None else sum(map(self._sizes.__getitem__, predicates))

    def _seen(self, term: str) -> str:
        if term in self._named:
            return term
        kind = kind_of(term)
        if kind is Kind.TYPED and (result_of("simplerSpelling", "", (), (term,)) or _is_ill_typed(term)):
            return OTHERWISE
        return SAMPLES[kind]

    def _add(self, s: str, p: str, o: str, *, loop: bool) -> None:
        if loop:
            known = self._loops.setdefault(p, set())
            self._sizes[p] += s not in known
            known.add(s)
        else:
            pairs = self._pairs.setdefault(p, set())
            self._sizes[p] += (s, o) not in pairs
            pairs.add((s, o))

    def _fire(self, rule: Rule) -> bool:
        """Do what a rule does; whether that is more than to repeat its premises."""
        premises = sorted(_asked(rule), key=lambda pattern: isinstance(pattern.p, Var))
        own = [premise.pattern for premise in rule.premises]
        known: dict[frozenset[tuple[Var, Node]], list[Pattern]] = {}
        useful = False
        for values, same in list(self._matches(premises, {}, {})):
            if (key := frozenset(same.items())) not in known:
                given = {filled(pattern, same) for pattern in own}
                known[key] = [head for head in rule.conclusions if filled(head, same) not in given]
            if not (news := known[key]):
                continue
            for way in self._completed(rule, values, same):
                useful = True
                for head in news:
                    self._conclude(head, way, same)
        return useful

    def _conclude(self, head: Pattern, way: dict[Node, str], same: dict[Var, Node]) -> None:
        s, p, o = (node_of(node, same) for node in head)
        ends = (way[node] if isinstance(node, Var) else self._seen(node) for node in (s, p, o))
        self._add(*ends, loop=s == o)

    def _matches(
        self, premises: Sequence[Pattern], values: dict[Node, str], same: dict[Var, Node]
    ) -> Iterator[tuple[dict[Node, str], dict[Var, Node]]]:
        """The ways to match patterns: what variables are, and which are the same one."""
        if not premises:
            yield values, same
            return
        first, rest = premises[0], premises[1:]
        s, p, o = (node_of(node, same) for node in first)
        known = p if isinstance(p, str) else values.get(p)
        wanted = [known] if known is not None else list({*self._pairs, *self._loops})
        for predicate in wanted:
            given = _bound([(p, predicate)], values)
            if given is None:
                continue
            self._tries += len(self._pairs.get(predicate, ())) + len(self._loops.get(predicate, ()))
            if self._tries > MOST_TRIES:
                raise _TooDenseError
            for left, right in list(self._pairs.get(predicate, ())):
                found = _bound([(s, left), (o, right)], given)
                if found is not None and (s != o or left == right):
                    yield from self._matches(rest, found, same)
            for end in list(self._loops.get(predicate, ())):
                found = _bound([(s, end), (o, end)], given)
                if found is not None:
                    yield from self._matches(rest, found, _joined(s, o, same))

    def _completed(
        self, rule: Rule, values: dict[Node, str], same: dict[Var, Node]
    ) -> Iterator[dict[Node, str]]:
        """The match with values for what conditions and lists give; none if a condition cannot hold."""
        used = frozenset[Var]().union(*(head.variables() for head in rule.conclusions))
        free = {v: self._terms() for each in rule.lists for v in variables(each) & used}
        for condition in rule.conditions:
            if isinstance(condition, Guard):
                if not _may_hold(condition, values, same):
                    return
            elif isinstance(condition, Mint):
                free[condition.target] = (SAMPLES[Kind.BLANK],)
            elif condition.text:
                free[condition.target] = self._terms()
            else:
                free[condition.target] = tuple(self._results(condition, values, same))
        left = {v: each for v, each in free.items() if node_of(v, same) not in values}
        for chosen in product(*left.values()):
            yield {**values, **dict(zip(left, chosen, strict=True))}

    def _results(self, bind: Bind, values: dict[Node, str], same: dict[Var, Node]) -> Iterator[str]:
        """What a function may give, for samples: nothing if it gives nothing for terms of that kind."""
        known = [term for term in _terms(bind.args, values, same) if term is not None]
        found = result_of(bind.name, "", (), tuple(known)) if len(known) == len(bind.args) else None
        is_sure = len(known) == len(bind.args) and not ANY.intersection(known)
        if is_sure or bind.name == "same":
            yield from () if found is None else (self._seen(found),)
        elif found is not None or bind.name not in ("isDLiteral", "datatype", "simplerSpelling"):
            samples = (SAMPLES[Kind.IRI],) if bind.name in _GIVES_IRIS else ANY
            yield from samples
            yield from (term for term in self._named if may_give(bind.name, term))

    def _terms(self) -> tuple[str, ...]:
        """All that occurs."""
        ends = {end for pairs in self._pairs.values() for pair in pairs for end in pair}
        return tuple(ends.union(*self._loops.values(), self._pairs, self._loops))


def _asked(rule: Rule) -> Iterator[Pattern]:
    """What must be there for a rule to fire. Of a list, only that there is a member, if one is asked for."""
    yield from (premise.pattern for premise in rule.premises)
    for number, each in enumerate(rule.lists):
        if isinstance(each, Member | Pair):
            members = (each.item,) if isinstance(each, Member) else (each.first, each.second)
            yield from (Pattern(Var(f"_:list{number}.{n}"), FIRST, item) for n, item in enumerate(members))


def _predicates(rule: Rule) -> frozenset[str] | None:
    """What a rule asks about; None: about anything, or it takes terms from anywhere."""
    if rule.lists or any(isinstance(each, Bind) for each in rule.conditions):
        return None
    found = {premise.pattern.p for premise in rule.premises}
    return None if any(isinstance(p, Var) for p in found) else frozenset(map(str, found))


def _is_ill_typed(term: str) -> bool:
    own = result_of("datatype", "", (), (term,))
    return own is not None and holds("notInValueSpace", "", (), (term, own))


def _bound(pairs: Iterable[tuple[Node, str]], values: dict[Node, str]) -> dict[Node, str] | None:
    """Values with some more; None if a node would have two."""
    found = values
    for node, term in pairs:
        if isinstance(node, str):
            if node != term:
                return None
        elif node not in found:
            found = {**found, node: term}
        elif found[node] != term:
            return None
    return found


def _joined(one: Node, other: Node, same: dict[Var, Node]) -> dict[Var, Node]:
    """With two nodes that are the same from now on."""
    if one == other:
        return same
    gone, stays = (one, other) if isinstance(one, Var) else (other, one)
    if not isinstance(gone, Var):
        return same
    renamed = {v: stays if node == gone else node for v, node in same.items()}
    return {**renamed, gone: stays}


def _terms(args: Iterable[Node], values: dict[Node, str], same: dict[Var, Node]) -> list[str | None]:
    nodes = (node_of(arg, same) for arg in args)
    return [values.get(node) if isinstance(node, Var) else node for node in nodes]


def _may_hold(guard: Guard, values: dict[Node, str], same: dict[Var, Node]) -> bool:
    """Whether a test may hold: where a sample cannot tell, it may."""
    nodes = [node_of(arg, same) for arg in guard.args]
    if guard.name == "notEqual":
        return nodes[0] != nodes[1]
    known = [term for term in _terms(guard.args, values, same) if term is not None]
    if len(known) < len(nodes) or guard.text:
        return True
    is_sure = guard.name in _BY_KIND or not ANY.intersection(known)
    return holds(guard.name, "", (), tuple(known)) if is_sure else True
