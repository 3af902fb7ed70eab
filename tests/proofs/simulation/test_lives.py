"""Many troubled lives in which every invariant of payouts holds, each from a seed."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.proofs.simulation import lives as life_module
from tests.proofs.simulation.lives import run, run_many
from tests.proofs.simulation.loop import Loop, Stuck
from tests.proofs.simulation.scenario import drawn
from tests.world.extent import WHOLE

STEPS_OF_A_LIFE = 150
LIVES, JOBS = (1_000, 2) if WHOLE else (60, 1)
HAPPENED = (
    "crashes",
    "stops",
    "pauses",
    "restores",
    "order lost",
    "answer lost",
    "doubled",
    "late",
    "store fault",
    "store slow",
    "error, executed",
    "held",
    "payouts held",
    "came back",
    "rejected",
    "look-up failed",
    "compare-and-set lost",
    "commits of several",
)
RARE = ("callback lost", "fails later", "holds released", "holds refused")
"""A few times in a thousand lives."""
REPLAYED = [0, 7, 23, 101] if WHOLE else [7]


def test_every_invariant_holds_in_every_simulated_run():
    """I1 to I17, checked after every step; a violation is reported with its seed."""
    steps, counts, broken = 0, Counter[str](), {}

    for life in run_many(range(LIVES), JOBS):
        steps += life.steps
        counts += life.counts
        if life.violation:
            broken[f"make simulate SEED={life.seed}"] = life.violation

    print(f"{steps:,} steps over {LIVES:,} seeds", dict(counts), sep="\n")  # noqa: T201 - figures
    assert broken == {}
    assert steps >= LIVES * STEPS_OF_A_LIFE
    expected = (*HAPPENED, *(RARE if WHOLE else ()))
    assert [event for event in expected if not counts[event]] == []


@pytest.mark.parametrize("seed", REPLAYED)
def test_a_seed_replays_step_by_step(seed: int):
    """The trace's hash covers every step, its time and its task."""
    once, again = run(seed), run(seed)

    assert (once.steps, once.digest) == (again.steps, again.digest)
    assert once.digest != run(seed + 1).digest


def test_a_seed_has_the_same_run_in_another_process():
    """Earlier runs in a process do not influence the order."""
    here = [run(seed).digest for seed in (5, 6, 8)]

    there = [life.digest for life in run_many([8, 5, 6], jobs=2)]

    assert there == [here[2], here[0], here[1]]


def test_a_run_has_a_readable_log():
    told: list[str] = []

    run(1, note=told.append)

    assert any("POST" in line for line in told)
    assert any("COMMITS" in line for line in told)


def test_different_seeds_have_different_runs():
    """A constant random number would prove nothing."""
    from random import Random  # noqa: PLC0415 - only here

    kinds = {(each.kind, each.crashes) for each in (drawn(Random(n)) for n in range(100))}

    assert len(kinds) > 8


def test_a_failed_start_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch):
    """An open loop is noticed by whichever test runs the garbage collector."""
    loops: list[Loop] = []

    def watched(chance: Random) -> Loop:
        loops.append(Loop(chance))
        return loops[-1]

    async def stuck(_slot: object) -> None:
        raise Stuck

    monkeypatch.setattr(life_module, "Loop", watched)
    monkeypatch.setattr(life_module, "_warm", stuck)

    with pytest.raises(Stuck):
        life_module._slots.__wrapped__()
    assert [each.is_closed() for each in loops] == [True]
