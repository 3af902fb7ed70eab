"""What takes the place of a part of the product when a rule is removed; see ``mutants``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

from sqlalchemy import Update, delete, insert, select, update
from sqlalchemy.sql.functions import coalesce

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import Outcome, Rejected
from gateway.core import errors
from gateway.core.calls import Caller
from gateway.core.clocks import Deadline
from gateway.core.errors import ServiceError
from gateway.core.storage import StoreUnavailable
from gateway.payouts import create as operation
from gateway.payouts.create import PayoutGuards, Payouts
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.followup import FollowUp
from gateway.payouts.model import Attempt, Change, Payout, PayoutRequest, PayoutState
from gateway.payouts.rows import attempt_row, key_columns, payout_row, restored_payout
from gateway.payouts.schedule import DueClaim
from gateway.payouts.store import StoredPayouts
from gateway.payouts.writes import (
    _CLAIMED,
    PayoutWriter,
    Write,
    WriteResult,
    _step_values,
    write_batch,
)
from gateway.store.kernel.database import Database
from gateway.store.kernel.prepared import BulkParameters, Key
from gateway.store.tables.core import attempts
from gateway.store.tables.core import payouts as table
from tests.proofs.simulation.adapter import SimulatedAdapter
from tests.proofs.simulation.bank import SAID

_STEP = Change(
    account_id="",
    reference="",
    attempt=1,
    before=frozenset({PayoutState.SENDING}),
    after=PayoutState.PAID,
    at=datetime(2026, 1, 1, tzinfo=UTC),
)


async def send_before_storing(self: Payouts, caller: Caller, request: PayoutRequest) -> Payout:
    found = await self.store.find(caller.account.id, request.reference)
    if found is not None:
        return await self._repeat(caller, request, found)
    bank = self._admit(caller.account, request)
    intent, attempt = self._intent(caller, request, bank)
    outcome = await self._ask(intent, bank, Deadline(self._clock() + 20, self._clock))
    await self._add(intent, attempt)
    return operation.answer(intent, outcome, recorded=await self._record(intent, outcome))


async def read_then_insert(
    self: StoredPayouts, payout: Payout, attempt: Attempt | None, *, limited: bool = False
) -> Payout | None:
    assert not limited
    found = await self.find(payout.account_id, payout.reference)
    if found is not None:
        return found
    key = key_columns(payout.account_id, payout.reference)
    async with self._database.writing() as connection:
        for each in (attempts, table):
            own = (each.c[name] == value for name, value in key.items())
            await connection.execute(delete(each).where(*own))
        await connection.execute(insert(table), payout_row(payout))
        if attempt is not None:
            await connection.execute(insert(attempts), key | attempt_row(attempt))
    return None


def resending(*states: PayoutState) -> Callable[..., object]:
    """A retry that meets one of the states takes it for not sent."""
    original = Payouts._repeat

    async def repeat(
        self: Payouts, caller: Caller, request: PayoutRequest, found: Payout
    ) -> Payout:
        if found.state in states and found.fingerprint == request.fingerprint():
            await self.store.record(unsent(found))
            found = await self.store.find(found.account_id, found.reference) or found
        return await original(self, caller, request, found)

    return repeat


def unsent(found: Payout) -> Change:
    return Change(
        account_id=found.account_id,
        reference=found.reference,
        attempt=found.attempt,
        before=frozenset({found.state}),
        after=PayoutState.NOT_SENT,
        at=found.updated_at,
    )


def absent_at_once() -> Callable[..., object]:
    original = FollowUp._absent
    ages = timedelta(days=100)
    return lambda self, payout, bank, asked_at: original(self, payout, bank, asked_at + ages)


def read_with(**instead: Callable[..., Outcome]) -> Callable[..., object]:
    original = SimulatedAdapter.read

    def read(self: SimulatedAdapter, said: str, order: PayoutOrder) -> Outcome:
        return instead[said](self, order) if said in instead else original(self, said, order)

    return read


def refusal(*_any: object) -> Outcome:
    return Rejected(evidence=SAID, failure=FailureCode.REJECTED)


def told_unrecorded() -> Callable[..., object]:
    original = operation.answer

    def answer(payout: Payout, outcome: Outcome, **_recorded: bool) -> Payout:
        return original(payout, outcome, recorded=True)

    return answer


@cache
def blind_steps(bulk: BulkParameters) -> Update:
    """Steps are written whatever the payouts' states."""
    key = ("account_id", "reference_sha256")
    new = [name for name in _step_values(_STEP) if name.startswith("new_")]
    given = bulk.parameters(
        {f"was_{name}": table.c[name].type for name in key}
        | {name: table.c[name.removeprefix("new_")].type for name in new}
    )
    columns = {name.removeprefix("new_"): given[name] for name in new}
    anywhere = update(table).where(*(table.c[name] == given[f"was_{name}"] for name in key))
    return anywhere.values({name: coalesce(each, table.c[name]) for name, each in columns.items()})


