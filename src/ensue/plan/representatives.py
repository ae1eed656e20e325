"""The background closed over representatives: its classes of equal terms are found as it is closed.

Under the axioms of equality a class of n terms with m statements each has n times n·m facts, and more where
both ends of a statement are in classes. Here the axioms are left out at first: the other rules are applied
to statements about representatives, the equalities among what follows make classes larger, and that goes on
until there are no new ones. The axioms are then needed only for what is in no class with its equals:
literals, nodes that rules made, and terms that a rule tells apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ensue.classes import Classes, Numbers, components
from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.maintain.represented import represented
from ensue.model import Copies, Facts
from ensue.plan.equality import Equality, equality_of, is_known, renamed
from ensue.plan.known import Closed, Statement, close_plainly, copies_of
from ensue.plan.report import Report, counted
from ensue.plan.schema import LINK
from ensue.plan.spanning import can_be_spanned, spanned
from ensue.plan.unfold import Unfolded, has_lists, unfold
from ensue.rules.tree import RuleSet
from ensue.terms import Kind

EQUALITIES = ("representatives", "plain")
"""How equality is treated: natively where that can be, or as rules like all others."""

Close = Callable[[RuleSet, Copies, Dictionary], Facts]
"""What follows from background under plain rules, with both in the numbers of a dictionary."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Rules without lists over representatives, and what there is to know of the background."""

    unfolded: Unfolded
    classes: Classes
    facts: Facts | None
    """The background closed, about representatives; None: it was not looked at."""
    report: Report | None
    """None: the rules do not have the axioms of equality."""


def settle(
    rules: RuleSet,
    stated: Copies,
    dictionary: Dictionary,
    close: Close,
    equality: str = EQUALITIES[0],
    *,
    links: bool = True,
) -> Settled:
    """Rules over lists unfolded, and representatives found, where rules are to have them.

    `links`: equalities of streams go along links, where that can be.

    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules('''[a: (?x <urn:same> ?y) -> (?y <urn:same> ?x)]
    ...     [b: (?x <urn:same> ?y), (?y <urn:same> ?z) -> (?x <urn:same> ?z)]
    ...     [c: (?s ?p ?o), (?s <urn:same> ?t) -> (?t ?p ?o)]
    ...     [d: (?s ?p ?o), (?o <urn:same> ?t) -> (?s ?p ?t)]
    ...     [e: (?s ?p ?o), (?p <urn:same> ?t) -> (?s ?t ?o)]
    ...     [key: (?x <urn:id> ?k), (?y <urn:id> ?k) -> (?x <urn:same> ?y)]''')
    >>> d = Dictionary()
    >>> a, b, key, one = map(d.encode, ("<urn:a>", "<urn:b>", "<urn:id>", "<urn:1>"))
    >>> found = settle(rules, Copies.background([(a, key, one), (b, key, one)]), d, close_plainly)
    >>> print(found.report.line, [d.decode(s) for _, s, _, _, _ in found.facts])
    2 terms in 1 class of equals, each kept once ['<urn:a>', '<urn:a>']
    """
    if equality not in EQUALITIES:
        raise UsageError(f"unknown equality '{equality}'", hint=f"one of {', '.join(EQUALITIES)}")
    found = equality_of(rules) if equality == EQUALITIES[0] else None
    if found is None or found.why_not is not None:
        report = None if found is None else Report("equality", f"by plain rules: {found.why_not}")
        settled = _Closing(stated, dictionary, close, None)
        unfolded = unfold(rules, settled.closed, settled.stated())
        return Settled(unfolded, Classes.none(), settled.facts, report)
    closing = _Closing(stated, dictionary, close, found)
    while True:
        before = closing.classes
        over = renamed(rules, closing.names())
        unfolded = unfold(over, closing.closed, closing.stated())
        if not has_lists(rules):
            closing.closed(over)
        if closing.classes.is_like(before):
            found_now = Settled(unfolded, before, closing.facts, closing.report())
            return closing.linked(found_now) if links else found_now


def settle_and_close(
    rules: RuleSet, statements: Iterable[Statement], equality: str = EQUALITIES[0]
) -> tuple[RuleSet, Closed]:
    """The rules as plain ones over some statements, and these with all that follows from them."""
    # One for all rounds: a node that a rule made is another one by the same name elsewhere.
    dictionary = Dictionary()
    stated = copies_of(statements, dictionary)
    found = settle(rules, stated, dictionary, close_plainly, equality, links=False)
    facts = found.facts
    if facts is None:
        facts = close_plainly(found.unfolded.rules, stated, dictionary)
    return found.unfolded.rules, Closed(dictionary, facts.s, facts.p, facts.o, found.classes)


