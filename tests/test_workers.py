"""Who runs what: every test once, modules whole, and some alone at the end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from tests.workers import Shifts, shared

NAMES = [
    *(f"tests/unit/test_{module}.py::test_{test}" for module in "abc" for test in range(40)),
    *(f"tests/torture/test_campaign.py::test_{test}" for test in range(3)),
    *(f"tests/surfaces/test_it.py::test_{test}" for test in range(70)),
    *(f"tests/operating/test_{module}.py::test_{test}" for module in "abc" for test in range(4)),
    "tests/readme/test_readme.py::test_it",
]


@dataclass(eq=False)
class Process:
    """A worker that runs a test when it knows the next one, or that there is none."""

    names: list[str] = field(default_factory=list)
    shutting_down: bool = False
    waiting: list[int] = field(default_factory=list)

    def send_runtest_some(self, indices: Sequence[int]) -> None:
        assert not self.shutting_down
        self.waiting.extend(indices)

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def may_run(self) -> bool:
        return len(self.waiting) > 1 or (self.shutting_down and bool(self.waiting))


@dataclass
class Run:
    """A run: which test was run by whom, and with how many workers alive."""

    shifts: Shifts
    workers: list[Process]
    chance: random.Random
    done: list[tuple[str, int]] = field(default_factory=list)

    def step(self) -> bool:
        """Let one worker run a test, or end; false when none is left."""
        if self.shifts.tests_finished:
            for worker in self.workers:
                worker.shutdown()
        ready = [one for one in self.workers if one.may_run or one.shutting_down]
        if not ready:
            return False
        worker = self.chance.choice(ready)
        if worker.waiting:
            number = worker.waiting.pop(0)
            self.done.append((worker.names[number], len(self.workers)))
            self.shifts.mark_test_complete(worker, number)
        else:
            self.workers.remove(worker)
            assert self.shifts.remove_node(worker) is None
        return True


def begun(count: int, seed: int = 0, names: Sequence[str] = NAMES) -> Run:
    chance, shifts = random.Random(seed), Shifts(count)
    workers = [Process(chance.sample(names, len(names))) for _ in range(count)]
    for worker in workers:
        shifts.add_node(worker)
    for worker in workers:
        shifts.add_node_collection(worker, worker.names)
    shifts.schedule()
    return Run(shifts, workers, chance)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("seed", range(10))
def test_every_test_runs_once_and_some_of_them_alone(count: int, seed: int):
    run = begun(count, seed)

    while run.step():
        pass

    assert sorted(test for test, _ in run.done) == sorted(NAMES)
    assert run.workers == []
    assert not run.shifts.has_pending
    apart = [each for each in run.done if each[0].startswith("tests/torture")]
    assert {alive for _, alive in apart} == {1}
    assert run.done[-len(apart) :] == apart


@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("seed", range(10))
def test_some_run_three_at_once_when_the_others_have_ended(count: int, seed: int):
    """A worker starts its last test when it knows a next one: that may be one of these."""
    run = begun(count, seed)

    while run.step():
        pass

    ranks = [number for number, (test, _) in enumerate(run.done) if "operating" in test]
    assert {run.done[number][1] for number in ranks} <= {1, 2, 3}
    apart = sum(test.startswith("tests/torture") for test, _ in run.done)
    assert ranks[0] >= len(NAMES) - apart - len(ranks) - 2 * 3
    assert ranks[-1] < len(NAMES) - apart


@pytest.mark.parametrize("count", [1, 2])
def test_where_nothing_must_be_alone_the_workers_simply_end(count: int):
    run = begun(count, names=NAMES[:100])

    while run.step():
        pass

    assert len(run.done) == 100


@pytest.mark.parametrize("seed", range(10))
def test_a_worker_that_dies_loses_no_other_test(seed: int):
    run = begun(2, seed)
    for _ in range(50):
        run.step()
    dead, heir = run.workers[0], Process(NAMES)
    at_work, *left = (dead.names[number] for number in dead.waiting)

    broken = run.shifts.remove_node(dead)
    run.workers = [run.workers[1], heir]
    run.shifts.add_node(heir)
    run.shifts.add_node_collection(heir, NAMES)
    run.shifts.schedule()
    while run.step():
        pass

    assert broken == at_work
    assert sorted([at_work, *(test for test, _ in run.done)]) == sorted(NAMES)
    assert set(left) < {test for test, _ in run.done}


@pytest.mark.parametrize("seed", range(10))
def test_workers_that_die_together_are_replaced_one_after_the_other(seed: int):
    """The first heir has found its tests while the second still looks for them."""
    run = begun(2, seed)
    for _ in range(50):
        run.step()
    broken = [run.shifts.remove_node(dead) for dead in run.workers]
    run.workers = [Process(NAMES), Process(NAMES)]
    for heir in run.workers:
        run.shifts.add_node(heir)

    for heir in run.workers:
        run.shifts.add_node_collection(heir, NAMES)
        run.shifts.schedule()
    while run.step():
        pass

    ended = [*(test for test in broken if test), *(test for test, _ in run.done)]
    assert sorted(ended) == sorted(NAMES)


def test_a_module_stays_with_one_worker_but_for_very_large_ones():
    shares = shared(NAMES)

    assert [len(part) for part in shares.modules] == [1, 60, 10, 40, 40, 40]
    assert [len(part) for part in shares.waiting] == [4, 4, 4]
    assert [test.split("/")[1] for test in shares.alone] == ["torture"] * 3


def test_the_longest_of_those_that_mostly_wait_begin_first():
    """Else the others would have nothing to do for their length."""
    names = [f"tests/operating/test_{name}.py::test_it" for name in ("clock", "workers", "more")]

    shares = shared([*names, "tests/operating/test_server_processes.py::test_it"])

    assert [part[0].split("/")[2].partition(".")[0] for part in shares.waiting] == [
        "test_server_processes",
        "test_workers",
        "test_clock",
        "test_more",
    ]


@pytest.mark.parametrize("seed", range(10))
def test_the_modules_of_a_slow_folder_follow_each_other_however_they_are_shuffled(seed: int):
    """What they share, such as a gateway with its pages, ends before other tests begin."""
    files = [
        f"tests/{folder}/test_{n}.py"
        for folder in ("browser", "surfaces", "unit")
        for n in range(9)
    ]
    random.Random(seed).shuffle(files)

    shares = shared([f"{file}::test_it" for file in files])

    assert [test.split("/")[1] for [test] in shares.modules] == [
        *["browser"] * 9,
        *["surfaces"] * 9,
        *["unit"] * 9,
    ]


def test_workers_that_found_different_tests_are_refused():
    shifts, one, two = Shifts(2), Process(), Process()
    shifts.add_node(one)
    shifts.add_node(two)
    shifts.add_node_collection(one, ["a::b"])

    with pytest.raises(RuntimeError, match="a::c"):
        shifts.add_node_collection(two, ["a::c"])


def test_an_object_s_address_in_a_name_is_no_difference():
    """Each worker has another one, and therefore another order after the shuffle."""
    shifts, one, two = Shifts(2), Process(), Process()
    shifts.add_node(one)
    shifts.add_node(two)

    shifts.add_node_collection(
        one, ["a::b[<object at 0x7f22>]", "a::b[<object at 0x7f21>]", "a::c"]
    )
    shifts.add_node_collection(
        two, ["a::c", "a::b[<object at 0x7fc6>]", "a::b[<object at 0x7fc7>]"]
    )

    assert shifts.collection_is_completed
