"""Explains facts and answers in the scenes of queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ensue.errors import UsageError
from ensue.model import FOREVER, Triple
from ensue.proof.answer import Placed, Way, ways
from ensue.proof.explanation import Explanation, Gone, NotHeldError
from ensue.proof.memory import Moment
from ensue.proof.proof import Proof, Statement, leaves, size
from ensue.proof.scene import Scene, Scenes
from ensue.proof.search import LIMIT, Found, prove
from ensue.query.answers import Row
from ensue.query.running import RunningQuery
from ensue.query.tree import Form


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains what queries saw."""

    scenes: Scenes
    limit: int = LIMIT

    def fact(
        self, statement: Statement, queries: Iterable[RunningQuery], at: int | None = None
    ) -> Explanation:
        """Why a statement holds: in the first of the queries that it holds for, or in the background."""
        asked = list(queries)
        near: list[Statement] = []
        for running in asked:
            for scene in self.scenes.of(running, self.scenes.moment(running, at)):
                found = self._fact_in(scene, statement)
                if found is not None:
                    return found
                near += [each for held in scene.graphs.values() for each in held.near(statement)]
        if not asked:
            background = self.scenes.background()
            triple = background.find(statement)
            if triple is not None:
                found_there = prove(background, triple, limit=self.limit)
                return Explanation(
                    _line(statement), (found_there.proof,), None, smallest=found_there.smallest
                )
            near += background.near(statement)
        raise _not_held(_line(statement), near)

    def _fact_in(self, scene: Scene, statement: Statement) -> Explanation | None:
        there = [(name, held.find(statement)) for name, held in scene.graphs.items()]
        found: list[Way] = [([(name, triple)], ()) for name, triple in there if triple is not None]
        return self._explained(scene, _line(statement), found) if found else None

    def answer(self, running: RunningQuery, row: Row, at: int | None = None) -> Explanation:
        """Why a row is an answer of a query: SELECT's values, CONSTRUCT's triple, or () for ASK."""
        return self._answer_then(running, row, self.scenes.moment(running, at))

    def left(self, running: RunningQuery, row: Row) -> Explanation:
        """Why a row was an answer of a query the last time but one, and what is gone of that since."""
        before, now = self.scenes.moment(running, back=1), self.scenes.moment(running)
        scenes = self.scenes.of(running, now)
        if any(ways(running, scene, row) for scene in scenes):
            what = f"{_row_text(running, row)} is still an answer of the query '{running.name}'"
            raise UsageError(what, hint="ask why it is one")
        found = self._answer_then(running, row, before)
        gone = tuple(_gone(found, scenes))
        more = () if gone else ("all that it rested on is still there: something else took it away",)
        return replace(found, gone=gone, notes=(*found.notes, *more))

    def _answer_then(self, running: RunningQuery, row: Row, moment: Moment | None) -> Explanation:
        for scene in self.scenes.of(running, moment):
            found = ways(running, scene, row)
            if found:
                return self._explained(scene, _row_text(running, row), found)
        raise _not_held(f"{_row_text(running, row)} of the query '{running.name}'", [])

    def _explained(self, scene: Scene, about: str, found_ways: Sequence[Way]) -> Explanation:
        """The explanation by the way that holds longest; of several such, by the smallest."""
        freshest = max(_lasts(scene, facts) for facts, _ in found_ways)
        best: tuple[int, list[Found], Sequence[Placed], Sequence[str]] | None = None
        for facts, notes in found_ways:
            if _lasts(scene, facts) == freshest:
                found = [
                    prove(scene.graphs[graph], triple, at_least=least, limit=self.limit)
                    for (graph, triple), least in zip(facts, _leasts(scene, facts), strict=True)
                ]
                total = sum(size(each.proof) for each in found)
                if best is None or total < best[0]:
                    best = (total, found, facts, notes)
        assert best is not None
        _, found, facts, notes = best
        return Explanation(
            about,
            tuple(each.proof for each in found),
            _until(scene, facts),
            scene.running.name,
            scene.window,
            tuple(graph for graph, _ in facts),
            scene.partition,
            scene.offsets,
            all(each.smallest for each in found),
            tuple(dict.fromkeys([*notes, *_unsure(scene, facts)])),
        )


def _stamp(scene: Scene, graph: str | None, triple: Triple) -> int:
    stamp = scene.graphs[graph].stamp(triple)
    assert stamp is not None
    return stamp


def _leasts(scene: Scene, facts: Sequence[Placed]) -> list[int]:
    """How fresh the proof of each fact has to be: as the oldest of those in its graph."""
    least: dict[str | None, int] = {}
    for graph, triple in facts:
        least[graph] = min(least.get(graph, FOREVER), _stamp(scene, graph, triple))
    return [least[graph] for graph, _ in facts]


def _until(scene: Scene, facts: Sequence[Placed]) -> int | None:
    ends = [scene.until(graph, _stamp(scene, graph, triple)) for graph, triple in facts]
    return min((end for end in ends if end is not None), default=None)


def _unsure(scene: Scene, facts: Sequence[Placed]) -> Iterator[str]:
    for graph, triple in facts:
        reason = scene.unsure(graph, _stamp(scene, graph, triple))
        if reason is not None:
            yield f"until when it holds cannot be told: {reason}"


def _lasts(scene: Scene, facts: Sequence[Placed]) -> tuple[int, int]:
    """What makes one way better than another: until when it holds, and how fresh it is."""
    until = _until(scene, facts)
    stamps = (_stamp(scene, graph, triple) for graph, triple in facts)
    return FOREVER if until is None else until, min(stamps, default=FOREVER)


def _gone(found: Explanation, now: Sequence[Scene]) -> Iterator[Gone]:
    """The leaves that are stated no more, or only by an older copy."""
    for proof, graph in zip(found.proofs, found.graphs, strict=True):
        scenes = [scene for scene in now if scene.partition == found.partition]
        for leaf in leaves(proof):
            if leaf.stamp < FOREVER and not any(_states(scene, graph, leaf) for scene in scenes):
                is_old = any(leaf.stamp <= scene.thresholds[graph] for scene in now)
                yield Gone(leaf, "expired" if is_old else "retracted")


def _states(scene: Scene, graph: str | None, leaf: Proof) -> bool:
    """Whether a statement is there as fresh as it was."""
    held = scene.graphs[graph]
    if any(term not in held.dictionary for term in leaf.fact):
        return False
    s, p, o = map(held.dictionary.encode, leaf.fact)
    stated = held.statement((s, p, o))
    return stated is not None and stated.stamp >= leaf.stamp


def _line(statement: Iterable[str]) -> str:
    return f"{' '.join(statement)} ."


def _row_text(running: RunningQuery, row: Row) -> str:
    if running.query.form is Form.SELECT:
        names = [str(name) for name in running.query.algebra.PV]
        values = [f"?{name} = {term}" for name, term in zip(names, row, strict=True) if term]
        return ", ".join(values) or "the answer without values"
    return _line(term or "" for term in row) if row else "yes"


def _not_held(what: str, near: Iterable[Statement]) -> NotHeldError:
    known = list(dict.fromkeys(map(_line, near)))[:3]
    hint = f"near it: {' '.join(known)}" if known else "nothing like it holds"
    return NotHeldError(f"{what} does not hold", hint=hint)
