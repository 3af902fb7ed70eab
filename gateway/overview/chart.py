"""The chart of payouts by hour or day: only the numbers that a template draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from gateway.http.panel.pages.formats import moment
from gateway.overview.model import Overview, Period, StepFigures
from gateway.payouts.model import PayoutState

_TOP: Final = 14
_BASE: Final = 170
_LEFT: Final = 76
_SHARE: Final = 0.62
"""Of a step that its bar takes; the rest is air."""
_NICE: Final = (1, 2, 5)
_THOUSAND: Final = 1000
_TICKS: Final = {24: 3, 168: 24, 30: 5}
"""By the number of steps: how many of them one label stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Payouts created in an hour or a day: their total, settled and not settled."""

    at: datetime
    settled: Decimal = Decimal(0)
    other: Decimal = Decimal(0)
    settled_count: int = 0
    other_count: int = 0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its position, and the heights of its two parts."""

    x: float
    settled: float
    other: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """
    A chart's numbers.

    Attributes:
        lines: Height of each line across, its number, and of what: thousands, millions.
        ticks: Place and label below the bars.
    """

    width: int
    base: int
    bar: float
    bars: Sequence[Bar]
    lines: Sequence[tuple[float, str, str]]
    ticks: Sequence[tuple[float, str]]


def steps_of(overview: Overview) -> list[Step]:
    """Sum an overview's figures by step; steps without payouts are included."""
    first = moment(overview.since)
    is_day = overview.step == "day"
    length = timedelta(days=1) if is_day else timedelta(hours=1)
    until = moment(overview.until)
    number = 24 if overview.period is Period.TODAY else -(-(until - first) // length)
    starts = [first + place * length for place in range(number)]
    if not is_day and number > _TICKS[24]:
        number = -(-number // 24) * 24
        starts = [first + place * length for place in range(max(number, 24))]
    return [_step(start, overview.steps) for start in starts]


def _step(start: datetime, figures: Sequence[StepFigures]) -> Step:
    here = [each for each in figures if each.at == start]
    paid = [each for each in here if each.state is PayoutState.PAID]
    other = [each for each in here if each.state is not PayoutState.PAID]
    return Step(
        at=start,
        settled=_reais(paid),
        other=_reais(other),
        settled_count=sum(each.count for each in paid),
        other_count=sum(each.count for each in other),
    )


def _reais(figures: Sequence[StepFigures]) -> Decimal:
    return Decimal(sum(each.value.centavos for each in figures)) / 100


def chart_of(steps: Sequence[Step], width: int) -> Chart:
    """Build the chart of some steps, ``width`` units wide."""
    top = _nice(max((each.settled + each.other for each in steps), default=Decimal(0)))
    wide = (width - _LEFT - 4) / max(len(steps), 1)
    scale = (_BASE - _TOP) / float(top)
    return Chart(
        width=width,
        base=_BASE,
        bar=round(wide * _SHARE, 2),
        bars=[
            Bar(
                round(_LEFT + place * wide, 1),
                round(float(each.settled) * scale, 1),
                round(float(each.other) * scale, 1),
            )
            for place, each in enumerate(steps)
        ],
        lines=[(_BASE - part * (_BASE - _TOP) / 2, *short(top * part / 2)) for part in (2, 1, 0)],
        ticks=_ticks(steps, wide, every=1 if width > _NARROW else 2),
    )


_NARROW: Final = 400


def _ticks(steps: Sequence[Step], wide: float, every: int) -> list[tuple[float, str]]:
    """Label every few steps: hours of a day, else days."""
    stride = _TICKS.get(len(steps), max(len(steps) // 6, 1)) * every
    form = "%H h" if len(steps) == _HOURS else "%d/%m"
    return [
        (round(_LEFT + place * wide + wide * _SHARE / 2, 1), f"{each.at:{form}}")
        for place, each in enumerate(steps)
        if not place % stride
    ]


_HOURS: Final = 24


def _nice(most: Decimal) -> Decimal:
    """Return the least round number of reais at or above an amount."""
    scale = Decimal(1)
    while True:
        for each in _NICE:
            if scale * each >= most:
                return scale * each
        scale *= 10


def short(value: Decimal) -> tuple[str, str]:
    """Shorten an amount for an axis label: ``50`` and ``thousands``."""
    for size, word in ((_THOUSAND**2, "millions"), (_THOUSAND, "thousands")):
        if value >= size:
            return _plain(value / size), word
    return _plain(value), ""


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}".replace(".", ",")
