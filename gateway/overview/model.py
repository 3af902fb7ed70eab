"""
Figures of payouts by hour, and items that need attention.

Hours are UTC hours. A local day of Brazil is 24 of them, whole, so days are made of hours.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final, Literal
from zoneinfo import ZoneInfo

from msgspec import UNSET, Meta, Struct, UnsetType

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import Sum
from gateway.core.schemas import OptionalMoment, PresentMoment, inline
from gateway.payouts.model import Certainty, PayoutState

HOUR: Final = timedelta(hours=1)
SETTLED_WITHIN_S: Final = (
    *(0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 60.0),
    *(120.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0),
)
"""Upper bounds in seconds of how long payouts took to settle; most take a few seconds."""
ENDS_SOON: Final = timedelta(days=30)
"""A bank takes up to two weeks to issue a certificate; a month leaves time for a mistake."""
_ZONE: Final = ZoneInfo("America/Sao_Paulo")


class Period(StrEnum):
    """Local days up to now: today alone, or with those before it."""

    TODAY = "today"
    WEEK = "7d"
    MONTH = "30d"


_DAYS: Final = {Period.TODAY: 1, Period.WEEK: 7, Period.MONTH: 30}


@dataclass(frozen=True, slots=True)
class Span:
    """Whole hours from ``since``; ``until`` is not included."""

    since: datetime
    until: datetime


def span_of(period: Period, now: datetime) -> Span:
    """Return the local days of a period, from the first one's midnight to the end of this hour."""
    midnight = now.astimezone(_ZONE).replace(hour=0, minute=0, second=0, microsecond=0)
    first = midnight - timedelta(days=_DAYS[period] - 1)
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    return Span(first.astimezone(now.tzinfo), this_hour + HOUR)


def local_midnight(at: datetime) -> datetime:
    """Return the instant at which the local day of an instant began."""
    midnight = at.astimezone(_ZONE).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight.astimezone(at.tzinfo)


@dataclass(frozen=True, slots=True)
class HourFigures:
    """
    Payouts created in one hour, of one state, settled within the same bound.

    Attributes:
        hour: The beginning of the hour, UTC.
        settled_within: For paid payouts, the index in ``SETTLED_WITHIN_S`` of the bound that
            their duration is within; the length of that list for slower payouts, -1 if unknown.
        value: The ordered sum.
        moved: The sum moved by the bank, which differs where two people found another amount.
    """

    hour: datetime
    state: PayoutState
    certainty: Certainty
    settled_within: int
    count: int
    value: Sum
    moved: Sum


class Need(StrEnum):
    """Kinds of attention, the most urgent first."""

    FOREIGN_DEBIT = "foreign_debit"
    UNRESOLVED = "unresolved"
    REVIEW = "review"
    HELD = "held"
    COLLECT = "collect"
    APPROVAL = "approval"
    ORDER_ENDS = "order_ends"
    STOP = "stop"
    CERTIFICATE = "certificate"
    CREDENTIAL = "credential"
    NO_LIMITS = "no_limits"
    BREAKER = "breaker"
    CALLBACKS_MISSING = "callbacks_missing"
    ORDER_DECIDED = "order_decided"


State = Annotated[PayoutState, inline(PayoutState)]


class Attention(Struct, frozen=True, kw_only=True):
    """
    Work for people.

    ``subject`` is a provider, or the subject of a stop (``account:`` and its id). Of orders it is
    the id of one, or the outcome of your own and its id (``approved:`` and its id). It is empty
    where it is about all. ``count`` is of payouts, orders, stops, accounts, credentials or debits,
    and ``value`` their sum. ``at`` is when the oldest began, or when the first one ends.
    """

    need: Annotated[Need, inline(Need), meaning("What kind of attention it needs.")]
    subject: Annotated[
        str, Meta(description="What it is about: the kind and the id.", examples=["sandbox"])
    ]
    count: fields.Count
    value: Sum
    at: OptionalMoment


class StateFigures(Struct, frozen=True, kw_only=True):
    """The payouts in one state."""

    state: Annotated[State, Meta(description="The state that it is in.", examples=["paid"])]
    count: fields.Count
    value: Sum


class ProvenFigures(StateFigures, frozen=True, kw_only=True):
    """The payouts in one state of which the same is proven."""

    certainty: Annotated[
        Certainty,
        inline(Certainty),
        meaning("What is certain about the money.", "settled"),
    ]


class StepFigures(StateFigures, frozen=True, kw_only=True):
    """Those that were created in the hour or day from ``at`` on; a step without any is absent."""

    at: PresentMoment


class Overview(Struct, frozen=True, kw_only=True):
    """
    Payouts in local days up to now, and work for people, most urgent first.

    ``attention`` is your work and your own orders: secrets to collect,
    orders that expire within the hour, and orders decided in the last day. ``others`` is
    other people's work.

    ``states`` and ``steps`` count settled payouts, with or without returns: ``returned_count``
    says of how many payouts money came back, and ``returned`` how much. ``proven`` are ``states``
    apart by certainty.
    ``median_to_settle_s`` is interpolated, and absent while nothing has settled. ``steps`` are
    hours, or days in a period of thirty.
    """

    period: Annotated[Period, inline(Period), meaning("Which period the figures are of.")]
    since: PresentMoment
    until: PresentMoment
    count: fields.Count
    value: Sum
    settled: Annotated[int, meaning("Payouts settled, and their sum.")]
    returned_count: Annotated[int, meaning("Payouts whose money came back.")]
    returned: Sum
    median_to_settle_s: Annotated[
        float | UnsetType, meaning("Seconds from order to settlement of half of the payouts.")
    ] = UNSET
    states: Annotated[list[StateFigures], meaning("Number and sum by state.")]
    proven: Annotated[
        list[ProvenFigures],
        meaning("The payouts by state, apart by what is certain about the money."),
    ]
    step: Annotated[Literal["hour", "day"], meaning("Length of a step of the figures.")]
    steps: Annotated[list[StepFigures], meaning("The figures step by step, oldest first.")]
    attention: Annotated[list[Attention], meaning("What needs somebody, most urgent first.")]
    others: Annotated[list[Attention], meaning("What waits for other people.")]
