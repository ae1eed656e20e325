"""A proof checked without the search that found it: step by step, or by what its leaves alone entail.

`replay` goes from the leaves up. Each step is handed to the rule of that name, as it is in its file, with
the premises of this step and nothing else; a rule over lists has to read its lists from them. `entailed`
closes the leaves from scratch under all rules, and so knows nothing of the proof's steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ensue.dictionary import Dictionary
from ensue.errors import EnsueError
from ensue.maintain.oracle import closure
from ensue.maintain.program import UNBOUND, compile_rules, conclude, match
from ensue.model import BACKGROUND, FOREVER, NEVER, Copies, Triple
from ensue.plan.known import Closed, Known
from ensue.plan.rdflists import SHAPES, Lists
from ensue.plan.unfold import has_lists, unfold_and_close
from ensue.proof.lists import instances
from ensue.proof.proof import Proof, Statement, leaves, steps
from ensue.rules.tree import Rule, RuleSet

Says = Callable[[Proof], bool]
"""Whether a leaf is what its source states, at its stamp."""


class ProofError(EnsueError):
    """A proof that does not prove what it says."""


def replay(proof: Proof, rules: RuleSet, says: Says | None = None) -> None:
    """Raise ProofError unless every step of a proof is one of the rules', and its stamp is right.

    `says` is asked of each leaf that is no axiom; without it leaves are believed.

    >>> from ensue.rules.load import load_rules
    >>> isin, rules = "<http://example.org/isIn>", load_rules("transitive-isin")
    >>> one = Proof(("<urn:a>", isin, "<urn:b>"), 10, source="urn:s")
    >>> other = Proof(("<urn:b>", isin, "<urn:c>"), 20, source="urn:s")
    >>> replay(Proof(("<urn:a>", isin, "<urn:c>"), 10, rules.rules[0].name, (one, other)), rules)
    >>> replay(Proof(("<urn:a>", isin, "<urn:c>"), 20, rules.rules[0].name, (one, other)), rules)
    Traceback (most recent call last):
    ensue.proof.replay.ProofError: <urn:a> ... <urn:c>: its stamp is 20, but its premises' is 10 ...
    """
    axioms = {tuple(map(str, axiom)) for axiom in rules.axioms}
    named: dict[str, list[Rule]] = {}
    for rule in rules.rules:
        named.setdefault(rule.name, []).append(rule)
    for step in steps(proof):
        if step.rule is None:
            _check_leaf(step, axioms, rules.name, says)
        else:
            _check_step(step, named.get(step.rule, []))


def _check_leaf(leaf: Proof, axioms: set[tuple[str, ...]], regime: str, says: Says | None) -> None:
    if leaf.premises or leaf.source is None:
        raise _wrong(leaf, "it has premises or no source, and no rule")
    if leaf.source == regime and leaf.fact in axioms:
        if leaf.stamp != FOREVER:
            raise _wrong(leaf, "an axiom holds for ever")
    elif says is not None and not says(leaf):
        raise _wrong(leaf, f"{leaf.source} does not state it at {leaf.stamp}")


def _check_step(step: Proof, rules: list[Rule]) -> None:
    if step.source is not None:
        raise _wrong(step, "it has both a rule and a source")
    least = min((premise.stamp for premise in step.premises), default=FOREVER)
    if step.stamp != least:
        raise _wrong(step, f"its stamp is {step.stamp}, but its premises' is {least}")
    if not any(_concludes(rule, step) for rule in rules):
        what = f"the rule '{step.rule}' does not conclude it from these premises" if rules else "no such rule"
        raise _wrong(step, what)


def _wrong(step: Proof, what: str) -> ProofError:
    s, p, o = step.fact
    return ProofError(f"{s} {p} {o}: {what}", hint="the proof was not made by these rules, or was changed")


def _concludes(rule: Rule, step: Proof) -> bool:
    """Whether a rule concludes a fact from the premises of a step, each meeting the one in its place."""
    plain = _unfolded(rule, step.premises) if rule.lists else [rule]
    return any(step.fact in _conclusions(each, step.premises) for each in plain)


def _unfolded(rule: Rule, premises: Iterable[Proof]) -> Iterable[Rule]:
    """A rule over the lists that some facts of the background make."""
    background = Closed.of(premise.fact for premise in premises if premise.stamp == FOREVER)
    return instances(rule, Known(background, []), Lists(background.having(SHAPES)))


def _conclusions(rule: Rule, premises: Sequence[Proof]) -> list[Statement]:
    """What a plain rule concludes from its premises."""
    dictionary = Dictionary()
    [compiled] = compile_rules(RuleSet("step", (rule,)), dictionary).rules
    binding = [UNBOUND] * compiled.variables
    if len(premises) != len(compiled.premises):
        return []
    for pattern, cut, premise in zip(compiled.premises, compiled.cut, premises, strict=True):
        if cut and premise.stamp != FOREVER:
            return []
        if not match(pattern, map(dictionary.encode, premise.fact), binding):
            return []
    found = conclude(compiled, binding, dictionary)
    return [_text(triple, dictionary) for triple in found]


def _text(triple: Triple, dictionary: Dictionary) -> Statement:
    s, p, o = map(dictionary.decode, triple)
    return s, p, o


def entailed(proof: Proof, rules: RuleSet) -> int | None:
    """The stamp that the fact of a proof has if nothing but its leaves is stated; None if it does not hold.

    >>> from ensue.rules.load import parse_rules
    >>> leaf = Proof(("<urn:a>", "<urn:p>", "<urn:b>"), 10, source="urn:s")
    >>> rules = parse_rules("[back: (?x <urn:p> ?y) -> (?y <urn:p> ?x)]")
    >>> entailed(Proof(("<urn:b>", "<urn:p>", "<urn:a>"), 10, "back", (leaf,)), rules)
    10
    """
    stated = [(leaf.fact, leaf.stamp) for leaf in leaves(proof)]
    lasting = [fact for fact, stamp in stated if stamp == FOREVER]
    plain = unfold_and_close(rules, lasting)[0] if has_lists(rules) else rules
    dictionary = Dictionary()
    program, copies = compile_rules(plain, dictionary), Copies()
    for fact, stamp in stated:
        context = BACKGROUND if stamp == FOREVER else BACKGROUND + 1
        s, p, o = map(dictionary.encode, fact)
        copies.append(context, s, p, o, stamp)
    for (_, *triple), stamp in closure(program, dictionary, [copies], NEVER).items():
        if tuple(map(dictionary.decode, triple)) == proof.fact:
            return stamp
    return None
