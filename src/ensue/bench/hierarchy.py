"""A class-and-property hierarchy: the workload that a rule engine meets most, at any size.

A tree of classes, properties with super-properties, and a domain and a range each; the stream links
individuals, which so get super-property links and types all the way up. The rules are the four of
RDFS that need it, with schema premises cut, so each is linear.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from ensue.bench.feed import Ids, encode
from ensue.bench.ontology import DOMAIN, RANGE, SUB_CLASS, SUB_PROPERTY, TYPE, Statement
from ensue.dictionary import Dictionary
from ensue.rules.tree import Pattern, Premise, Rule, RuleSet, Var

NEARBY = 8
"""A link is between individuals that are new within so many statements of each other."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """How deep and wide the class tree is, and how many properties there are."""

    depth: int = 6
    fanout: int = 3
    properties: int = 50
    seed: int = 1

    def schema(self) -> list[Statement]:
        """The classes and properties, as background knowledge.

        >>> len(Hierarchy(depth=2, fanout=2, properties=3).schema())
        14
        """
        rng = random.Random(self.seed)
        classes = sum(self.fanout**level for level in range(self.depth + 1))
        leaves = range(classes - self.fanout**self.depth, classes)
        tree = [(_class(k), SUB_CLASS, _class((k - 1) // self.fanout)) for k in range(1, classes)]
        supers = [(_property(k), SUB_PROPERTY, _property((k - 1) // 2)) for k in range(1, self.properties)]
        ends = [
            (_property(k), end, _class(rng.choice(leaves)))
            for k in range(self.properties)
            for end in (DOMAIN, RANGE)
        ]
        return tree + supers + ends


def hierarchy_rules() -> RuleSet:
    """rdfs2, 3, 7 and 9 with cut schema premises.

    >>> print(hierarchy_rules().rules[0].name, len(hierarchy_rules().rules))
    rdfs2 4
    """
    p, q, x, y, c, d = (Var(name) for name in "pqxycd")
    link, typed = Premise(Pattern(x, p, y)), Premise(Pattern(x, TYPE, c))

    def cut(s: Var, predicate: str, o: Var) -> Premise:
        return Premise(Pattern(s, predicate, o), cut=True)

    return RuleSet(
        "hierarchy",
        (
            Rule("rdfs2", (cut(p, DOMAIN, c), link), (Pattern(x, TYPE, c),)),
            Rule("rdfs3", (cut(p, RANGE, c), link), (Pattern(y, TYPE, c),)),
            Rule("rdfs7", (cut(p, SUB_PROPERTY, q), link), (Pattern(x, q, y),)),
            Rule("rdfs9", (cut(c, SUB_CLASS, d), typed), (Pattern(x, TYPE, d),)),
        ),
    )


def links(
    hierarchy: Hierarchy, n: int, dictionary: Dictionary, *, prefix: str = "i", shared: Ids | None = None
) -> Ids:
    """`n` distinct links between individuals that are close to each other in the stream.

    Of `shared` (links made before) the subjects stand as every tenth object: so the stream speaks
    of what the background knows. The same arguments give the same links at any place of a stream.

    >>> rows = links(Hierarchy(), 100, Dictionary())
    >>> len(np.unique(rows, axis=0)), len(rows)
    (100, 100)
    """
    rng = np.random.default_rng(hierarchy.seed)
    names = encode(
        [(f"<http://example.org/{prefix}/{k}>", _property(0), _property(0)) for k in range(n + NEARBY)],
        dictionary,
    )[:, 0]
    properties = encode([(_property(k),) * 3 for k in range(hierarchy.properties)], dictionary)[:, 0]
    rows = np.empty((n, 3), np.int32)
    # Row k's subject is individual k, so that no two rows are the same.
    rows[:, 0] = names[:n]
    rows[:, 1] = properties[rng.integers(hierarchy.properties, size=n)]
    rows[:, 2] = names[np.arange(n) + rng.integers(NEARBY, size=n)]
    if shared is not None:
        rows[::10, 2] = shared[rng.integers(len(shared), size=len(rows[::10])), 0]
    return rows


def _class(k: int) -> str:
    return f"<http://example.org/class/{k}>"


def _property(k: int) -> str:
    return f"<http://example.org/property/{k}>"
