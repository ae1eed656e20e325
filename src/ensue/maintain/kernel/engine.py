"""The kernel as Python sees it: put facts, run the rules, expire, retract, read.

The compiled functions stop when an array is full; this module makes it larger and calls again. It
also finishes the rules that need Python (they mint nodes or evaluate SPARQL expressions): the
compiled code hands their solutions over, and what they conclude is put like any other fact. The
solutions of watched patterns are answers (`answers.py`).

Compiled code also returns every second or so (`PAUSE`), and where there are as many facts as the budget
allows. A failure in the middle of such work leaves a kernel that nobody can use any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from ensue.dictionary import Dictionary
from ensue.errors import BrokenError
from ensue.maintain.budget import no_memory, too_many_facts, too_many_rounds
from ensue.maintain.kernel import facts, join
from ensue.maintain.kernel.active import ActivePlans
from ensue.maintain.kernel.answers import AnswerTable, Watched
from ensue.maintain.kernel.blame import derived_by_rule
from ensue.maintain.kernel.columns import Columns
from ensue.maintain.kernel.conclude import conclude_all
from ensue.maintain.kernel.echoes import without_echoes
from ensue.maintain.kernel.epsilon import Epsilon, Table, install, make_epsilon, make_table
from ensue.maintain.kernel.folder import Folder
from ensue.maintain.kernel.growing import GROW
from ensue.maintain.kernel.layout import (
    ACTIVE_UNKNOWN,
    BORN,
    BORN_COUNT,
    CONTEXT,
    DEAD,
    DERIVATIONS,
    FULL,
    GONE_COUNT,
    GROUND,
    GROUND_FULL,
    LIVE,
    MOST,
    PARKED,
    PAUSE,
    PAUSE_AT,
    PROBES,
    ROOM_FULL,
    ROWS,
    SOLUTION_COUNT,
    SUSPECT_COUNT,
    TABLE_STALE,
    THRESHOLD,
    WANTED,
    WHOLE,
    Array,
    O,
    P,
    S,
    Store,
    bytes_of,
    fitted,
    grown,
    hang_from_now,
    new_store,
    set_room,
)
from ensue.maintain.kernel.needed import Needed, needed
from ensue.maintain.kernel.network import Network
from ensue.maintain.kernel.plans import PlanSet, make_plans
from ensue.maintain.kernel.view import address_of, book_of, correct
from ensue.maintain.program import CompiledRule, Program
from ensue.model import BACKGROUND, FOREVER, Change, Fact, Facts

_LARGE = 1 << 20
"""Scratch arrays longer than this are given back after the step."""

_GROUND_GROWTH = 2
"""How many times as much background there is expected to be with what follows from it."""

_BETWEEN_PAUSES = 1 << 23
"""Probes and derivations between two pauses: a second or two."""

_NOTHING = Columns.of([]).to_read()

Given = ParamSpec("Given")
R = TypeVar("R")


def _whole(work: Callable[Concatenate[Kernel, Given], R]) -> Callable[Concatenate[Kernel, Given], R]:
    """Work that is done to the end, or leaves a kernel that refuses to go on."""

    @wraps(work)
    def done(kernel: Kernel, /, *args: Given.args, **options: Given.kwargs) -> R:
        try:
            return work(kernel, *args, **options)
        except BaseException as failure:
            kernel._failure = kernel._failure or failure
            raise

    return done


class Kernel:
    """A closed store of timed facts over one program."""

    _arrays: Store
    _pages: Array
    _address: int
    _failure: BaseException | None = None
    """What went wrong in the middle of work."""

    def __init__(
        self,
        program: Program,
        dictionary: Dictionary,
        background: Columns,
        *,
        keep_all: bool = False,
        panes: bool = True,
        masks: Iterable[int] = (),
        only_answers: bool = False,
        table: bool = True,
        retracts: bool = True,
    ) -> None:
        """`only_answers`: nothing is ever read but the answers of watched patterns, and nothing retracted.

        `table`: linear rules are closed into the epsilon table. `retracts`: something may be retracted.
        """
        program = without_echoes(program)
        self._program: Program = program
        self._dictionary = dictionary
        self._watched = Watched(program, dictionary)
        self._keep_all = keep_all
        self._with_table = table
        self._removed_by_doubt = False
        self._needed: Needed | None = None
        self._kinds = bytearray()
        self._meter, self._budget = dictionary.meter, dictionary.meter.budget
        self._paused, self._allowance = -1, _BETWEEN_PAUSES
        axioms = Columns.of([(BACKGROUND, *axiom, FOREVER) for axiom in program.axioms])
        stated = np.stack([background.s, background.p, background.o], axis=1)
        planned = make_plans(program, stated, keep_all=keep_all, masks=masks, retracts=retracts)
        self._planned: PlanSet = planned
        self._tables = planned.tables
        self._plan_book = book_of(planned.tables)
        self._plans = address_of(self._plan_book)
        self._open(
            new_store(
                planned.masks,
                planned.variables,
                planned.steps,
                len(planned.tables.alphas),
                keep_all=keep_all,
                panes=panes,
                ground=_GROUND_GROWTH * len(background),
                rules=len(program.rules),
            )
        )
        self._limit()
        for mask in (*([WHOLE] if keep_all else []), *masks):
            self._store, _ = hang_from_now(self._store, 1 + planned.masks.index(mask), -1)
        self.put(axioms)
        self.put(background)
        ground = self._background()
        epsilon = self._linear(set())
        if only_answers:
            self._needed = needed(program, planned, epsilon.plans)
        if self._needed is not None:
            self._store = self._store._replace(wanted=self._needed.wanted)
        self._active = ActivePlans(self._tables, ground, epsilon.plans)
        self._store = install(self._store, epsilon, self._make_table(epsilon))
        self.begin_step()

    def copy(self) -> Kernel:
        """Another kernel with the same facts, which goes its own way from now on."""
        made = copy(self)
        kinds, arrays = self._store.kinds, (array.copy() for array in self._store)
        made._open(Store(*arrays)._replace(kinds=kinds))  # These are the dictionary's.
        made._watched, made._active = self._watched.copy(), self._active.copy()
        return made

    # -- a step ------------------------------------------------------------------------------

    @_whole
    def begin_step(self) -> None:
        """Start to count comings and goings afresh."""
        facts.begin_step(self._book)
        self._drop_scratch()

    @_whole
    def put(self, columns: Columns) -> None:
        """Let facts in and close under the rules."""
        rounds, terms = 0, len(self._dictionary)
        while len(columns):
            if len(self._dictionary) > terms:
                rounds, terms = rounds + 1, len(self._dictionary)
                if rounds > self._budget.max_rounds:
                    raise too_many_rounds(self._budget, self._derived())
            self._look_at_memory(len(columns))
            concluded = []
            arrays, at = columns.to_read(), 0
            while at < len(columns):
                at = self._put_some(arrays, at)
                if self._store.meta[SOLUTION_COUNT] > join.MANY:
                    concluded.append(self._conclude_solutions())
            self._run_compiled()
            columns = Columns.joined([*concluded, self._conclude_solutions()])

    @_whole
    def expire(self) -> None:
        """Remove what has a stamp at or below the threshold."""
        self._reserve_gone()
        self._complete(lambda: facts.expire(self._book, self._plans))
        self._watched.expire(self.threshold)

    @_whole
    def retract(self, doubted: Columns, stated: Callable[[Array], Array]) -> None:
        """Doubt facts that have these stamps, remove what rests on them, rederive what still holds.

        `stated` gives, for rows, the stamps up to which their facts are stated all the same. With
        equal stamps everywhere this is DRed; with real ones only what rests on a doubted derivation
        is touched, and what has a fresher one is not.
        """
        store = self._store
        store.meta[SUSPECT_COUNT] = 0
        self._doubt(doubted)
        suspects = self._store.suspects[: store.meta[SUSPECT_COUNT]].copy()
        self._reserve_gone()
        facts.remove_suspects(self._book, self._plans)
        self._removed_by_doubt = self._removed_by_doubt or len(suspects) > 0
        stamps = stated(suspects)
        still = np.nonzero(stamps > self.threshold)[0]
        rows = self._store.rows[suspects[still]]
        again = Columns(rows[:, CONTEXT], rows[:, S], rows[:, P], rows[:, O], stamps[still])
        self._from_start(lambda at: int(join.rederive(self._book, self._plans, at)), len(suspects))
        self.put(again)
        self._run()

    @property
    def threshold(self) -> int:
        """What is at or below it has expired."""
        return int(self._store.meta[THRESHOLD])

    @threshold.setter
    def threshold(self, threshold: int) -> None:
        self._store.meta[THRESHOLD] = threshold

    # -- reading -----------------------------------------------------------------------------

    @property
    def _store(self) -> Store:
        self._refuse_if_broken()
        return self._arrays

    @_store.setter
    def _store(self, store: Store) -> None:
        correct(self._pages, self._arrays, store)
        self._arrays = store

    def _open(self, store: Store) -> None:
        """Go on with arrays of one's own, in a book of one's own."""
        self._arrays = store
        self._pages = book_of(store)
        self._address = address_of(self._pages)

    @property
    def _book(self) -> int:
        self._refuse_if_broken()
        return self._address

    def _refuse_if_broken(self) -> None:
        if self._failure is not None:
            what = (
                f"facts were left half closed by a failure: {self._failure or type(self._failure).__name__}"
            )
            raise BrokenError(what, hint="make a new reasoner") from self._failure

    @property
    def book(self) -> int:
        """The address of the book of the arrays, for compiled functions (see `view.py`)."""
        return self._book

    @property
    def store(self) -> Store:
        """The arrays, as they are until the next call that changes facts."""
        return self._store

    def change(self) -> Change:
        """What came and what left in this step, net."""
        store = self._store
        born = facts.without(self._book, store.born[: store.meta[BORN_COUNT]], DEAD)
        gone = facts.without(self._book, store.gone[: store.meta[GONE_COUNT]], BORN)
        if self._keep_all or self._removed_by_doubt:
            born, gone = self._net(born, gone)
        return Change(self.facts(born), self.facts(gone))

    def _net(self, born: Array, gone: Array) -> tuple[Array, Array]:
        """One row per fact, and no fact that has merely got another row."""
        came, left = self._by_fact(born), self._by_fact(gone)
        if self._keep_all:
            stays = facts.held(self._book, np.array(list(left.values()), np.int64), 0)
            before = facts.held(self._book, np.array(list(came.values()), np.int64), BORN)
            left_for_good = [fact for fact, kept in zip(left, stays, strict=True) if not kept]
            new = [fact for fact, known in zip(came, before, strict=True) if not known]
        else:
            left_for_good, new = [fact for fact in left if fact not in came], list(came)
        really_new = [came[fact] for fact in new if fact not in left]
        return np.array(really_new, np.int64), np.array([left[f] for f in left_for_good], np.int64)

    def _by_fact(self, rows: Array) -> dict[tuple[int, ...], int]:
        return {tuple(self._store.rows[row, : CONTEXT + 1].tolist()): int(row) for row in rows}

    def facts(self, rows: Array) -> Facts:
        """The facts in these rows."""
        numbers, stamps = facts.gather(self._book, rows.astype(np.int32, copy=False))
        return Facts(numbers[CONTEXT], numbers[S], numbers[P], numbers[O], stamps)

    def closure(self, context: int | None, threshold: int) -> Facts:
        """The facts of a context with a stamp above a threshold; None: of all, but for the background."""
        store = self._store
        used = int(store.meta[ROWS])
        contexts = store.rows[:used, CONTEXT]
        wanted = contexts > BACKGROUND if context is None else contexts == context
        wanted = wanted & (store.stamps[:used] > threshold) & (store.flags[:used] & DEAD == 0)
        rows = np.nonzero(wanted)[0]
        if context is None:
            rows = rows[np.argsort(contexts[rows], kind="stable")]
        if not self._keep_all:
            return self.facts(rows)
        freshest_last = rows[np.argsort(store.stamps[rows], kind="stable")]
        found = self.facts(freshest_last).stamps().items()
        return Facts.of(sorted((*fact, stamp) for fact, stamp in found))

    def answers(self, rule: CompiledRule) -> AnswerTable | None:
        """The answers of a watched pattern, given as a rule; None if it is not watched."""
        return self._watched.of(rule)

    def all_facts(self) -> set[Fact]:
        """Every fact outside the background."""
        store = self._store
        used = int(store.meta[ROWS])
        live = (store.rows[:used, CONTEXT] > 0) & (store.flags[:used] & DEAD == 0)
        return set(self.facts(np.nonzero(live)[0]).stamps())

    def used_terms(self) -> Array:
        """The integers that facts use, some of them often."""
        rows = self._store.rows[: self._store.meta[ROWS]]
        return rows[rows[:, CONTEXT] >= 0, : O + 1].ravel()

    def statistics(self) -> dict[str, int]:
        """Counters by name."""
        meta = self._store.meta
        return {
            "facts": int(meta[LIVE]),
            "background": int(meta[GROUND]),
            "derivations": int(meta[DERIVATIONS]),
            "probes": int(meta[PROBES]),
            "answers": len(self._watched),
            "bytes": bytes_of(self._store) + self._watched.nbytes,
        }

    # -- putting away --------------------------------------------------------------------------

    def fingerprint(self) -> bytes:
        """The same for kernels that can go on with each other's arrays."""
        tables = (self._store.masks, *self._tables, self._store.wanted)
        return b"".join(array.tobytes() for array in tables)

    @_whole
    def park(self, folder: Folder) -> dict[str, Any]:
        """Let the arrays lie in a folder from now on; what there is to know besides them."""
        self.begin_step()
        if not folder.holds("rows", self._store.rows):
            self._store = fitted(self._store)
        store = self._store
        self._store = store._replace(**{name: folder.keep(name, getattr(store, name)) for name in PARKED})
        return {"answers": self._watched.park(folder), **self._active.state()}

    @_whole
    def adopt(self, folder: Folder, plain: dict[str, Any]) -> None:
        """Go on with the arrays of another kernel that has the same fingerprint."""
        self._store = self._store._replace(**{name: folder.find(name) for name in PARKED})
        self._watched.adopt(folder, plain["answers"])
        self._active.resume(plain)
        self._limit()

    # -- the compiled functions, called until they are done ------------------------------------

    def _put_some(self, arrays: Sequence[Array], at: int) -> int:
        """Put facts from `at` on and run the compiled rules; where to go on."""
        self._look_at_kinds()
        at = int(join.run(self._book, self._plans, at, self._needed is not None, *arrays))
        self._grow()
        return at

    def _run(self) -> None:
        """Run the rules to the end, those included that need Python."""
        self._run_compiled()
        self.put(self._conclude_solutions())

    def _run_compiled(self) -> None:
        self._complete(lambda: join.run(self._book, self._plans, 0, False, *_NOTHING))

    def _doubt(self, doubted: Columns) -> None:
        """Suspect these facts and all that rests on them: overdeletion."""
        done = 0
        while len(doubted):
            self._doubt_stated(doubted)
            while done < self._store.meta[SUSPECT_COUNT]:
                done = int(join.doubt_consequences(self._book, self._plans, done))
                self._grow()
            doubted = self._conclude_solutions(doubted=True)

    def _doubt_stated(self, c: Columns) -> None:
        self._from_start(
            lambda at: int(facts.doubt_all(self._book, at, c.context, c.s, c.p, c.o, c.stamp)), len(c)
        )

    def _conclude_solutions(self, *, doubted: bool = False) -> Columns:
        """What the rules that need Python conclude from the solutions handed over, or doubted."""
        store = self._store
        count = int(store.meta[SOLUTION_COUNT])
        store.meta[SOLUTION_COUNT] = 0
        solutions, stamps = store.solutions[:count], store.solution_stamps[:count]
        solutions, stamps = self._watched.take(solutions, stamps, doubted=doubted)
        self._arrays.made[:-1] += np.bincount(solutions[:, 0], minlength=len(self._program.rules))
        return conclude_all(self._program, self._dictionary, solutions, stamps)

    def _complete(self, call: Callable[[], object]) -> None:
        call()
        while self._grow():
            call()

    def _from_start(self, call: Callable[[int], int], end: int) -> None:
        at = 0
        while at < end:
            at = call(at)
            self._grow()

    # -- growing -------------------------------------------------------------------------------

    def _grow(self) -> bool:
        """Make larger what was full; False if nothing was."""
        full = int(self._store.meta[FULL])
        if full:
            self._store.meta[FULL] = 0
            if full in (ROOM_FULL, GROUND_FULL):
                self._look_at_budget()
            own = {ACTIVE_UNKNOWN: self._list_active, TABLE_STALE: self._fill_table, PAUSE: self._pause}
            try:
                self._store = (own.get(full) or GROW[full])(self._store)
            except (MemoryError, OSError) as problem:
                raise no_memory(self._derived()) from problem
        return bool(full)

    # -- the budget ----------------------------------------------------------------------------

    def _limit(self) -> None:
        """Let the arrays know how much may be held, and when to pause next."""
        meta = self._store.meta
        meta[MOST] = self._budget.max_facts
        meta[PAUSE_AT] = meta[PROBES] + meta[DERIVATIONS] + self._allowance
        set_room(self._store)

    def _look_at_budget(self) -> None:
        """Before the arrays grow: refuse more facts than are allowed, or than there is memory for."""
        store = self._store
        held = int(store.meta[LIVE] + store.meta[GROUND])
        if held >= self._budget.max_facts:
            raise too_many_facts(self._budget, held, self._derived())
        # The slots are written all over at once, while the old ones are still there.
        self._meter.memory(0, self._derived, 2 * store.slots.nbytes)

    def _look_at_memory(self, work: int) -> None:
        self._meter.memory(work, self._derived)

    def _pause(self, store: Store) -> Store:
        """Compiled code has returned for a moment; a row that did not end gets twice as long next time."""
        done = int(store.meta[PROBES] + store.meta[DERIVATIONS])
        self._allowance = _BETWEEN_PAUSES if done > self._paused else 2 * self._allowance
        self._paused = done
        store.meta[PAUSE_AT] = done + self._allowance
        self._look_at_memory(_BETWEEN_PAUSES)
        return store

    def _derived(self) -> dict[str, int]:
        """How many facts each rule derived, by its name."""
        return derived_by_rule(self._program, self._arrays)

    def _background(self) -> Array:
        return self._store.rows[: self._store.meta[GROUND], : O + 1].copy()

    def _fill_table(self, store: Store) -> Store:
        """Make the epsilon table, of the rules that nothing outside the background has spoilt yet."""
        self._active.look(store)
        epsilon = self._linear(self._active.matched)
        self._active.done = epsilon.plans
        return install(store, epsilon, self._make_table(epsilon))

    def _linear(self, matched: set[int]) -> Epsilon:
        """The linear rules, but for those of which the stream has matched an alpha."""
        if not self._with_table:
            return Epsilon(Network({}))
        kinds, ground = bytes(self._dictionary.kinds), self._background()
        return make_epsilon(self._program, self._planned, ground, matched, kinds)

    def _make_table(self, epsilon: Epsilon) -> Table:
        return make_table(epsilon, self._planned, self._background(), self._needed)

    def _list_active(self, store: Store) -> Store:
        return self._active.enter(store, int(store.meta[WANTED]))

    def _reserve_gone(self) -> None:
        # Every fact may go at once. Pages that are not written to take no memory.
        store = self._store
        if len(store.gone) < len(store.rows):
            self._store = store._replace(gone=grown(store.gone, len(store.rows)))

    def _look_at_kinds(self) -> None:
        # The dictionary writes into the buffer as terms come, and makes a new one when it is full.
        if self._kinds is not self._dictionary.kinds:
            self._kinds = self._dictionary.kinds
            self._store = self._store._replace(kinds=np.frombuffer(self._kinds, np.uint8))

    def _drop_scratch(self) -> None:
        """Give large scratch arrays back after a step that needed them."""
        store = self._store
        self._removed_by_doubt = False
        if len(store.born) > _LARGE:
            store = store._replace(born=np.zeros(64, np.int32))
        if len(store.gone) > _LARGE:
            store = store._replace(gone=np.zeros(64, np.int32))
        if len(store.queue) > _LARGE:
            store = store._replace(queue=np.zeros(64, np.int32), queue_old=np.zeros(64, np.int64))
        if len(store.solution_stamps) > _LARGE:
            few = store.solutions[:16].copy(), store.solution_stamps[:16].copy()
            store = store._replace(solutions=few[0], solution_stamps=few[1])
        self._store = store