async def told_though_lost(
    self: PayoutWriter, writes: Sequence[Write]
) -> Sequence[WriteResult | None]:
    """Whatever the commit's result, all are answered as if it had succeeded."""
    told: Sequence[WriteResult | None] | None = None
    try:
        async with self._database.writing() as connection:
            told = await write_batch(self._database, connection, writes)
    except StoreUnavailable:
        if told is None:
            raise
    assert told is not None
    return told


async def all_won(_database: Database, _connection: object, keys: Sequence[Key]) -> object:
    return dict.fromkeys(keys, True)


async def never_seen(_payout: Payout, _bank: object) -> None:
    return None


def day_ends_unasked() -> Callable[..., object]:
    original = FollowUp._end_of_day
    return lambda self, payout: original(replace(self, look_first=False), payout)


async def day_goes_on(self: FollowUp, payout: Payout) -> Payout:
    return replace(payout, date=self.now().date())


def date_first() -> Callable[..., object]:
    original = Payouts.create

    async def create(self: Payouts, caller: Caller, request: PayoutRequest) -> Payout:
        if request.date != self.config.now().date():
            raise ServiceError(errors.PAYOUT_DATE_NOT_TODAY, "not_today")
        return await original(self, caller, request)

    return create


def absent_and_again() -> Callable[..., object]:
    original = FollowUp._absent

    def absent(self: FollowUp, *args: object) -> Change | None:
        change = original(self, *args)  # type: ignore[arg-type]
        if change is None:
            return None
        return replace(change, after=PayoutState.NOT_SENT, failure=None)

    return absent


def look_and_send() -> Callable[..., object]:
    original = FollowUp._ask

    async def ask(self: FollowUp, payout: Payout, *rest: object) -> Payout:
        found = await original(self, payout, *rest)  # type: ignore[arg-type]
        bank = self.banks.of(rest[0])  # type: ignore[arg-type]
        if found.state is PayoutState.UNKNOWN and bank is not None:
            far = Deadline(1e9, lambda: 0.0)
            await bank.adapter.create_payout(bank.account, found.order(), far)
        return found

    return ask


async def forgotten(_self: StoredPayouts, _payout: Payout, _found: object) -> int:
    return 0


async def nobody_new(_self: PayoutGuards, _caller: Caller, _payout: Payout) -> None:
    return None


def due_at_once(payout: Payout) -> dict[str, object]:
    return payout_row(payout) | {"next_check_at": payout.created_at}


async def due_to_everybody(self: StoredFollowUps, wanted: DueClaim) -> Sequence[Payout]:
    """Every node takes what is due."""
    due = table.c.next_check_at <= wanted.at
    return [restored_payout(row) for row in await self._database.rows(select(table).where(due))]


@cache
def blind_claims(bulk: BulkParameters) -> Update:
    key = ("account_id", "reference_sha256")
    given = bulk.parameters(
        {f"was_{name}": table.c[name].type for name in (*key, "attempt", "state")}
        | {f"new_{name}": table.c[name].type for name in _CLAIMED}
    )
    anywhere = update(table).where(*(table.c[name] == given[f"was_{name}"] for name in key))
    return anywhere.values({name: given[f"new_{name}"] for name in _CLAIMED})


async def no_attempt_kept(_self: object, _writes: object) -> None:
    return None
