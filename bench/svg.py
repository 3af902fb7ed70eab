"""Plots as SVG: lines through points on a logarithmic axis, their spread behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, log10
from statistics import median

Series = Mapping[float, Sequence[float]]
"""The values of every round, by what they were measured at."""

_COLOURS = ("#0b6", "#05c", "#c50", "#808")
_WIDE, _HIGH = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 48, 56
_LINES = 5
_FONT = 'font-family="sans-serif" font-size="12"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """
    One picture.

    Attributes:
        across: What stands below the horizontal axis, which is logarithmic.
        up: What stands above the vertical axis, which begins at zero.
        series: By their names; all values are positive.
    """

    title: str
    across: str
    up: str
    series: Mapping[str, Series]

    def written(self) -> str:
        """Write the whole file."""
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" {_FONT}>',
                '<rect width="100%" height="100%" fill="#fff"/>',
                _text(_LEFT, 20, self.title, 'font-weight="bold"'),
                _text(_LEFT, 38, self.up, 'fill="#555"'),
                _text(_WIDE / 2, _HIGH - 34, self.across, 'text-anchor="middle" fill="#555"'),
                *self._grid(),
                *self._lines(),
                "</svg>",
                "",
            ]
        )

    def _grid(self) -> Iterator[str]:
        scale = self._scale()
        for each in range(_LINES + 1):
            value = scale.top * each / _LINES
            high = scale.y(value)
            yield f'<path d="M{_LEFT} {high:.1f}H{_WIDE - _RIGHT}" stroke="#ddd"/>'
            yield _text(_LEFT - 6, high + 4, f"{value:,.0f}", 'text-anchor="end"')
        for at in sorted({at for points in self.series.values() for at in points}):
            anchor = 'text-anchor="middle"'
            yield _text(scale.x(at), _HIGH - _BOTTOM + 16, _short(at), anchor)

    def _lines(self) -> Iterator[str]:
        scale = self._scale()
        for place, (name, points) in enumerate(self.series.items()):
            colour = _COLOURS[place % len(_COLOURS)]
            middles = [(scale.x(at), scale.y(median(values))) for at, values in points.items()]
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in middles)
            yield f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
            for at, values in points.items():
                x, low, high = scale.x(at), scale.y(min(values)), scale.y(max(values))
                yield f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{colour}"/>'
            yield from (
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in middles
            )
            across = _LEFT + 150 * place
            yield _text(across, _HIGH - 12, f"● {name}", f'fill="{colour}"')

    def _scale(self) -> _Scale:
        across = [at for points in self.series.values() for at in points]
        most = max(max(values) for points in self.series.values() for values in points.values())
        return _Scale(first=min(across), last=max(across), top=_round_up(most))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    """From values to places."""

    first: float
    last: float
    top: float

    def x(self, at: float) -> float:
        """Place a value across."""
        whole = log10(self.last / self.first) or 1.0
        return _LEFT + (_WIDE - _LEFT - _RIGHT) * log10(at / self.first) / whole

    def y(self, value: float) -> float:
        """Place a value up."""
        return _HIGH - _BOTTOM - (_HIGH - _BOTTOM - _TOP) * value / self.top


def _round_up(value: float) -> float:
    """Find a round number above."""
    step = 10.0 ** (ceil(log10(value)) - 1)
    return ceil(value / step) * step


def _short(number: float) -> str:
    """Write a number so that many of them fit."""
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
