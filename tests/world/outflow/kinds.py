"""
Six kinds of company, as generators of payouts: what the outflow guard must leave alone.

They were written down before the guard (docs/outflow.md, "Six kinds of company"). Times are seconds
of a calendar of São Paulo that begins on a Monday at midnight; a month has 30 days. Every number
comes from the random source of one company, so a seed is a life.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from random import Random
from types import MappingProxyType
from typing import Final, NamedTuple

DAY: Final = 86_400
_HOUR: Final = 3_600
_MONTH: Final = 30
_SATURDAY: Final = 5
_FRIDAY: Final = 4

_OFFICE: Final = (0,) * 8 + (3, 6, 8, 7, 4, 6, 8, 8, 6, 3) + (0,) * 6
"""Weights of the hours of a day."""
_AROUND_THE_CLOCK: Final = (
    *(8, 5, 3, 2, 1, 1, 2, 5, 9, 13, 16, 17),
    *(18, 17, 16, 16, 17, 19, 21, 23, 24, 22, 17, 12),
)
_WAKING: Final = (0,) * 7 + (1, 4, 7, 9, 10, 9, 9, 9, 9, 9, 9, 8, 8, 7, 5, 3, 1)


class Paid(NamedTuple):
    """A payout: when, how much, to whom, by which of the company's two credentials."""

    at: float
    centavos: int
    payee: int
    credential: int


@dataclass(slots=True)
class Company:
    """
    A company with its payees.

    Attributes:
        chance: Its random source.
        payees: Payees that it has paid so far; each is a number below this one.
    """

    chance: Random
    payees: int = 0
    _second: float = field(init=False)

    def __post_init__(self) -> None:
        """Choose the share of the second credential."""
        self._second = self.chance.uniform(0.15, 0.4)

    def pay(self, at: float, centavos: float, new: float) -> Paid:
        """Pay an amount to a payee, who is new with probability ``new``."""
        if not self.payees or self.chance.random() < new:
            payee, self.payees = self.payees, self.payees + 1
        else:
            payee = self.chance.randrange(self.payees)
        second = self.chance.random() < self._second
        return Paid(at, max(1, round(centavos)), payee, int(second))

    def amount(self, median: float, sigma: float) -> float:
        """Draw an amount in centavos, lognormal around a median in reais."""
        return 100 * median * exp(self.chance.gauss(0, sigma))

    def times(self, day: int, number: float, weights: Sequence[float]) -> list[float]:
        """Spread payouts over a day: about ``number``, by the hours' weights, bunched a little."""
        whole = sum(weights)
        level = exp(self.chance.gauss(0, 0.15))
        found: list[float] = []
        for hour, weight in enumerate(weights):
            bunched = self.chance.gammavariate(12, 1 / 12)
            expected = number * level * bunched * weight / whole
            start = day * DAY + hour * _HOUR
            found += [start + self.chance.random() * _HOUR for _ in range(self._poisson(expected))]
        return found

    def batch(self, at: float, number: int, seconds: float) -> list[float]:
        """Return the times of a batch that takes some seconds."""
        return [at + self.chance.random() * seconds for _ in range(number)]

    def _poisson(self, mean: float) -> int:
        if mean > 50:
            return max(0, round(self.chance.gauss(mean, mean**0.5)))
        limit, number, product = exp(-mean), 0, self.chance.random()
        while product > limit:
            number += 1
            product *= self.chance.random()
        return number


Life = Callable[[Random, int], Iterator[list[Paid]]]
"""Returns the payouts of each day of a company, sorted by time, for some days."""


