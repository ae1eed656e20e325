"""The card of a checkpoint: which job it is of, and what a job may change and still go on from it.

The truth in a checkpoint is the statements that still matter. What is derived from them is made anew by
every run. So rules, background, strategy and evaluator may change, if no statement was dropped for not
mattering before; but not the queries, since which statements are kept follows from their windows, nor
what decides which statements were admitted, nor the number of shards, by which they are spread. Temporal
queries remember what rules made of statements that are gone: for them rules and background stay as they are.
So they do for rule networks, of which the truth is what their rules have made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ensue.errors import InputError, Place, UsageError
from ensue.job import Job
from ensue.knowledge import Update
from ensue.networks.job import NetworkJob
from ensue.private_folder import UnsafeFolderError
from ensue.spark.file_system import SYSTEM, Files
from ensue.spark.ledger import part_of, refused, unreadable, write_whole

NAME = "ensue-job.json"
LAYOUT = 6
"""Rises when what is in a checkpoint means something else."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a checkpoint says of its job."""

    layout: int
    version: str
    queries: str
    admission: str
    rules: str
    background: str
    methods: str
    shards: int
    filtered: bool
    expanded: bool = False
    temporal: bool = False
    """Whether a query has temporal operators."""
    network: bool = False
    """Whether it is of rule networks; their rules are where queries would be."""

    @classmethod
    def of(cls, job: Job, *, shards: int, filtered: bool, expanded: bool = False) -> Card:
        """The card of a job."""
        settings = job.settings
        admission = (settings.disorder, settings.t0, settings.bounds, settings.report)
        return cls(
            LAYOUT,
            version("ensue"),
            _digest([(query.name, query.text) for query in job.queries]),
            _digest(admission),
            _digest(job.rules),
            _digest([job.knowledge.stated, sorted(job.knowledge.graphs.items()), *_told(job.updates)]),
            _digest((settings.strategy, settings.evaluator, settings.until)),
            shards,
            filtered,
            expanded,
            any(query.events is not None for query in job.parsed()),
        )

    @classmethod
    def of_networks(cls, job: NetworkJob, *, shards: int) -> Card:
        """The card of rule networks."""
        file, nothing = job.file, _digest(())
        rules = [(rule.name, rule.branches, rule.effect) for rule in file.rules]  # Wherever they stand.
        return cls(
            LAYOUT,
            version("ensue"),
            _digest((rules, file.element, file.into, file.partition)),
            _digest((job.streams, job.disorder)),
            nothing,
            _digest(job.background.stated),
            nothing,
            shards,
            filtered=False,
            network=True,
        )


def go_on(checkpoint: Path, card: Card, files: Files = SYSTEM) -> list[str]:
    """Leave a job's card with a checkpoint, and say what is done about a difference to the one there.

    Raises UsageError where the job cannot go on from it, and EnsueError where it cannot be read or written.
    """
    make(checkpoint, files)
    path, said = checkpoint / NAME, []
    try:
        if files.exists(path):
            said = [f"checkpoint {checkpoint}: going on", *_differences(_read(path, files), card)]
        elif not _is_empty(checkpoint, files):
            raise _is_none(checkpoint)
        write_whole(path, json.dumps(asdict(card)), files)
    except OSError as problem:
        raise refused(problem.filename or str(path), problem) from problem
    return said


def make(checkpoint: Path, files: Files = SYSTEM) -> None:
    """Make the folder of a checkpoint if it is not there.

    One that others could have changed is refused: what is in it decides which results are written.
    """
    try:
        if not files.exists(checkpoint):
            _make(checkpoint, files)
        files.check_own(checkpoint)
    except NotADirectoryError as problem:
        raise _is_none(checkpoint) from problem
    except OSError as problem:
        raise refused(problem.filename or str(checkpoint), problem) from problem
    except UnsafeFolderError as problem:
        hint = f"`chmod 700 {checkpoint}` if you trust what is in it, or name another folder"
        if "belongs" in str(problem):
            hint = "run it as that user, or name another folder"
        raise UsageError(f"the checkpoint {checkpoint} is not private: {problem}", hint=hint) from problem


