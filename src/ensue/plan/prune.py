"""Prune: rules do for the streams only what answers rest on (seed: QSMat).

A rule that nobody needs is kept for the background, whose closure the others are grounded in: all its
premises are cut. So are those premises of the others that are taken to match background alone. What is
assumed for that is what `relevance` assumes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ensue.plan.backward import Needs
from ensue.plan.cuts import Cuts
from ensue.plan.heads import Head
from ensue.rules.tree import Rule, RuleSet


def prune(rules: RuleSet, cuts: Cuts, needs: Needs) -> RuleSet:
    """The rules with more premises cut: answers that rest on what is needed stay the same.

    >>> from ensue.plan.backward import Need, close
    >>> from ensue.rules.load import load_rules
    >>> rules = load_rules("rdfs-jena")
    >>> below = ("<urn:by>", "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>", "<urn:involves>")
    >>> cuts = Cuts(rules, [below])
    >>> pruned = prune(rules, cuts, close(cuts, [Need((None, "<urn:involves>", None))]))
    >>> [rule.name for rule in pruned.rules if not all(premise.cut for premise in rule.premises)]
    ['rdfs6']
    """
    every = iter(cuts.index.every)
    heads = ([next(every) for _ in rule.conclusions] for rule in rules.rules)
    pruned = (
        _pruned(rule, needs.heads.intersection(of), cuts) for rule, of in zip(rules.rules, heads, strict=True)
    )
    return replace(rules, rules=tuple(pruned))


def _pruned(rule: Rule, needed: Iterable[Head], cuts: Cuts) -> Rule:
    # Of several conclusions each may have cuts of its own: cut is what all have. Of none, everything.
    cut = set(range(len(rule.premises)))
    for head in needed:
        cut &= {each.at for each in cuts.inferred(head)}
    premises = (replace(premise, cut=premise.cut or at in cut) for at, premise in enumerate(rule.premises))
    return replace(rule, premises=tuple(premises))