def salaries(chance: Random, days: int) -> Iterator[list[Paid]]:
    """
    Pay wages for employers: a flow in office hours, and two days a month with a great batch.

    On the fifth working day 2,500 people are paid within twenty minutes, on the 20th (or the
    working day after it) the same people get an advance. One month has half a wage more, on a day
    of its own. Three in a hundred of the people are new each month.
    """
    company = Company(chance)
    company.payees = 6_000
    extra = chance.randrange(30, days) if days > _MONTH else days
    batches = _pay_days(days, extra)
    for day in range(days):
        if day % 7 >= _SATURDAY:
            yield []
            continue
        payouts = [
            company.pay(at, company.amount(2_200, 0.6), 0.05)
            for at in company.times(day, 450, _OFFICE)
        ]
        begun = day * DAY + chance.uniform(8.5, 10.0) * _HOUR
        for share in batches.get(day, ()):
            payouts += [
                company.pay(at, share * company.amount(2_600, 0.4), 0.03)
                for at in company.batch(begun, _STAFF, chance.uniform(900, 1_500))
            ]
            begun += _HOUR
        yield sorted(payouts)


_STAFF: Final = 2_500


def _pay_days(days: int, extra: int) -> Mapping[int, list[float]]:
    """Return the shares of a wage that are paid on working days."""
    found: dict[int, list[float]] = {}
    for month in range(0, days, _MONTH):
        working = [day for day in range(month, month + _MONTH) if day % 7 < _SATURDAY]
        found.setdefault(working[4], []).append(1.0)
        later = next(day for day in range(month + 19, month + 22) if day % 7 < _SATURDAY)
        found.setdefault(later, []).append(0.4)
    bonus = next(day for day in range(extra, extra + 3) if day % 7 < _SATURDAY)
    found.setdefault(bonus, []).append(0.5)
    return found


def black_friday(chance: Random, days: int) -> Iterator[list[Paid]]:
    """
    Pay the sellers of a marketplace around the clock, and six times as much on one Friday.

    On that day every third payee is new, and the week after it is twice as busy.
    """
    company = Company(chance)
    company.payees = 8_000
    late = [day for day in range(days) if day % 7 == _FRIDAY and day >= 35]
    friday = chance.choice(late) if late else -1
    for day in range(days):
        factor, new = 1.0, 0.15
        if day == friday:
            factor, new = 6.0, 0.33
        elif friday < day <= friday + 7 and friday >= 0:
            factor, new = 2.0, 0.2
        weekend = 0.8 if day % 7 >= _SATURDAY else 1.0
        times = company.times(day, 600 * weekend * factor, _AROUND_THE_CLOCK)
        yield sorted(company.pay(at, company.amount(180, 1.0), new) for at in times)


def new_client(chance: Random, days: int) -> Iterator[list[Paid]]:
    """
    Begin from nothing: some tests, then a third more each day, until 500 payouts a day.

    Every payee is new at first. From the second week two batches a day pay a part of the day.
    """
    company = Company(chance)
    for day in range(days):
        if day % 7 >= _SATURDAY and day < 14:
            yield []
            continue
        number = min(500.0, 15 * 1.33**day) * (0.4 if day % 7 >= _SATURDAY else 1)
        new = max(0.12, 0.9 * 0.93**day)
        times = company.times(day, number * (0.7 if day > 7 else 1), _OFFICE)
        if day > 7 and day % 7 < _SATURDAY:
            for hour in (10, 16):
                begun = day * DAY + hour * _HOUR + chance.uniform(0, 600)
                times += company.batch(begun, round(number * 0.15), 300)
        yield sorted(company.pay(at, company.amount(250, 0.9), new) for at in times)


def growing(chance: Random, days: int) -> Iterator[list[Paid]]:
    """
    Grow by two in a hundred a day, to four times as much in ten weeks.

    Three times a new product brings half as much again from one day to the next, and a morning of
    new payees.
    """
    company, level = Company(chance), 180.0
    company.payees = 1_500
    launches = set(chance.sample(range(35, days), 3)) if days > 40 else set()
    for day in range(days):
        level *= 1.02 if level < 1_500 else 1.0
        new = 0.2
        if day in launches:
            level, new = level * 1.5, 0.35
        weekend = 0.5 if day % 7 >= _SATURDAY else 1.0
        times = company.times(day, level * weekend, _WAKING)
        yield sorted(company.pay(at, company.amount(320, 1.0), new) for at in times)


