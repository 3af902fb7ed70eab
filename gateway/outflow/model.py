"""Trips of the outflow guard, and a subject's envelope and day for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from gateway.core import fields
from gateway.core.company_scope import StopScope
from gateway.core.fields import meaning
from gateway.core.money import Sum
from gateway.core.schemas import Moment
from gateway.outflow.envelope import Excess, Measure
from gateway.stops.model import Subject

SCOPES: Final = (StopScope.CREDENTIAL, StopScope.ACCOUNT, StopScope.COMPANY)
"""What the guard judges, the narrowest first."""


class Mode(StrEnum):
    """The guard's reaction."""

    OFF = "off"
    WATCH = "watch"
    STOP = "stop"


Payouts = Annotated[int, meaning("Payouts.", 31)]
PayoutsBound = Annotated[int, meaning("The most payouts that are inside the envelope.", 30)]
Paid = Annotated[Sum, Meta(description="Money paid out.")]
PaidBound = Annotated[Sum, Meta(description="The most money that is inside the envelope.")]
_OF_MONEY: Final = frozenset({Measure.MONEY, Measure.NEW_MONEY})
WindowSeconds = Annotated[int, meaning("The window in seconds.", 300)]


class TripDocument(Struct, frozen=True, kw_only=True):
    """A credential, account or company that was outside its envelope."""

    id: fields.Id
    company_id: fields.Id
    scope: StopScope
    subject: Subject
    measure: Measure
    window_s: WindowSeconds
    payouts: Payouts | UnsetType = UNSET
    payouts_bound: PayoutsBound | UnsetType = UNSET
    money: Paid | UnsetType = UNSET
    money_bound: PaidBound | UnsetType = UNSET
    large_from: (
        Annotated[Sum, Meta(description="The amount from which payouts are large.")] | UnsetType
    ) = UNSET
    at: Moment
    seen_at: Moment
    stop_id: Annotated[
        str | None, meaning("The stop that the guard made; null where it watches.", None)
    ]


class Trip(Struct, frozen=True, kw_only=True):
    """
    A trip as stored.

    Attributes:
        value: The measured value: a number of payouts, or centavos where it is money.
        bound: The most that is inside the envelope, in the same unit.
        above: Of large payouts: the amount from which they count, in centavos; else 0.
        at: When it was found outside.
        seen_at: When it was last seen outside.
        stop_id: The stop that the guard made; None where it watches.
    """

    id: str
    company_id: str
    scope: StopScope
    subject: str
    measure: Measure
    window_s: int
    value: int
    bound: int
    above: int
    at: datetime
    seen_at: datetime
    stop_id: str | None

    def seen_again(self, at: datetime) -> Trip:
        """Return the trip, last seen at an instant."""
        return replace(self, seen_at=at)

    def document(self) -> TripDocument:
        """Return the trip with its figures in their units."""
        is_money = self.measure in _OF_MONEY
        return TripDocument(
            id=self.id,
            company_id=self.company_id,
            scope=self.scope,
            subject=self.subject,
            measure=self.measure,
            window_s=self.window_s,
            payouts=UNSET if is_money else self.value,
            payouts_bound=UNSET if is_money else self.bound,
            money=Sum(self.value) if is_money else UNSET,
            money_bound=Sum(self.bound) if is_money else UNSET,
            large_from=Sum(self.above) if self.above else UNSET,
            at=self.at,
            seen_at=self.seen_at,
            stop_id=self.stop_id,
        )


class WindowFigures(Struct, frozen=True, kw_only=True):
    """The payouts of a window, and the most that is inside the envelope."""

    window_s: WindowSeconds
    payouts: Payouts
    payouts_bound: PayoutsBound
    money: Paid
    money_bound: PaidBound
    new_payees_payouts: Payouts
    new_payees_payouts_bound: PayoutsBound
    new_payees_money: Paid
    new_payees_money_bound: PaidBound


class HourOfDay(Struct, frozen=True, kw_only=True):
    """An hour of today: the amount paid out, and the part of it to payees never paid before."""

    hour: Moment
    payouts: Payouts
    money: Paid
    new_payees_payouts: Payouts
    new_payees_money: Paid


class SubjectOutflow(Struct, frozen=True, kw_only=True):
    """A credential, account or company beside its envelope."""

    scope: StopScope
    subject: Subject
    mode: Annotated[Mode, Meta(description="What the guard does here.")]
    established: Annotated[
        bool,
        Meta(description="Whether the history alone makes the envelope; else there is a floor."),
    ]
    normal_day: Annotated[Sum, Meta(description="The money of its middle day in six weeks.")]
    windows: Annotated[
        Sequence[WindowFigures], Meta(description="The last five minutes and the last hour.")
    ]
    today: Annotated[
        Sequence[HourOfDay],
        Meta(description="The hours of today in São Paulo that had payouts."),
    ]
    trips: Annotated[
        Sequence[TripDocument], Meta(description="When it was outside, newest first; at most 20.")
    ]


def reason_of(excess: Excess) -> str:
    """Return the reason of a stop: the measured value and its limit."""
    minutes = excess.window_s // 60
    value, bound = str(excess.value), str(excess.bound)
    if excess.measure in _OF_MONEY:
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
