"""The sandbox bank's tools: pay a charge, top up, fail, move the clock; not in production."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, TypedDict, TypeVar, cast

import msgspec
from msgspec import Meta

from gateway.domain.identity.rights import Area
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.money import Money
from gateway.domain.requests.schemas import Text
from gateway.http.backoffice.callers import REFUSED, BackOfficeCaller, explained
from gateway.http.backoffice.cells import NO_BODY, WITH_BODY, reading, writing
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount
from gateway.http.route import Row, route
from gateway.operations.backoffice.money.sandbox_tools import (
    BankOperation,
    FaultKind,
    PaidCharge,
    SandboxState,
    SandboxTools,
    WaitingFault,
)
from policies.validation.bodies import body
from policies.validation.inputs import NOTHING

Count = Annotated[int, Meta(ge=1, le=1000, description="How many calls; seconds for `refuse`.")]
DAY_S = 24 * 3600


class PayBody(msgspec.Struct):
    """A charge to be paid; one of an open amount needs a value."""

    account_id: Text
    reference: Annotated[str, Meta(min_length=1, max_length=1024)]
    value: Money | None = None


class TopUpBody(msgspec.Struct):
    """Money to be paid in."""

    account_id: Text
    value: Money


class FaultBody(msgspec.Struct):
    """What the bank is to do wrong, and how often: every fault ends by itself."""

    operation: BankOperation
    fault: FaultKind
    count: Count = 1
    status: Annotated[int, Meta(ge=400, le=599)] = 500


class ClockBody(msgspec.Struct):
    """How far the bank's clock is ahead of ours, at most thirty days."""

    offset_s: Annotated[int, Meta(ge=0, le=30 * DAY_S)]


class PaidDocument(TypedDict):
    """The payment of a charge."""

    e2e_id: str
    value: Amount


class ToppedUpDocument(TypedDict):
    """The balance after a top-up."""

    balance: Amount


class FaultDocument(TypedDict):
    """A fault that waits; ``count`` is how many calls it still affects."""

    operation: BankOperation
    fault: FaultKind
    status: int
    count: int


class SandboxDocument(TypedDict):
    """How the sandbox bank stands."""

    offset_s: int
    faults: list[FaultDocument]


Taken = TypeVar("Taken")
Result = TypeVar("Result")


def _runs(
    run: Callable[[CompanyScope, Taken], Awaitable[Result]],
) -> Callable[[BackOfficeCaller, Taken], Awaitable[Result]]:
    """Run a tool within the caller's scope; what the bank refuses is told in its words."""

    async def runs(who: BackOfficeCaller, taken: Taken) -> Result:
        with explained():
            return await run(who.scope, taken)

    return runs


def sandbox_rows(tools: SandboxTools) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return (*_money_rows(tools), *_bank_rows(tools))


def _money_rows(tools: SandboxTools) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows that move the sandbox's money."""

    async def pay(scope: CompanyScope, asked: PayBody) -> PaidCharge:
        return await tools.pay(scope, asked.account_id, asked.reference, asked.value)

    async def top_up(scope: CompanyScope, asked: TopUpBody) -> Money:
        return await tools.top_up(scope, asked.account_id, asked.value)

    return (
        route(
            "POST",
            "/sandbox/payments",
            name="backoffice.sandbox_pay",
            summary="Pay a charge, as somebody outside would.",
            needs=writing(Area.QRCODE),
            limits=WITH_BODY,
            takes=body(PayBody),
            runs=_runs(pay),
            shows=_paid,
            fails=STORE_FAILS,
            raises=REFUSED,
        ),
        route(
            "POST",
            "/sandbox/top-ups",
            name="backoffice.sandbox_top_up",
            summary="Pay money into an account.",
            needs=writing(Area.QRCODE),
            limits=WITH_BODY,
            takes=body(TopUpBody),
            runs=_runs(top_up),
            shows=_topped_up,
            fails=STORE_FAILS,
            raises=REFUSED,
        ),
    )


def _bank_rows(tools: SandboxTools) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows about the bank as a whole."""
    return (
        route(
            "GET",
            "/sandbox",
            name="backoffice.sandbox",
            summary="Read how the sandbox bank stands: its clock, the faults that wait.",
            needs=reading(Area.QRCODE),
            limits=NO_BODY,
            takes=NOTHING,
            runs=_runs(tools.state),
            shows=_state,
            fails=STORE_FAILS,
            raises=REFUSED,
        ),
        *_fault_rows(tools),
    )


def _fault_rows(tools: SandboxTools) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows that have the bank fail."""

    async def inject(scope: CompanyScope, asked: FaultBody) -> SandboxState:
        wanted = {name: getattr(asked, name) for name in asked.__struct_fields__}
        return await tools.inject(scope, WaitingFault(**wanted))

    return (
        route(
            "POST",
            "/sandbox/faults",
            name="backoffice.sandbox_fault",
            summary="Have the bank's next calls fail.",
            needs=writing(Area.STOP),
            limits=WITH_BODY,
            takes=body(FaultBody),
            runs=_runs(inject),
            shows=_state,
            fails=STORE_FAILS,
            raises=REFUSED,
        ),
        *_quiet_rows(tools),
    )


def _quiet_rows(tools: SandboxTools) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows that end every fault, and move the clock."""

    async def move(scope: CompanyScope, asked: ClockBody) -> SandboxState:
        return await tools.move_clock(scope, asked.offset_s)

    return (
        route(
            "DELETE",
            "/sandbox/faults",
            name="backoffice.sandbox_faults_clear",
            summary="Forget every fault.",
            needs=writing(Area.STOP),
            limits=NO_BODY,
            takes=NOTHING,
            runs=_runs(tools.clear),
            shows=_state,
            fails=STORE_FAILS,
            raises=REFUSED,
        ),
        route(
            "POST",
            "/sandbox/clock",
            name="backoffice.sandbox_clock",
            summary="Set how far the bank's clock is ahead.",
            needs=writing(Area.STOP),
            limits=WITH_BODY,
            takes=body(ClockBody),
            runs=_runs(move),
            shows=_state,
            fails=STORE_FAILS,
            raises=REFUSED,
        ),
    )


def _paid(found: PaidCharge, _who: BackOfficeCaller) -> PaidDocument:
    return {"e2e_id": found.e2e_id, "value": found.value}


def _topped_up(found: Money, _who: BackOfficeCaller) -> ToppedUpDocument:
    return {"balance": found}


def _state(found: SandboxState, _who: BackOfficeCaller) -> SandboxDocument:
    faults: list[FaultDocument] = [
        {
            "operation": cast("BankOperation", each.operation),
            "fault": cast("FaultKind", each.fault),
            "status": each.status,
            "count": each.count,
        }
        for each in found.faults
    ]
    return {"offset_s": found.offset_s, "faults": faults}
