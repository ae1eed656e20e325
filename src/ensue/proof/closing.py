"""From statements to what holds of them: closed from scratch, with all rules, whatever queries need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ensue.dictionary import Dictionary
from ensue.knowledge import Sent
from ensue.model import Copies, Triple
from ensue.proof.held import Ground, Held, Stated
from ensue.proof.proof import BACKGROUND, Statement
from ensue.query.background import Background
from ensue.query.materialise import CONTEXT
from ensue.rules.tree import RuleSet


class Brought(NamedTuple):
    """A copy of a statement, as a source brought it into a context."""

    source: str
    stamp: int
    triple: Triple
    context: int = CONTEXT


def ground(background: Background, dictionary: Dictionary, graphs: frozenset[str] = frozenset()) -> Ground:
    """The background and some graphs, closed."""
    stated = (
        (iri or BACKGROUND, (s, p, o))
        for iri, copies in reversed(background.stated(graphs))  # What both state, the background does.
        for s, p, o in zip(copies.s, copies.p, copies.o, strict=True)
    )
    return Ground(background.rules, dictionary, background.truth(graphs), stated)


def hold(
    background: Background, over: Ground, brought: Iterable[Brought], graphs: frozenset[str] = frozenset()
) -> Mapping[int, Held]:
    """What holds of copies over the background and some graphs: in each context by itself."""
    copies = Copies()
    stated: dict[int, dict[Triple, Stated]] = {}
    for source, stamp, (s, p, o), context in brought:
        copies.append(context, s, p, o, stamp)
        known = stated.setdefault(context, {})
        before = known.get((s, p, o))
        if before is None or stamp > before.stamp:
            known[s, p, o] = Stated(stamp, source)
        elif stamp == before.stamp and source not in before.source.split(OR):
            known[s, p, o] = Stated(stamp, before.source + OR + source)
    facts: dict[int, list[tuple[Triple, int]]] = {context: [] for context in stated}
    for context, s, p, o, stamp in background.truth(graphs, copies):
        facts[context].append(((s, p, o), stamp))
    return {context: Held(over, facts[context], stated[context]) for context in stated}


OR = " or "
"""Between sources that brought the same statement at the same time."""


def close_statements(
    rules: RuleSet,
    background: Iterable[Statement],
    timed: Iterable[tuple[str, int, Statement]] = (),
    dictionary: Dictionary | None = None,
) -> Held:
    """What holds of statements, and of others that streams bring at their times.

    >>> from ensue.proof.search import prove
    >>> from ensue.rules.load import load_rules
    >>> isin = "<http://example.org/isIn>"
    >>> there, here = ("<urn:b>", isin, "<urn:c>"), ("<urn:a>", isin, "<urn:b>")
    >>> held = close_statements(load_rules("transitive-isin"), [there], [("urn:s", 10, here)])
    >>> proof = prove(held, held.find(("<urn:a>", isin, "<urn:c>"))).proof
    >>> proof.stamp, [leaf.source for leaf in proof.premises]
    (10, ['urn:s', 'background'])
    """
    dictionary = dictionary or Dictionary()
    known = Background(rules, dictionary, Sent(tuple((*fact, None) for fact in background)), "auto")
    encode = dictionary.encode
    brought = [Brought(stream, time, (encode(s), encode(p), encode(o))) for stream, time, (s, p, o) in timed]
    over = ground(known, dictionary)
    return hold(known, over, brought).get(CONTEXT) or Held(over, (), {})
