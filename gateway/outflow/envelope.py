"""
The envelope of a subject's payouts, from its own history, and the judgement of its last hour.

Nothing here reads a clock or a store: instants are seconds, hours are counted in local time from
any midnight of a Monday. A payee counts as new for a day from the first payout to it, so that each
of many payouts to a new payee in that day counts as one to a new payee.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from math import ceil, exp, log, sqrt
from typing import Final, NamedTuple

from gateway.payouts.model import KNOWN_AFTER

SHORT_S: Final = 300
LONG_S: Final = 3_600
HISTORY_DAYS: Final = 42
"""Six weeks: six of each weekday, and at least one pay day of a month."""
KNOWN_AFTER_S: Final = int(KNOWN_AFTER.total_seconds())

_DAY: Final = 24
_WEEK: Final = 7 * _DAY
_SATURDAY: Final = 5
_GROWTH: Final = 4.0
"""Times what is usual: a busy season, not a day's money at once."""
_MOST: Final = 0.9
"""Of the hours alike: pay days and odd hours are among the others. A young subject has few."""
_MIXED_GROWTH: Final = 1.5
"""The same for new payees of whoever pays others more often: these grow along with the others."""
_BUSIEST: Final = 3.0
"""Where others are paid more than ever, the share of new payees grows too, to three times."""
_ALL_GROWTH: Final = 8.0
"""Times the highest of all payouts: those to known payees are no thief's."""
_SHARE_GROWTH: Final = 3.25
"""Times the usual share of new payees, where others are paid as well."""
_ESTABLISHED_DAYS: Final = 20
"""Days with payouts before the history alone decides; a younger subject has the floor too."""
_NORMAL_DAYS: Final = 14
"""A normal day is the middle one of the last with payouts; older ones say less where one grows."""
_NORMAL_PART: Final = 0.02
"""Of a normal day's money: what new payees get in hours in which they never got any."""
_FEW_LARGE: Final = 3
"""So many rare amounts at once are no theft yet."""
_RARE: Final = 0.01
_FEWEST: Final = 3
"""Fewer payouts are never outside, however unusual: one payout is no pattern."""
_FEW: Final = 8
_SOME: Final = 5
_BY_CHANCE: Final = 5
"""Standard deviations of a number of payouts: many windows are judged, and payouts come in bunches.
"""
_UNUSUAL: Final = 0.1
"""The largest tenth of the amounts to new payees is counted apart."""
_BUNCHED: Final = 1.5
"""Large amounts come in bunches: half as many again are expected as one by one."""
_TAIL: Final = 3e-7
"""Chance of a bound being passed by chance; some hundred windows of a day are judged."""


class Measure(StrEnum):
    """A measured quantity of a window."""

    MONEY = "money"
    PAYOUTS = "payouts"
    NEW_MONEY = "new_payees_money"
    NEW_PAYOUTS = "new_payees_payouts"
    LARGE = "new_payees_large"


class Spent(NamedTuple):
    """A payout as it is judged: when (seconds), how much, and whether its payee is new."""

    at: float
    centavos: int
    is_new: bool


@dataclass(slots=True)
class Figures:
    """Number and money of payouts, all of them and those to new payees."""

    payouts: int = 0
    centavos: int = 0
    new_payouts: int = 0
    new_centavos: int = 0

    @property
    def others(self) -> int:
        """Return the number of payouts to payees who are not new."""
        return self.payouts - self.new_payouts

    def add(self, spent: Spent, sign: int = 1) -> None:
        """Count a payout in, or out again."""
        self.payouts += sign
        self.centavos += sign * spent.centavos
        if spent.is_new:
            self.new_payouts += sign
            self.new_centavos += sign * spent.centavos

    def plus(self, other: Figures) -> None:
        """Add other figures."""
        self.payouts += other.payouts
        self.centavos += other.centavos
        self.new_payouts += other.new_payouts
        self.new_centavos += other.new_centavos

    def raise_to(self, other: Figures) -> None:
        """Take the higher one of each figure."""
        self.payouts = max(self.payouts, other.payouts)
        self.centavos = max(self.centavos, other.centavos)
        self.new_payouts = max(self.new_payouts, other.new_payouts)
        self.new_centavos = max(self.new_centavos, other.new_centavos)


