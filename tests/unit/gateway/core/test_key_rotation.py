"""Replacing a key in two phases: which processes fit together, and what is to be done next."""

from __future__ import annotations

import pytest

from gateway.core.key_rotation import LiveProcess, key_conflicts, next_step

OLD, NEW = "0000000a", "0000000b"


def process(name: str, *ids: str, purpose: str = "sealing") -> LiveProcess:
    """A process with keys of one purpose, the one it writes with first."""
    return LiveProcess(id=name, name=name, keys={purpose: ids})


FITTING = {
    "alone": ([NEW], []),
    "before": ([OLD], [[OLD]]),
    "phase 1": ([OLD, NEW], [[OLD], [OLD]]),
    "still to be staged": ([OLD], [[OLD, NEW]]),
    "phase 2": ([NEW, OLD], [[OLD, NEW], [NEW, OLD]]),
    "phase 2 taken back": ([OLD, NEW], [[NEW, OLD]]),
    "former one removed": ([NEW], [[NEW, OLD]]),
    "first password pepper": ([""], [["", NEW]]),
    "second password pepper": ([NEW], [["", NEW]]),
}
UNFIT = {
    "new one at once": ([NEW, OLD], [[OLD]], "not configured in 0"),
    "one is missing": ([NEW, OLD], [[OLD, NEW], [OLD]], "not configured in 1:"),
    "forgotten": (
        [OLD],
        [[NEW, OLD], [OLD, NEW]],
        f"{NEW}, with which 0 writes, is not configured",
    ),
    "former one removed too early": ([NEW], [[OLD, NEW]], f"{OLD}, with which 0 writes"),
    "first password pepper at once": ([NEW], [[""]], "not configured in 0"),
}


@pytest.mark.parametrize("purpose", ["sealing", "pepper", "passwords"])
def test_a_key_is_used_for_writing_once_every_process_has_it(purpose: str):
    wrong = []

    for case, (ids, others) in FITTING.items():
        alive = [process(str(n), *each, purpose=purpose) for n, each in enumerate(others)]
        if problems := key_conflicts(process("new", *ids, purpose=purpose), alive):
            wrong.append((case, problems))
    for case, (ids, others, named) in UNFIT.items():
        alive = [process(str(n), *each, purpose=purpose) for n, each in enumerate(others)]
        problems = key_conflicts(process("new", *ids, purpose=purpose), alive)
        if len(problems) < 1 or named not in "; ".join(problems):
            wrong.append((case, problems))

    assert wrong == []


def test_each_state_has_one_next_step():
    steps = {
        (True, "Nothing is under way; pixgate keys stage sealing"): [[OLD], [OLD]],
        (False, f"Phase 1 is under way: {NEW} is missing in 1;"): [[OLD, NEW], [OLD]],
        (True, f"Every process has {NEW} too: pixgate keys promote"): [[OLD, NEW], [OLD, NEW]],
        (False, f"Phase 2 is under way: now write 0 with {NEW}, 1 with {OLD};"): [
            [NEW, OLD],
            [OLD, NEW],
        ],
        (False, f"At once: {NEW} is missing in 1 although it is written with;"): [
            [NEW, OLD],
            [OLD],
        ],
        (True, f"Every process has {OLD} too"): [[NEW, OLD], [NEW, OLD]],
    }
    wrong = []

    for (agreed, begins), ids in steps.items():
        step = next_step("sealing", [process(str(n), *each) for n, each in enumerate(ids)])
        if step.agreed != agreed or not step.text.startswith(begins):
            wrong.append((begins, step))

    assert wrong == []
