"""The envelope: what a history allows, and what is outside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gateway.outflow.envelope import (
    Excess,
    Floor,
    History,
    Measure,
    Recent,
    Spent,
    from_step,
    hour_of,
    judge,
    most_by_chance,
    step_of,
)

FLOOR = Floor(payouts=30, centavos=5_000_000)
DAYS = 28
TUESDAY_AT_TEN = (DAYS + 1) * 24 + 10
SUNDAY_AT_TEN = (DAYS + 6) * 24 + 10


def worked(new: int = 2, others: int = 20, centavos: int = 10_000) -> History:
    """Return four weeks of working days from nine to five, each hour alike."""
    return History(
        hour_of(day * 24 + hour, paying(new, others, centavos))
        for day in range(DAYS)
        for hour in range(9, 17)
        if day % 7 < 5
    )


def paying(new: int, others: int, centavos: int = 10_000, every_s: float = 60) -> Iterator[Spent]:
    """Pay new payees first, then others."""
    for number in range(new + others):
        yield Spent(number * every_s, centavos, number < new)


def outside(
    history: History, payouts: Iterator[Spent], hour: int = TUESDAY_AT_TEN
) -> dict[tuple[Measure, int], Excess]:
    """Return what is outside after payouts, by measure and window."""
    found = judge(Recent(payouts), history.envelope(hour, FLOOR))
    return {(each.measure, each.window_s): each for each in found}


def test_a_normal_hour_is_inside_the_envelope():
    assert outside(worked(), paying(2, 20)) == {}


def test_a_busy_hour_with_a_normal_mix_of_payees_is_inside():
    """A Black Friday: five times as many of both."""
    assert outside(worked(), paying(10, 100, every_s=30)) == {}


def test_many_new_payees_without_known_ones_are_outside():
    found = outside(worked(), paying(16, 0))

    assert found[Measure.NEW_PAYOUTS, 3600].value == 16
    assert found[Measure.NEW_PAYOUTS, 3600].bound == 15


def test_much_money_to_few_new_payees_is_outside():
    """Three payouts of a hundredth of a normal day, in an hour that usually has none."""
    found = outside(worked(), paying(4, 0, centavos=250_000), SUNDAY_AT_TEN)

    assert found.keys() >= {(Measure.NEW_MONEY, 300), (Measure.NEW_MONEY, 3600)}


def test_one_or_two_payouts_are_never_outside():
    """However large: limits and holds cover those."""
    assert outside(worked(), paying(1, 0, centavos=100_000_000)) == {}
    assert outside(worked(), paying(2, 0, centavos=1_000)) == {}


def test_many_large_amounts_to_new_payees_are_outside():
    """Far too many of the largest amounts, whatever their sum."""
    busy = worked(new=20, others=400)

    found = outside(busy, paying(8, 0, centavos=40_000, every_s=10))

    assert (Measure.LARGE, 300) in found
    assert found[Measure.LARGE, 300].above <= 40_000


def test_a_flood_to_known_payees_is_outside():
    found = outside(worked(), paying(0, 500, every_s=0.5))

    assert (Measure.PAYOUTS, 300) in found
    assert (Measure.MONEY, 300) in found


def test_weekends_have_their_own_envelope():
    """A usual Tuesday is unusual on a Sunday."""
    usual = worked(new=20, others=0)

    assert outside(usual, paying(20, 0)) == {}
    assert outside(usual, paying(20, 0), SUNDAY_AT_TEN) != {}


def test_without_a_history_the_floor_applies():
    nothing = History()

    assert outside(nothing, paying(30, 0, every_s=1)) == {}
    assert outside(nothing, paying(31, 0, every_s=1)).keys() == {(Measure.NEW_PAYOUTS, 300)}
    assert outside(nothing, paying(60, 0)) == {}
    assert (Measure.NEW_PAYOUTS, 3600) in outside(nothing, paying(61, 0, every_s=59))


def test_hours_older_than_six_weeks_do_not_count():
    later = TUESDAY_AT_TEN + 49 * 24

    old = worked()

    assert old.envelope(TUESDAY_AT_TEN, FLOOR).until.established
    assert not old.envelope(later, FLOOR).until.established


def test_an_hour_is_compared_with_the_hours_around_it():
    """One hour before and after, also around midnight."""
    nights = History(hour_of(day * 24 + 23, paying(10, 0)) for day in range(DAYS) if day % 7 < 5)

    assert outside(nights, paying(20, 0), DAYS * 24 + 24) == {}
    assert outside(nights, paying(20, 0), DAYS * 24 + 26) != {}


@pytest.mark.parametrize("centavos", [1, 2, 3, 99, 100, 141, 142, 99_999_999])
def test_an_amount_lies_within_its_step(centavos: int):
    step = step_of(centavos)

    assert from_step(step) <= centavos < from_step(step + 1)


def test_the_chance_bound_of_a_rare_event_is_small():
    assert [most_by_chance(each) for each in (0.001, 0.1, 1, 10)] == [2, 4, 9, 30]
