"""Relevance: which statements of streams can matter to an answer.

A statement matters if an answer can rest on it, by itself or through what rules make of it. Everything else
can be dropped before it costs anything, as long as the streams bring none of what was *assumed* away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ensue.plan.asked import Fed, template
from ensue.plan.known import Closed
from ensue.plan.shapes import ANY, Shape, overlap, shape_of, some
from ensue.plan.specialise import specialise
from ensue.query.levels import constructed
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import RuleSet


@dataclass(frozen=True, slots=True)
class Relevance:
    """What a statement of a stream must match to matter to some answer."""

    patterns: tuple[Shape, ...]
    """A statement that has none of these shapes can be dropped."""
    assumed: tuple[Shape, ...]
    """The plan holds only as long as no stream brings a statement of one of these shapes."""
    everything_because: str | None
    """Why every statement matters; None: some do not."""
    streams: tuple[str, ...]
    """The streams whose statements this is about."""

    @property
    def everything(self) -> bool:
        """Whether no statement can be dropped."""
        return self.everything_because is not None

    def also(self, other: Relevance) -> Relevance:
        """What matters here or there: for a background that changes."""
        if self.everything or other.everything:
            return self if self.everything else other
        patterns = tuple(dict.fromkeys((*self.patterns, *other.patterns)))
        return replace(self, patterns=patterns, assumed=tuple(dict.fromkeys((*self.assumed, *other.assumed))))

    def describe(self) -> list[str]:
        """What is dropped and what is assumed, in lines for people."""
        streams = ", ".join(f"<{stream}>" for stream in self.streams) or "no stream"
        if self.everything_because is not None:
            return [f"no statement of {streams} is dropped: {self.everything_because}"]
        lines = [f"statements of {streams} are dropped unless they match {some(self.patterns)}"]
        if self.assumed:
            lines.append(f"assumed: no stream brings a statement that matches {some(self.assumed)}")
        return lines


def find(queries: Iterable[ContinuousQuery], rules: RuleSet, background: Closed) -> Relevance:
    """What the queries of a job need of its streams.

    `background` is closed under the rules, with all that follows (`ensue.plan.known.close`), and holds
    the graphs of every FROM besides: more background only makes more statements matter. For one
    stream alone, give the queries that read it, and those that construct streams.

    >>> from ensue.plan.known import close
    >>> from ensue.query.language import parse_query
    >>> from ensue.rules.load import load_rules
    >>> rules = load_rules("rdfs-jena")
    >>> below = ("<urn:Cat>", "<http://www.w3.org/2000/01/rdf-schema#subClassOf>", "<urn:Animal>")
    >>> query = parse_query("ASK FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:eats> <urn:fish> }")
    >>> find([query], rules, close(rules, [below])).describe()[0]
    'statements of <urn:s> are dropped unless they match (* <urn:eats> <urn:fish>)'
    """
    every = list(queries)
    made = constructed(every)
    streams = tuple(
        dict.fromkeys(on.stream for query in every for on in query.streams if on.stream not in made)
    )
    found = specialise([(query, Fed.of(query, made)) for query in every], rules, background)
    everything = found.everything_because or _made_here(every, found.assumed)
    if everything is not None:
        return Relevance((ANY,), (), everything, streams)
    return Relevance(found.needed, found.assumed, None, streams)


def _made_here(queries: Sequence[ContinuousQuery], assumed: Sequence[Shape]) -> str | None:
    """Whether a query makes what was assumed away, for another one that reads streams from outside too."""
    made = constructed(queries)
    mixed = [query for query in queries if any(on.stream not in made for on in query.streams)]
    for name in dict.fromkeys(on.stream for query in mixed for on in query.streams if on.stream in made):
        for pattern in template(made[name]):
            if any(overlap(shape_of(pattern), shape) for shape in assumed):
                return f"query {name} constructs {pattern}, which no stream was assumed to bring"
    return None
