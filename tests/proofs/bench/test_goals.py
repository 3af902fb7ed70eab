"""What figures mean: pairs of the same round, medians, limits."""

from dataclasses import replace

import pytest

from bench import goals, history, page, payouts, storage, subjects, targets
from bench.figures import Measured, Round, spread
from bench.peers import targets as peer_targets
from tests.proofs.bench.goals import rounds

LIMITED = [
    goal
    for goal in (*targets.GOALS, *peer_targets.GOALS, *storage.GOALS, *payouts.GOALS)
    if goal.fails_above is not None
]
RUNS = [page.read(file).measured for file in sorted(page.QUOTED.glob("*.json"))]


def slower(measured: Measured, times: float) -> Measured:
    """Return the same run on a machine that needs so many times as much of everything."""

    def slowed(one: Round) -> Round:
        more = ("seconds", "cpu_s", "p50_ms", "p99_ms", "pss_mb")
        return replace(one, **{name: getattr(one, name) * times for name in more})

    return Measured(
        rounds={name: [slowed(each) for each in taken] for name, taken in measured.rounds.items()},
        values={name: [each * times for each in taken] for name, taken in measured.values.items()},
    )


@pytest.mark.parametrize(
    ("values", "shown"),
    [([], "not measured"), ([1.26], "1.3"), ([3.0, 1.0, 2.0], "2.0 (1.0..3.0)")],
)
def test_a_figure_is_its_median_and_how_far_it_spread(values: list[float], shown: str):
    assert spread(values, ".1f") == shown


def test_a_ratio_compares_rounds_that_followed_each_other():
    """The machine may have been busier in one round than in another."""
    measured = Measured(rounds={"one": rounds(60, 120), "other": rounds(80, 160)})

    assert goals.cpu_ratio("one", "other")(measured) == pytest.approx([0.75, 0.75])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (goals.cpu_over("one", "other"), [40.0]),
        (goals.p50_ms("one"), [3.0]),
        (goals.p99_ms("one"), [9.0]),
        (goals.p99_ms("one", "other"), [7.0]),
        (goals.p50_ratio("one", "other"), [3.0]),
        (goals.p99_ratio("one", "other"), [4.5]),
        (goals.memory_ratio("one", "other"), [1.0]),
        (goals.value_over_cpu("start", "other"), [0.7 / 80]),
        (goals.value_over_cpu("start", "nobody"), []),
        (goals.tail("one"), [3.0]),
        (goals.memory_mb("one"), [97.0]),
        (goals.value("start"), [0.7]),
        (goals.cpu_ratio("one", "nobody"), []),
        (goals.value("nothing"), []),
    ],
)
def test_a_figure_is_taken_from_every_round(values: goals.Values, expected: list[float]):
    measured = Measured(
        rounds={"one": rounds(120, p50_ms=3.0, p99_ms=9.0), "other": rounds(80)},
        values={"start": [0.7]},
    )

    assert values(measured) == pytest.approx(expected)


@pytest.mark.parametrize(("balance", "failed"), [(60, []), (100, []), (101, ["R1"])])
def test_a_goal_fails_above_its_limit(balance: float, failed: list[str]):
    measured = Measured(rounds={subjects.BALANCE: rounds(balance), subjects.PROXY: rounds(100)})

    assert goals.failed(targets.GOALS, measured) == failed


@pytest.mark.parametrize("goal", LIMITED, ids=lambda goal: f"{goal.name} {goal.meaning}")
def test_a_slower_machine_fails_nothing(goal: goals.Goal):
    """Only ratios have a limit: what they say is the same, however long everything takes."""
    found = [(goal.values(run), goal.values(slower(run, 3))) for run in RUNS if _has(goal, run)]

    assert found, "no quoted run has this figure"
    assert all(after == pytest.approx(before) for before, after in found)


def _has(goal: goals.Goal, run: Measured) -> bool:
    """Say whether a run measured what a goal is about."""
    try:
        return bool(goal.values(run))
    except KeyError:
        return False


def test_what_has_no_limit_does_not_fail():
    goal = goals.Goal(name="x", meaning="", reach=1, values=goals.value("x"))

    assert goals.failed([goal], Measured(values={"x": [100.0]})) == []


@pytest.mark.parametrize("goal", [*targets.GOALS, *peer_targets.GOALS], ids=lambda goal: goal.name)
def test_every_goal_has_its_row(goal: goals.Goal):
    [row] = list(goals.table([goal], Measured()))[2:]

    assert row.startswith(f"| {goal.name} | {goal.meaning} | not measured | ")


@pytest.mark.parametrize("goal", [*targets.GOALS, *peer_targets.GOALS], ids=lambda goal: goal.name)
def test_aims_are_below_and_limits_above_what_must_be_reached(goal: goals.Goal):
    assert (goal.aim or 0.0) < goal.reach < (goal.fails_above or 1000.0)


def test_check_alone_makes_a_missed_limit_fail(tmp_path):
    missed = goals.Goal(name="x", meaning="", reach=1, fails_above=2, values=goals.value("x"))
    measured = Measured(values={"x": [3.0]})
    kept = history.Kept(folder=tmp_path, command="", told="")

    statuses = [history.close(measured, [missed], kept, check=check) for check in (False, True)]

    assert statuses == [0, 1]