class Window:
    """The payouts of the last seconds of a subject, with their sums and the new payees' amounts."""

    __slots__ = ("amounts", "figures", "length_s", "spent")

    def __init__(self, length_s: int) -> None:
        self.length_s = length_s
        self.spent: deque[Spent] = deque()
        self.figures = Figures()
        self.amounts: Counter[int] = Counter()

    def add(self, spent: Spent) -> None:
        """Count a payout, which is not older than the last one, and drop old ones."""
        self.spent.append(spent)
        self.figures.add(spent)
        if spent.is_new:
            self.amounts[step_of(spent.centavos)] += 1
        self.forget(spent.at)

    def forget(self, now: float) -> None:
        """Drop old payouts."""
        since = now - self.length_s
        while self.spent and self.spent[0].at <= since:
            old = self.spent.popleft()
            self.figures.add(old, -1)
            if old.is_new:
                self.amounts[step_of(old.centavos)] -= 1


class Recent:
    """The last five minutes and the last hour of a subject."""

    __slots__ = ("long", "short")

    def __init__(self, spent: Iterable[Spent] = ()) -> None:
        self.short = Window(SHORT_S)
        self.long = Window(LONG_S)
        for each in spent:
            self.add(each)

    def add(self, spent: Spent) -> None:
        """Count a payout, which is not older than the last one."""
        self.short.add(spent)
        self.long.add(spent)


@dataclass(slots=True)
class Hour:
    """
    An hour of a subject's history.

    Attributes:
        hour: Counted in local time.
        whole: The payouts of the hour.
        peak: The highest figures of any five minutes of it, each by itself.
        amounts: Payouts to new payees by the step of their amount.
    """

    hour: int
    whole: Figures = field(default_factory=Figures)
    peak: Figures = field(default_factory=Figures)
    amounts: Counter[int] = field(default_factory=Counter)


class OpenHour:
    """An hour of a subject whose payouts are being summed up."""

    __slots__ = ("_window", "hour")

    def __init__(self, hour: int) -> None:
        self.hour = Hour(hour)
        self._window = Window(SHORT_S)

    def add(self, spent: Spent) -> None:
        """Count a payout, which is not older than the last one."""
        hour, window = self.hour, self._window
        window.add(spent)
        hour.whole.add(spent)
        hour.peak.raise_to(window.figures)
        if spent.is_new:
            hour.amounts[step_of(spent.centavos)] += 1


def hour_of(hour: int, spent: Iterable[Spent]) -> Hour:
    """Sum up an hour's payouts, sorted by time."""
    found = OpenHour(hour)
    for each in spent:
        found.add(each)
    return found.hour


def step_of(centavos: int) -> int:
    """Return the step of an amount: two steps double it."""
    half = centavos.bit_length() - 1
    return 2 * half + (centavos * centavos >= 1 << (2 * half + 1))