def _make(folder: Path, files: Files) -> None:
    """Make a folder, and those above it, so that it is there after a crash."""
    if not files.exists(folder.parent):
        _make(folder.parent, files)
    with suppress(FileExistsError):  # Another run was faster.
        files.make_folder(folder)
    files.sync_folder(folder.parent)


def _is_none(checkpoint: Path) -> UsageError:
    hint = "name a folder that is empty or not there yet"
    return UsageError(f"{checkpoint} is no checkpoint of Ensue", hint=hint)


def _differences(before: Card, card: Card) -> list[str]:
    fresh = "start with a new checkpoint"
    if before.layout != card.layout:
        raise UsageError(f"the checkpoint was written by Ensue {before.version}, in another way", hint=fresh)
    if before.shards != card.shards:
        hint = f"run it with --shards {before.shards}, or {fresh}"
        raise UsageError(f"the checkpoint has {before.shards} shards, not {card.shards}", hint=hint)
    asked = "the queries", "the disorder allowed, t0, bounds or report"
    if card.network:
        asked = "the rules of the network", "the streams, or the disorder allowed,"
    for what, changed in (
        (asked[0], (before.network, before.queries) != (card.network, card.queries)),
        (asked[1], before.admission != card.admission),
    ):
        if changed:
            raise UsageError(f"{what} changed since the checkpoint was made", hint=fresh)
    if before.expanded != card.expanded:
        # What older statements imply is there or not, and the shards' rules are others.
        raise UsageError("--expand changed since the checkpoint was made", hint=fresh)
    said = []
    if before.version != card.version:
        said.append(f"it was written by Ensue {before.version}: state is read as it is")
    if before.methods != card.methods:
        said.append("strategy, evaluator or --until changed: what is derived is made anew")
    knowledge = [
        what
        for what, changed in (
            ("rules", before.rules != card.rules),
            ("background", before.background != card.background),
        )
        if changed
    ]
    if knowledge and (before.filtered or card.filtered):
        hint = f"{fresh}, or run with --keep-all from the start"
        names = " and ".join(knowledge)
        raise UsageError(f"{names} changed, and statements were dropped that may matter now", hint=hint)
    if knowledge and card.expanded:
        names = " and ".join(knowledge)
        raise UsageError(f"{names} changed, and what they made of statements was kept", hint=fresh)
    if knowledge and card.network:
        raise UsageError("the background changed, and networks began with it", hint=fresh)
    if knowledge and card.temporal:
        names = " and ".join(knowledge)
        raise UsageError(
            f"{names} changed, and temporal queries remember what was made of statements", hint=fresh
        )
    if knowledge:
        said.append(f"{' and '.join(knowledge)} changed: from the next window on the new ones hold")
    if before.filtered != card.filtered and not knowledge:
        raise UsageError("--keep-all changed since the checkpoint was made", hint=fresh)
    return said


def _told(updates: Iterable[Update]) -> list[Any]:
    """What is known of updates; of none nothing, as before there were any."""
    return [
        (each.at, each.added, each.removed, each.reloaded, sorted(each.graphs.items())) for each in updates
    ]


def _is_empty(folder: Path, files: Files) -> bool:
    """Whether there is nothing, but for the card of a run that was killed before it had put it in place."""
    return all(name == part_of(folder / NAME).name for name in files.names(folder))


def _read(path: Path, files: Files) -> Card:
    try:
        return Card(**json.loads(files.read(path).decode()))
    except OSError as problem:
        raise unreadable(str(path), problem) from problem
    except (ValueError, TypeError) as problem:
        hint = "start with a new checkpoint"
        raise InputError(f"is damaged: {problem}", place=Place(str(path)), hint=hint) from problem


def _digest(of: Any) -> str:
    return blake2b(repr(of).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