def night_shifts(chance: Random, days: int) -> Iterator[list[Paid]]:
    """
    Pay couriers at the end of their shifts: 06:00, 14:00 and 22:00, each within twenty minutes.

    Little in between. One in twelve is new; a third more on Friday and Saturday nights, and now and
    then a shift is paid up to two hours late.
    """
    company = Company(chance)
    company.payees = 2_500
    for day in range(days):
        busy = 1.33 if day % 7 in {_FRIDAY, _SATURDAY} else 1.0
        payouts = [
            company.pay(at, company.amount(140, 0.5), 0.08)
            for at in company.times(day, 60, _AROUND_THE_CLOCK)
        ]
        for hour in (6, 14, 22):
            late = chance.uniform(0, 2) if chance.random() < 0.04 else 0.0
            begun = day * DAY + (hour + min(late, 1.6)) * _HOUR + chance.uniform(0, 300)
            number = round(170 * busy * exp(chance.gauss(0, 0.12)))
            payouts += [
                company.pay(at, company.amount(160, 0.5), 0.08)
                for at in company.batch(begun, number, 1_200)
            ]
        yield sorted(payouts)


def refunds(chance: Random, days: int) -> Iterator[list[Paid]]:
    """
    Give buyers their money back: hardly any payee was paid before, and amounts are small.

    Every three weeks or so something goes wrong (an event is called off, a shop double charges) and
    for three hours refunds come up to four times as often, on Sundays too.
    """
    company = Company(chance)
    for day in range(days):
        weekend = 0.6 if day % 7 >= _SATURDAY else 1.0
        times = company.times(day, 900 * weekend, _WAKING)
        if chance.random() < 1 / 21:
            begun, factor = chance.uniform(9, 20), chance.uniform(2, 4)
            hours = [weight for hour, weight in enumerate(_WAKING) if begun <= hour < begun + 3]
            more = 900 * weekend * sum(hours) / sum(_WAKING) * (factor - 1)
            times += company.batch(day * DAY + begun * _HOUR, round(more), 3 * _HOUR)
        yield sorted(company.pay(at, company.amount(85, 0.8), 0.95) for at in times)


class Kind(NamedTuple):
    """
    A kind of company.

    Attributes:
        life: Its payouts.
        known: Payees that it had paid before its first day.
        judged_from: The day from which the guard may stop; the days before make the history.
    """

    life: Life
    known: int
    judged_from: int


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "salaries": Kind(salaries, 6_000, 35),
        "black friday": Kind(black_friday, 8_000, 35),
        "new client": Kind(new_client, 0, 0),
        "growing": Kind(growing, 1_500, 35),
        "night shifts": Kind(night_shifts, 2_500, 35),
        "refunds": Kind(refunds, 0, 35),
    }
)


def large(chance: Random, at: float, normal_day: int) -> list[Paid]:
    """Steal by 166 large payouts in three hours, each about a hundredth of a normal day's money."""
    return _theft(chance, at, 166, 3 * _HOUR, normal_day * 0.01)


def middling(chance: Random, at: float, normal_day: int) -> list[Paid]:
    """Steal by 282 middling payouts in five hours, together a normal day's money."""
    return _theft(chance, at, 282, 5 * _HOUR, normal_day / 282)


def _theft(chance: Random, at: float, number: int, seconds: int, centavos: float) -> list[Paid]:
    """Return payouts to the thief's own payees, by the first credential."""
    stolen = []
    for place in range(number):
        spread = exp(chance.uniform(log(0.7), log(1.35)))
        moment = at + (place + chance.random()) * seconds / number
        stolen.append(Paid(moment, round(centavos * spread), -1 - place, 0))
    return stolen