class _Closing:
    """Closes the background, and remembers the classes that were found so far."""

    def __init__(
        self, stated: Copies, dictionary: Dictionary, close: Close, equality: Equality | None
    ) -> None:
        self._stated = stated
        self._dictionary = dictionary
        self._close = close
        self._equality = equality
        self._named: frozenset[str] = frozenset()
        self._links: Numbers = np.empty((0, 2), np.int64)
        """Terms and another one that each is equal to, whether or not they can be in a class."""
        self.classes = Classes.none()
        self.facts: Facts | None = None

    def stated(self) -> Closed:
        """What is stated, as far as is known by now about representatives."""
        over = self.classes.over_copies(self._stated)
        return Closed(self._dictionary, over.s, over.p, over.o, self.classes)

    def closed(self, rules: RuleSet) -> Closed:
        """What follows from what is stated."""
        if self._equality is None:
            self.facts = self._close(rules, self._stated, self._dictionary)
        else:
            self.facts = self._over_classes(rules, self._equality)
        return Closed(self._dictionary, self.facts.s, self.facts.p, self.facts.o, self.classes)

    def names(self) -> dict[str, str]:
        """Which terms have another one for a representative, in text."""
        decode = self._dictionary.decode
        found = self.classes.pairs()
        return {decode(one): decode(other) for one, other in found.tolist() if one != other}

    def report(self) -> Report:
        """What was found."""
        members = len(self.classes.listed)
        if not members:
            return Report("equality", "no two terms of the background are equal")
        classes = counted(len(self.classes), "class").replace("classs", "classes")
        largest = int(self.classes.size.max())
        details = (f"the largest class has {largest:,} members",)
        return Report("equality", f"{members:,} terms in {classes} of equals, each kept once", details)

    def linked(self, found: Settled) -> Settled:
        """The same with links for what streams bring."""
        rules = found.unfolded.rules
        equality = equality_of(rules)
        if equality is None or found.facts is None or not can_be_spanned(rules, equality):
            return found
        over = spanned(rules, equality)
        same, link = self._dictionary.pin_terms([equality.predicate, LINK])
        classes, facts = found.classes.linking(same, link), found.facts
        if len(self._equal(facts)):  # Those that are in no class are linked in the background already.
            names = represented(self._dictionary, classes)
            facts = self._close(over, classes.over_copies(self._stated), names)
        return replace(found, unfolded=replace(found.unfolded, rules=over), classes=classes, facts=facts)

    def _over_classes(self, rules: RuleSet, equality: Equality) -> Facts:
        """Round by round: first without the axioms, then with them if terms are left that need them."""
        self._named |= _terms_of(rules)
        self._merge(self._equal(self._stated), equality)
        axioms = equality_of(rules)
        chosen = replace(rules, rules=tuple(r for r in rules.rules if not axioms or r not in axioms.axioms))
        while True:
            names, over = self.names(), self.classes.over_copies(self._stated)
            facts = self._close(renamed(chosen, names), over, represented(self._dictionary, self.classes))
            equal = self._equal(facts)
            if self._merge(equal, equality):
                continue
            if chosen is rules or not len(equal):
                return facts
            chosen = rules

    def _equal(self, of: Copies | Facts) -> Numbers:
        """The pairs of terms that are said to be equal, and are not the same."""
        assert self._equality
        s, p, o = (np.asarray(column, np.int64) for column in (of.s, of.p, of.o))
        same = self.classes.over(np.array([self._dictionary.pin(self._equality.predicate)]))
        which = (self.classes.over(p) == same[0]) & (s != o)
        return np.stack([s[which], o[which]], axis=1)

    def _merge(self, pairs: Numbers, equality: Equality) -> bool:
        """Take pairs of equal terms in; whether classes are other ones then."""
        if not len(pairs):
            return False
        links = np.concatenate([self._links, pairs])
        labels = components(int(links.max()) + 1, links[:, 0], links[:, 1])
        inside = np.unique(links)
        self._links = np.stack([inside, labels[inside]], axis=1)
        kinds = np.frombuffer(self._dictionary.kinds, np.uint8)[inside]
        minted = np.frombuffer(self._dictionary.depths, np.uint8)[inside] > 0
        apart = np.isin(inside, self._dictionary.pin_terms(sorted(equality.apart)))
        known = np.array([is_known(self._dictionary.decode(number)) for number in inside.tolist()], np.bool_)
        fit = (kinds <= Kind.BLANK) & ~minted & ~apart & ~known
        groups = labels[inside] * 2 + (kinds == Kind.BLANK) * equality.kinds
        _, first, group = np.unique(groups[fit], return_index=True, return_inverse=True)
        members = inside[fit]
        classes = Classes.of(np.stack([members, members[first][group]], axis=1), self._first)
        changed = not classes.is_like(self.classes)
        self.classes = classes
        return changed

    def _first(self, members: Sequence[int]) -> int:
        """Who stands for some terms: an IRI, and one that rules name, if there is one."""

        def order(number: int) -> tuple[int, bool, str]:
            term = self._dictionary.decode(number)
            return self._dictionary.kinds[number], term not in self._named, term

        return min(members, key=order)


def _terms_of(rules: RuleSet) -> frozenset[str]:
    """The terms that rules name in their patterns."""
    every = [
        p for rule in rules.rules for p in (*(each.pattern for each in rule.premises), *rule.conclusions)
    ]
    return frozenset(node for pattern in (*every, *rules.axioms) for node in pattern if isinstance(node, str))
