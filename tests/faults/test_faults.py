"""Whatever fails at whatever moment, the output of a job is that of one that nothing happened to.

Thousands of short jobs, each through a schedule of faults drawn from a seed: processes are killed between any
two file operations, power fails (what is not synced is lost, torn or reordered), the disk is full, a task is
tried twice at once, an attempt that was given up goes on later, the command is given a second time, others on
the machine tidy up, an older checkpoint is put back.
"""

from __future__ import annotations

import os
from random import SystemRandom

import pytest

from .job import World, problem_of, protocols
from .mistakes import MISTAKES

SEED = int(os.environ.get("ENSUE_SEED", SystemRandom().randrange(1 << 40)))
SCHEDULES = int(os.environ.get("ENSUE_FAULT_SCHEDULES", "20000"))
PARTS = 8
ENOUGH = 3000
"""Schedules that find each mistake many times over: the rarest is in one of about a hundred."""


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_is_lost_nothing_twice_nothing_different(part):
    print(f"ENSUE_SEED={SEED}")
    for seed in range(SEED + part, SEED + SCHEDULES, PARTS):
        assert problem_of(seed) is None, problem_of(seed)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_a_mistake_is_found(mistake):
    assert any(problem_of(seed, mistake) for seed in range(ENOUGH)), f"not found: {mistake.what}"


def test_schedules_are_the_same_again():
    def traces():
        worlds = [World(seed, protocols()) for seed in range(200)]
        return [(world.run(), world.disk.steps, world.trace) for world in worlds]

    assert traces() == traces()


def test_everything_that_can_happen_happens():
    worlds = [World(seed, protocols()) for seed in range(400)]
    for world in worlds:
        world.run()
    kinds = {event.split()[0] for world in worlds for event in world.trace}
    assert kinds == {"an", "kill", "worker", "power", "full", "rival", "failure", "others", "hour"}
    assert max(len(world.trace) for world in worlds) >= 4
    assert sum(world.threaded for world in worlds) > 40
    assert sum(world.networks for world in worlds) > 40
    assert sum(world.may_refuse for world in worlds) < 80, "mostly there is no excuse"
