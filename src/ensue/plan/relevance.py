"""Relevance: which statements of streams can matter to an answer.

A statement matters if an answer can rest on it, by itself or through what rules make of it. Everything else
can be dropped before it costs anything, as long as the streams bring none of what was *assumed* away.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from ensue.plan import backward
from ensue.plan.asked import AsksForEverything, patterns, template
from ensue.plan.backward import Need
from ensue.plan.cuts import Cuts, goal_of
from ensue.plan.known import Statement
from ensue.plan.prune import prune
from ensue.plan.shapes import ANY, Shape, overlap, shape_of, show
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

    def describe(self) -> list[str]:
        """What is dropped and what is assumed, in lines for people."""
        streams = ", ".join(f"<{stream}>" for stream in self.streams) or "no stream"
        if self.everything_because is not None:
            return [f"no statement of {streams} is dropped: {self.everything_because}"]
        lines = [f"statements of {streams} are dropped unless they match {_some(self.patterns)}"]
        if self.assumed:
            lines.append(f"assumed: no stream brings a statement that matches {_some(self.assumed)}")
        return lines


def _some(shapes: Sequence[Shape], most: int = 4) -> str:
    listed = ", ".join(map(show, shapes[:most]))
    rest = f" and {len(shapes) - most} more" if len(shapes) > most else ""
    return f"one of {len(shapes)} patterns: {listed}{rest}" if len(shapes) != 1 else listed


def find(
    queries: Iterable[ContinuousQuery], rules: RuleSet, background: Iterable[Statement]
) -> tuple[Relevance, RuleSet]:
    """What the queries of a job need of its streams, and the rules for what these need of them.

    `background` is closed under the rules, with all that follows (`ensue.plan.known.close`), and holds
    the graphs of every FROM besides: more background only makes more statements matter. For one
    stream alone, give the queries that read it, and those that construct streams.

    >>> from ensue.plan.known import close
    >>> from ensue.query.language import parse_query
    >>> from ensue.rules.load import load_rules
    >>> rules = load_rules("rdfs-jena")
    >>> below = ("<urn:Cat>", "<http://www.w3.org/2000/01/rdf-schema#subClassOf>", "<urn:Animal>")
    >>> query = parse_query("ASK FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:eats> <urn:fish> }")
    >>> find([query], rules, close(rules, [below]))[0].describe()[0]
    'statements of <urn:s> are dropped unless they match (* <urn:eats> <urn:fish>)'
    """
    every = list(queries)
    made = constructed(every)
    streams = dict.fromkeys(on.stream for query in every for on in query.streams if on.stream not in made)
    asked: list[Need] = []
    for query in every:
        try:
            asked += (Need(shape_of(pattern)) for pattern in patterns(query, made))
        except AsksForEverything as reason:
            return Relevance((ANY,), (), f"query {query.name}: {reason}", tuple(streams)), rules
    cuts = Cuts(rules, background)
    needs = backward.close(cuts, asked)
    shapes = needs.by_key[None].widest() if asked else ()
    if ANY in shapes:
        why = "a pattern of three variables matches every statement, in a query or in a rule that it needs"
        return Relevance((ANY,), (), why, tuple(streams)), rules
    assumed = cuts.assumed_by(map(goal_of, needs.cuts))
    if why_not := _made_here(every, assumed):
        return Relevance((ANY,), (), why_not, tuple(streams)), rules
    found = Relevance(shapes, assumed, None, tuple(streams))
    return found, rules if _reads_more(every, made) else prune(rules, cuts, needs)


def _reads_more(queries: Sequence[ContinuousQuery], made: Container[str]) -> bool:
    """Whether rules apply to more than background and streams from outside.

    To what queries construct, and to what named graphs hold: what these need was not looked for.
    """
    return any(query.named_graphs or any(on.stream in made for on in query.streams) for query in queries)


def _made_here(queries: Sequence[ContinuousQuery], assumed: Sequence[Shape]) -> str | None:
    """Whether a query makes what was assumed away, for another one that reads streams from outside too."""
    made = constructed(queries)
    mixed = [query for query in queries if any(on.stream not in made for on in query.streams)]
    for name in dict.fromkeys(on.stream for query in mixed for on in query.streams if on.stream in made):
        for pattern in template(made[name]):
            if any(overlap(shape_of(pattern), shape) for shape in assumed):
                return f"query {name} constructs {pattern}, which no stream was assumed to bring"
    return None