def from_step(step: int) -> int:
    """Return the least amount of a step, in centavos."""
    return ceil(2 ** (step / 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """
    The limit for new payees in a window before there is a history; for all payees, four times.

    Attributes:
        payouts: In five minutes; in an hour twice as many.
        centavos: In five minutes; in an hour twice as much.
    """

    payouts: int
    centavos: int

    def of(self, length_s: int) -> tuple[float, float]:
        """Return number and money of a window."""
        factor = 1 if length_s == SHORT_S else 2
        return self.payouts * factor, self.centavos * factor


@dataclass(frozen=True, slots=True)
class Bounds:
    """
    The most that is inside the envelope in a window; money in centavos.

    Attributes:
        others: Payouts to payees who are not new, in nine of ten hours alike at most.
    """

    payouts: float
    centavos: float
    new_payouts: float
    new_centavos: float
    others: int


@dataclass(frozen=True, slots=True)
class Until:
    """
    The history of the days before a day.

    Attributes:
        whole: The highest figures of any hour.
        peak: The highest figures of any five minutes.
        share: Payouts to new payees that are allowed for each one to others; zero where most
            payees are new, for there the others say nothing.
        mean: The mean amount to new payees, in centavos.
        large: Steps of amounts, each with the share of payouts to new payees at or above it; empty
            without enough history.
        rare: The amount, in centavos, that one payout in a hundred to new payees reaches; zero
            without enough history.
        normal_day: The money of the middle day, in centavos; zero without a history.
        established: Whether the history alone decides.
    """

    day: int
    whole: Figures
    peak: Figures
    share: float
    mean: float
    large: Sequence[tuple[int, float]]
    rare: int
    normal_day: int
    established: bool


@dataclass(frozen=True, slots=True)
class Envelope:
    """
    A subject's envelope in one hour.

    Attributes:
        until: The history of the days before this one.
    """

    short: Bounds
    long: Bounds
    until: Until


class Excess(NamedTuple):
    """
    A measure outside the envelope.

    Attributes:
        window_s: The window in seconds.
        value: The measured value: centavos or a number.
        bound: The most that is inside.
        above: Of large payouts: the amount they reach, in centavos.
    """

    measure: Measure
    window_s: int
    value: int
    bound: int
    above: int = 0


class History:
    """
    The hours of a subject's last six weeks.

    Sums of whole days count from the next local midnight on; hours count at once for the hours
    alike.
    """

    def __init__(self, hours: Iterable[Hour] = ()) -> None:
        self._days: dict[int, _Day] = {}
        self._places: dict[tuple[int, int], deque[Hour]] = {}
        self._until: Until | None = None
        for each in hours:
            self.add(each)

    def add(self, hour: Hour) -> None:
        """Add an hour that is over; it is later than those added before."""
        self._days.setdefault(hour.hour // _DAY, _Day()).add(hour)
        self._places.setdefault(_place(hour.hour), deque()).append(hour)

    def envelope(self, hour: int, floor: Floor) -> Envelope:
        """Return the envelope in an hour; hours of the history that are too old are left out."""
        day = hour // _DAY
        if self._until is None or self._until.day != day:
            first = day - HISTORY_DAYS
            self._days = {at: each for at, each in self._days.items() if at >= first}
            self._until = _until(day, [each for at, each in self._days.items() if at < day])
        until, alike = self._until, [*self._alike(hour)]
        bounds = [
            _bounds(
                highest=until.peak if is_short else until.whole,
                alike=[each.peak if is_short else each.whole for each in alike],
                floor=_least(floor, SHORT_S if is_short else LONG_S, until),
                until=until,
            )
            for is_short in (True, False)
        ]
        short, long = bounds
        return Envelope(short, long, until)

    def _alike(self, hour: int) -> Iterator[Hour]:
        """Return the hours at most one apart: all of working days, of Saturdays, or of Sundays."""
        kind, of_day = _place(hour)
        for near in (of_day - 1, of_day, of_day + 1):
            hours = self._places.get((kind, near % _DAY), deque())
            while hours and hours[0].hour < hour - HISTORY_DAYS * _DAY:
                hours.popleft()
            yield from hours


def judge(recent: Recent, envelope: Envelope) -> Iterator[Excess]:
    """Return excesses over the envelope in a subject's last five minutes and last hour."""
    for window, bounds in ((recent.short, envelope.short), (recent.long, envelope.long)):
        if window.figures.payouts < _FEWEST:
            continue
        yield from _judged_all(window.figures, window.length_s, bounds)
        if window.figures.new_payouts >= _FEWEST:
            most = new_payees(window, recent, envelope)
            yield from _judged_new(window, most, envelope.until)


def new_payees(window: Window, recent: Recent, envelope: Envelope) -> tuple[float, float]:
    """Return the most that is inside for new payees in a window: number and money."""
    is_short, until = window is recent.short, envelope.until
    bounds = envelope.short if is_short else envelope.long
    hour, most = recent.long.figures.others, envelope.long.others
    busy = min(max(1.0, hour / most), _BUSIEST) if most else 1.0
    # Five minutes are few payouts: the hour says better how busy it is.
    others = max(window.figures.others, hour * SHORT_S / LONG_S) if is_short else hour
    usual = busy * until.share * others
    usual += _BY_CHANCE * sqrt(usual)
    money = usual * until.mean + _FEW_LARGE * until.rare
    return max(bounds.new_payouts, usual + _SOME), max(bounds.new_centavos, money)


def _judged_all(now: Figures, length_s: int, bounds: Bounds) -> Iterator[Excess]:
    if now.payouts > bounds.payouts:
        yield Excess(Measure.PAYOUTS, length_s, now.payouts, int(bounds.payouts))
    if now.centavos > bounds.centavos:
        yield Excess(Measure.MONEY, length_s, now.centavos, int(bounds.centavos))


def _judged_new(window: Window, most: tuple[float, float], until: Until) -> Iterator[Excess]:
    now, length_s, (number, money) = window.figures, window.length_s, most
    if now.new_payouts > number:
        yield Excess(Measure.NEW_PAYOUTS, length_s, now.new_payouts, int(number))
    if now.new_centavos > money:
        # One payout is no pattern: the largest counts as a rare one.
        largest = max(each.centavos for each in window.spent if each.is_new)
        value = now.new_centavos - max(0, largest - until.rare)
        if value > money:
            yield Excess(Measure.NEW_MONEY, length_s, value, int(money))
    if until.large:
        yield from _judged_large(window, until.large)


def _judged_large(window: Window, large: Sequence[tuple[int, float]]) -> Iterator[Excess]:
    """Return the first step that too many payouts to new payees reach."""
    steps = [(step, number) for step, number in window.amounts.items() if step >= large[0][0]]
    if sum(number for _, number in steps) < _FEWEST:
        return
    for least, share in large:
        reached = sum(number for step, number in steps if step >= least)
        if reached < _FEWEST:
            return
        bound = most_by_chance(_BUNCHED * share * window.figures.new_payouts)
        if reached > bound:
            yield Excess(Measure.LARGE, window.length_s, reached, bound, from_step(least))
            return


def most_by_chance(expected: float) -> int:
    """Return the number that independent events exceed with a chance of three in ten million."""
    return _most(ceil(20 * log(max(expected, 1e-6))))


@lru_cache(maxsize=1024)
def _most(twentieth: int) -> int:
    expected = exp(twentieth / 20)
    term = passed = exp(-expected)
    number = 0
    while 1 - passed > _TAIL and number < 10 * expected + 50:
        number += 1
        term *= expected / number
        passed += term
    return max(number, _FEWEST - 1)


@dataclass(slots=True)
class _Day:
    """A day with payouts, and the highest figures of its hours."""

    sum: Figures = field(default_factory=Figures)
    whole: Figures = field(default_factory=Figures)
    peak: Figures = field(default_factory=Figures)
    amounts: Counter[int] = field(default_factory=Counter)

    def add(self, hour: Hour) -> None:
        self.sum.plus(hour.whole)
        self.whole.raise_to(hour.whole)
        self.peak.raise_to(hour.peak)
        self.amounts.update(hour.amounts)


def _until(day: int, days: Sequence[_Day]) -> Until:
    whole, peak = Figures(), Figures()
    amounts: Counter[int] = Counter()
    for each in days:
        whole.raise_to(each.whole)
        peak.raise_to(each.peak)
        amounts.update(each.amounts)
    established = len(days) >= _ESTABLISHED_DAYS
    large = _large(amounts) if established else ()
    return Until(
        day=day,
        whole=whole,
        peak=peak,
        share=_share([each.sum for each in days]),
        mean=_mean([each.sum for each in days]),
        large=large,
        rare=next((from_step(step) for step, share in large if share <= _RARE), 0),
        normal_day=round(_middle([each.sum.centavos for each in days[-_NORMAL_DAYS:]])),
        established=established,
    )


def _place(hour: int) -> tuple[int, int]:
    """Return the kind of day (working day, Saturday, Sunday) and the hour of the day."""
    return max(hour % _WEEK // _DAY, _SATURDAY - 1), hour % _DAY


def _least(floor: Floor, length_s: int, until: Until) -> tuple[float, float]:
    """Return the least limit for new payees, in number and money, despite similar hours."""
    payouts, centavos = floor.of(length_s)
    if not until.established:
        return payouts, centavos
    return min(_FEW, payouts), max(_NORMAL_PART * until.normal_day, _FEW_LARGE * until.rare)


def _bounds(
    highest: Figures,
    alike: Sequence[Figures],
    floor: tuple[float, float],
    until: Until,
) -> Bounds:
    payouts, centavos = floor
    growth = _MIXED_GROWTH if until.established and until.share else _GROWTH
    part = _MOST if until.established else 1
    return Bounds(
        payouts=max(4 * payouts, _grown(highest.payouts, _ALL_GROWTH)),
        centavos=max(4 * centavos, _ALL_GROWTH * highest.centavos),
        new_payouts=max(payouts, _grown(_high([each.new_payouts for each in alike], part), growth)),
        new_centavos=max(centavos, growth * _high([each.new_centavos for each in alike], part)),
        others=_high([each.others for each in alike], part),
    )


def _grown(number: int, growth: float) -> float:
    return growth * number + _BY_CHANCE * sqrt(number) + _SOME


def _share(days: Iterable[Figures]) -> float:
    known = [each for each in days if each.payouts > each.new_payouts]
    usual = _middle([each.new_payouts / (each.payouts - each.new_payouts) for each in known])
    return _SHARE_GROWTH * usual if usual <= 1 else 0.0


def _mean(days: Sequence[Figures]) -> float:
    number = sum(each.new_payouts for each in days)
    return sum(each.new_centavos for each in days) / number if number else 0.0


def _large(amounts: Counter[int]) -> Sequence[tuple[int, float]]:
    """Return the steps of the largest tenth, and one above the largest, each with its share."""
    steps = sorted(step for step, number in amounts.items() if number)
    whole = sum(amounts.values())
    if not whole:
        return ()
    found, above = [], 0
    for step in range(steps[-1] + 2, steps[0], -1):
        above += amounts[step]
        share = (above + 1) / (whole + 1)
        if share > _UNUSUAL:
            break
        found.append((step, share))
    return tuple(reversed(found))


def _high(values: Sequence[int], part: float) -> int:
    """Return a quantile of the values."""
    return sorted(values)[ceil(part * len(values)) - 1] if values else 0


def _middle(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0
