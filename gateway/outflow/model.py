"""Trips of the outflow guard, and what a person sees of a subject: its envelope and its day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from gateway.core import fields
from gateway.core.company_scope import StopScope
from gateway.core.fields import meaning
from gateway.core.schemas import Moment
from gateway.outflow.envelope import Excess, Measure
from gateway.stops.model import Subject

SCOPES: Final = (StopScope.CREDENTIAL, StopScope.ACCOUNT, StopScope.COMPANY)
"""What the guard judges, the narrowest first."""


class Mode(StrEnum):
    """What the guard does."""

    OFF = "off"
    WATCH = "watch"
    STOP = "stop"


Measured = Annotated[
    int, meaning("What was measured: a number of payouts, or centavos where it is money.", 31)
]
Bound = Annotated[int, meaning("The most that is inside the envelope, in the same unit.", 30)]
WindowSeconds = Annotated[int, meaning("The window in seconds.", 300)]


class Trip(Struct, frozen=True, kw_only=True):
    """
    A subject that was outside its envelope.

    Attributes:
        above: Of large payouts: the amount from which they count, in centavos; else 0.
        at: When it was found outside.
        seen_at: When it was last seen outside.
        stop_id: The stop that the guard made; None where it watches.
    """

    id: fields.Id
    company_id: fields.Id
    scope: StopScope
    subject: Subject
    measure: Measure
    window_s: WindowSeconds
    value: Measured
    bound: Bound
    above: Annotated[
        int, meaning("Of large payouts: the centavos from which they count; else 0.", 0)
    ]
    at: Moment
    seen_at: Moment
    stop_id: Annotated[
        str | None, meaning("The stop that the guard made; null where it watches.", None)
    ]

    def seen_again(self, at: datetime) -> Trip:
        """Return the trip, last seen at an instant."""
        return replace(self, seen_at=at)


class WindowFigures(Struct, frozen=True, kw_only=True):
    """The payouts of a window, and the most that is inside the envelope; money in centavos."""

    window_s: WindowSeconds
    payouts: Measured
    payouts_bound: Bound
    centavos: Measured
    centavos_bound: Bound
    new_payees_payouts: Measured
    new_payees_payouts_bound: Bound
    new_payees_centavos: Measured
    new_payees_centavos_bound: Bound


class HourOfDay(Struct, frozen=True, kw_only=True):
    """An hour of today: what was paid out, and how much of it to payees never paid before."""

    hour: Moment
    payouts: Measured
    centavos: Measured
    new_payees_payouts: Measured
    new_payees_centavos: Measured


class SubjectOutflow(Struct, frozen=True, kw_only=True):
    """
    A credential, account or company beside its envelope.

    Attributes:
        normal_day: The money of its middle day in six weeks, in centavos.
        established: Whether the history alone decides; a younger subject has the floor too.
        today: The hours of today in São Paulo that had payouts.
    """

    scope: StopScope
    subject: Subject
    mode: Annotated[Mode, Meta(description="What the guard does here.")]
    established: Annotated[
        bool,
        Meta(description="Whether the history alone makes the envelope; else there is a floor."),
    ]
    normal_day: Annotated[
        int, meaning("The money of its middle day in six weeks, in centavos.", 1_250_000)
    ]
    windows: Annotated[
        Sequence[WindowFigures], Meta(description="The last five minutes and the last hour.")
    ]
    today: Annotated[
        Sequence[HourOfDay],
        Meta(description="The hours of today in São Paulo that had payouts."),
    ]
    trips: Annotated[
        Sequence[Trip], Meta(description="When it was outside, newest first; at most 20.")
    ]


def told(excess: Excess) -> str:
    """Return an excess as the reason of a stop: what was measured, and what is usual at most."""
    minutes = excess.window_s // 60
    value, bound = str(excess.value), str(excess.bound)
    if excess.measure in {Measure.MONEY, Measure.NEW_MONEY}:
        value, bound = _reais(excess.value), _reais(excess.bound)
    what = _WORDS[excess.measure].format(value=value, above=_reais(excess.above))
    return f"outflow guard: {what} in {minutes} minutes, at most {bound} inside the envelope"


_WORDS: Final = {
    Measure.PAYOUTS: "{value} payouts",
    Measure.MONEY: "{value} paid out",
    Measure.NEW_PAYOUTS: "{value} payouts to payees never paid before",
    Measure.NEW_MONEY: "{value} to payees never paid before",
    Measure.LARGE: "{value} payouts of {above} or more to payees never paid before",
}


def _reais(centavos: int) -> str:
    return f"R$ {centavos // 100:,}.{centavos % 100:02}"
