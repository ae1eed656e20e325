"""Random cases in which every rule is linear: what `rewrite` takes.

Of a rule's live premises one is left, and the others match background alone, of which there is more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from ensue.rules.tree import Guard, Rule, RuleSet, Var

from .cases import Admit, Case, Statement, stays_small
from .rulegen import LINEAR

MORE_BACKGROUND = 6


def linear(case: Case) -> Case:
    """The case with linear rules, and background that their cut premises match now and then."""
    random = Random(f"linear {case.seed}")
    operations = (operation for step in case.steps for operation in step.operations)
    said = [c.statement for operation in operations if isinstance(operation, Admit) for c in operation.copies]
    background = (*case.background, *some_of(said, random))
    return replace(case, rules=linear_rules(case.rules, random), background=background)


def mixed(case: Case) -> Case:
    """The same with one rule as it was, which mostly joins: some of it is for `hybrid` to fold in."""
    made = linear(case)
    joining = replace(case.rules.rules[0], name="joining")
    candidate = replace(made, rules=replace(made.rules, rules=(*made.rules.rules, joining)))
    return candidate if stays_small(candidate) else made


def some_of(said: Sequence[Statement], random: Random) -> list[Statement]:
    """Some of what streams say, to be background."""
    return random.sample(said, min(len(said), random.randrange(MORE_BACKGROUND)))


def linear_rules(rules: RuleSet, random: Random) -> RuleSet:
    """Rules with one live premise each and without new terms, and some that were always so."""
    made = [_linear(rule, random) for rule in rules.rules]
    more = [replace(random.choice(LINEAR)(random), name=f"more{k}") for k in range(random.randrange(4))]
    return replace(rules, rules=tuple(r for r in (*made, *more) if r.conclusions and not _is_loose(r)))


def _is_loose(rule: Rule) -> bool:
    """Whether cut premises match any background at all, or any two: there are too many alternatives then."""
    cut = [premise.pattern for premise in rule.premises if premise.cut]
    return len(cut) > 1 or any(isinstance(pattern.p, Var) for pattern in cut)


def _linear(rule: Rule, random: Random) -> Rule:
    live = [at for at, premise in enumerate(rule.premises) if not premise.cut]
    stays = random.choice(live) if live else -1
    premises = tuple(replace(premise, cut=at != stays) for at, premise in enumerate(rule.premises))
    bound = {v for premise in premises for v in premise.pattern.variables()}
    return replace(
        rule,
        premises=premises,
        conditions=tuple(c for c in rule.conditions if isinstance(c, Guard)),
        conclusions=tuple(each for each in rule.conclusions if each.variables() <= bound),
    )
