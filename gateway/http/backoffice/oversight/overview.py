"""The overview: figures of payouts by hour, and what needs a person, most urgent first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, NotRequired, TypedDict, TypeVar

from msgspec import Meta

from gateway.domain.backoffice.overview import (
    HourFigures,
    Need,
    Period,
    Standing,
    local_midnight,
)
from gateway.domain.backoffice.readings import AccountReading
from gateway.domain.identity.rights import Area
from gateway.domain.kernel.money import ZERO, Sum, sum_of
from gateway.domain.payouts.payouts import PayoutState
from gateway.http.backoffice.callers import BackOfficeCaller, in_scope
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.backoffice.oversight.providers import Health
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, instant
from gateway.http.resources.documents import Instant, Total
from gateway.http.route import Row, route
from gateway.operations.backoffice.figures.overview import (
    Figures,
    Overview,
    Overviews,
    by_urgency,
)
from gateway.operations.backoffice.figures.readings import READ_AT_MOST, Readings
from policies.validation.backoffice import inputs
from policies.validation.inputs import NOTHING

State = Annotated[
    Literal["sending", "unknown", "not_sent", "accepted", "paid", "rejected", "failed"],
    Meta(examples=["paid"]),
]
_CLOSED: Final = "closed"
Key = TypeVar("Key")


class StateFigures(TypedDict):
    """The payouts in one state."""

    state: State
    count: int
    value: Amount


class StepFigures(StateFigures):
    """Those that were created in the hour or day from ``at`` on; a step without any is absent."""

    at: Instant


class AttentionDocument(TypedDict):
    """
    What needs a person.

    ``subject`` is a provider, or what is stopped (``account:`` and its id); empty where it is
    about all. ``at`` is when the oldest began, or when the first one ends.
    """

    need: Literal[
        "unresolved",
        "review",
        "approval",
        "stop",
        "certificate",
        "breaker",
        "callbacks_missing",
    ]
    subject: Annotated[str, Meta(examples=["sandbox"])]
    count: int
    value: Amount
    at: Instant


class OverviewDocument(TypedDict):
    """
    How payouts went in local days up to now, and what needs a person, most urgent first.

    ``states`` and ``steps`` count what settled, whatever came back of it since: ``returned_count``
    says of how many payouts money came back, and ``returned`` how much.
    ``median_to_settle_s`` is interpolated, and absent while nothing has settled. ``steps`` are
    hours, or days in a period of thirty.
    """

    period: Literal["today", "7d", "30d"]
    since: Instant
    until: Instant
    count: int
    value: Amount
    settled: int
    returned_count: int
    returned: Amount
    median_to_settle_s: NotRequired[float]
    states: list[StateFigures]
    step: Literal["hour", "day"]
    steps: list[StepFigures]
    attention: list[AttentionDocument]


class ReadingDocument(TypedDict):
    """
    What an account held when its bank answered last.

    ``balance`` is absent while it was never read, ``blocked`` also where the bank does not tell.
    """

    account_id: str
    account_name: Annotated[str, Meta(examples=["Matriz"])]
    provider: str
    balance: NotRequired[Amount]
    blocked: NotRequired[Amount]
    read_at: Instant


class ReadingList(TypedDict):
    """
    The first accounts that you may see, oldest first, with what each held.

    Nothing waits for a bank: what is older than a minute is asked anew while this is answered.
    """

    data: list[ReadingDocument]
    meta: Total


def overview_rows(
    does: Figures, providers: Callable[[], Sequence[Health]]
) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return _overview_row(does.overviews, providers), _reading_row(does.readings)


def _reading_row(does: Readings) -> Row[BackOfficeCaller]:
    return route(
        "GET",
        "/readings",
        name="backoffice.readings",
        summary=f"Read what up to {READ_AT_MOST} accounts held when their banks answered last.",
        needs=reading(Area.BALANCE),
        limits=NO_BODY,
        takes=NOTHING,
        runs=in_scope(does.look),
        shows=readings,
        fails=STORE_FAILS,
        raises=(),
    )


def readings(found: Sequence[AccountReading], _who: BackOfficeCaller) -> ReadingList:
    """Show what accounts held when their banks answered last."""
    return {"data": [balance_reading(each) for each in found], "meta": {"total": len(found)}}


def balance_reading(found: AccountReading) -> ReadingDocument:
    """Show what an account held when its bank answered last."""
    document: ReadingDocument = {
        "account_id": found.account_id,
        "account_name": found.account_name,
        "provider": found.provider,
        "read_at": instant(found.read_at),
    }
    if found.balance is not None:
        document["balance"] = found.balance
    if found.blocked is not None:
        document["blocked"] = found.blocked
    return document


def _overview_row(
    does: Overviews, providers: Callable[[], Sequence[Health]]
) -> Row[BackOfficeCaller]:
    """Return the row; ``providers`` says what is known of each, which belong to no company."""

    async def read(who: BackOfficeCaller, period: Period) -> Overview:
        return await does.read(who.scope, period)

    def shown(found: Overview, _who: BackOfficeCaller) -> OverviewDocument:
        return overview(found, providers())

    return route(
        "GET",
        "/overview",
        name="backoffice.overview",
        summary="Read how payouts went by hour and state, and what needs a person.",
        needs=reading(Area.PAYOUT),
        limits=NO_BODY,
        takes=inputs.filters(_period, inputs.word_filter("period", Period)),
        runs=read,
        shows=shown,
        fails=STORE_FAILS,
        raises=(),
    )


def overview(found: Overview, providers: Sequence[Health]) -> OverviewDocument:
    """Show an overview, with what is known of the banks."""
    of_days = found.period is Period.MONTH
    by_state = _added((each.state, each) for each in found.hours)
    document: OverviewDocument = {
        "period": found.period.value,
        "since": instant(found.span.since),
        "until": instant(found.span.until),
        "count": sum(each.count for each in found.hours),
        "value": sum_of(each.value for each in found.hours),
        "settled": by_state.get(PayoutState.PAID, (0, 0))[0],
        "returned_count": found.returned[0],
        "returned": found.returned[1],
        "states": [_figures(state, *by_state[state]) for state in PayoutState if state in by_state],
        "step": "day" if of_days else "hour",
        "steps": _steps(found.hours, local_midnight if of_days else _same),
        "attention": [_attention(each) for each in attention(found, providers)],
    }
    if found.median_s is not None:
        document["median_to_settle_s"] = found.median_s
    return document


def attention(found: Overview, providers: Sequence[Health]) -> Sequence[Standing]:
    """Return what needs a person: what the store knows, and breakers that are not closed."""
    breakers = (
        Standing(Need.BREAKER, f"{each.name}:{kind}", 1, ZERO, None)
        for each in providers
        for kind, state in sorted(each.breakers.items())
        if state != _CLOSED
    )
    return by_urgency([*found.attention, *breakers])


def _period(given: inputs.Filters) -> Period:
    return given.read("period", Period) or Period.TODAY


def _same(at: datetime) -> datetime:
    return at


def _steps(
    hours: Sequence[HourFigures], step_of: Callable[[datetime], datetime]
) -> list[StepFigures]:
    """Add hours up into steps, in order."""
    order = {state: place for place, state in enumerate(PayoutState)}
    added = _added(((step_of(each.hour), order[each.state], each.state), each) for each in hours)
    return [
        {"at": instant(at.astimezone(UTC)), **_figures(state, *added[at, place, state])}
        for at, place, state in sorted(added)
    ]


def _added(figures: Iterable[tuple[Key, HourFigures]]) -> Mapping[Key, tuple[int, int]]:
    """Add up counts and centavos by key."""
    added: dict[Key, tuple[int, int]] = {}
    for key, each in figures:
        count, centavos = added.get(key, (0, 0))
        added[key] = count + each.count, centavos + each.value.centavos
    return added


def _figures(state: PayoutState, count: int, centavos: int) -> StateFigures:
    return {"state": state.value, "count": count, "value": Sum(centavos)}


def _attention(found: Standing) -> AttentionDocument:
    return {
        "need": found.need.value,
        "subject": found.subject,
        "count": found.count,
        "value": found.value,
        "at": instant(found.at),
    }
