"""Payouts on a real store, a bank that answers as a test sets it, and a clock that stands still."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from types import SimpleNamespace
from typing import TypeVar

from gateway.app.build_payouts import build_payouts
from gateway.banks.port.capabilities import CONTRACT_CALLS, Capabilities, EntryField, Lookup, Repeat
from gateway.banks.port.charges import Charge, ChargePayment
from gateway.banks.port.payout_orders import FailureCode, PayoutMethod, PayoutOrder, PixDestination
from gateway.banks.port.pix_keys import PixKey, PixKeyType
from gateway.banks.port.providers import (
    Accepted,
    Bank,
    Evidence,
    NotFound,
    NotSent,
    Outcome,
    Page,
    Phase,
    PixReturn,
    ProviderAccount,
    Rejected,
    Settled,
    Unknown,
)
from gateway.banks.port.statements import Balance, Entry
from gateway.config.settings import Payouts as PayoutSettings
from gateway.config.settings import Settings
from gateway.core.account import Account, Environment
from gateway.core.audit import AuditEvent
from gateway.core.calls import Caller
from gateway.core.clocks import Deadline
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Search, Window
from gateway.net.common.runtime import Failpoint
from gateway.payouts.model import (
    Attempt,
    Change,
    FirstPayee,
    ListedPayout,
    Payout,
    PayoutRequest,
    PayoutState,
    Precedents,
    provider_key,
)
from gateway.payouts.store import StoredPayouts
from gateway.refunds.refunding import StopsInForce
from gateway.stops.model import Stop
from gateway.telemetry.ports import Event
from tests.world.kernel import Witness, kernel_on
from tests.world.people import ACCOUNT, account, caller
from tests.world.standing import TODAY, Clock
from tests.world.stores.samples import held

Done = TypeVar("Done")

HELD = PayoutState.HELD
SENDING, UNKNOWN, NOT_SENT = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.NOT_SENT
ACCEPTED, PAID = PayoutState.ACCEPTED, PayoutState.PAID
REJECTED, FAILED = PayoutState.REJECTED, PayoutState.FAILED

ANSWERED = Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="answered", http_status=200)
REFUSED_HERE = Evidence(phase=Phase.CONNECTING, bytes_left=False, reason="refused")
SILENCE = Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")

VALUE = Money(1050)
IS_ACCEPTED = Accepted(evidence=ANSWERED, provider_id="p-1", e2e_id="E1")
IS_SETTLED = Settled(evidence=ANSWERED, value=VALUE, provider_id="p-1", e2e_id="E1")
IS_REJECTED = Rejected(evidence=ANSWERED, failure=FailureCode.INSUFFICIENT_FUNDS)
IS_FORBIDDEN = Rejected(evidence=ANSWERED, failure=FailureCode.LIMIT_EXCEEDED, forbidden=True)
IS_NOT_SENT = NotSent(REFUSED_HERE)
IS_UNKNOWN = Unknown(SILENCE)

SETTINGS = Settings(payouts=PayoutSettings(similar_within_s=0))
"""Payouts may be alike."""

QUIET = timedelta(minutes=10)
CAREFUL = Capabilities(
    calls=frozenset(CONTRACT_CALLS),
    destinations=frozenset(PayoutMethod),
    repeat=Repeat.SAME_ANSWER,
    lookup=frozenset(Lookup),
    absent_after=QUIET,
    entry_fields=frozenset(EntryField),
)

OK = "200"
UNSENT, DOUBT = "502 SVC.ACC.005", "502 SVC.PIX.010"
BAD, FORBIDDEN = "400 SVC.PIX.010", "403 SVC.PIX.010"
NOT_TODAY, NO_STORE = "400 SVC.VAL.008", "500"

PIX = PixDestination(
    name="Maria", tax_number="52998224725", key_type=PixKeyType.EMAIL, key="maria@example.com"
)


def asking(reference: str = "order-1", *, value: Money = VALUE, day: date = TODAY) -> PayoutRequest:
    """A payout request, checked."""
    return PayoutRequest(
        reference=reference,
        method=PayoutMethod.PIX,
        value=value,
        date=day,
        description="pão",
        destination=PIX,
        destination_sent={"tax_number": "529.982.247-25"},
    )


@dataclass
class ScriptedBank:
    """
    A provider adapter that answers what a test says.

    Attributes:
        says: Answers to payouts, in turn; the last one stays.
        knows: The answer to look-ups.
        gate: Closed, the bank hangs; it has been asked by then.
        on_order: Called with each order before it is answered.
    """

    says: list[Outcome | Exception] = field(default_factory=lambda: [IS_ACCEPTED])
    knows: Outcome | Exception = field(default_factory=lambda: NotFound("absent"))
    capabilities: Capabilities = CAREFUL
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    orders: list[PayoutOrder] = field(default_factory=list)
    deadlines: list[float] = field(default_factory=list)
    lookups: list[tuple[str, str]] = field(default_factory=list)
    on_order: Callable[[PayoutOrder], Awaitable[None]] | None = None
    reads: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gate.set()

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def probe(self) -> None: ...

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        self.orders.append(order)
        self.deadlines.append(send_by.left())
        if self.on_order:
            await self.on_order(order)
        await self.gate.wait()
        return _told(self.says.pop(0) if len(self.says) > 1 else self.says[0])

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        self.lookups.append((provider_key, provider_id))
        await self.gate.wait()
        return _told(self.knows)

    async def get_balance(self, account: ProviderAccount) -> Balance:
        return _told(self.reads["balance"])  # type: ignore[arg-type, return-value]

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        pages = self.reads["statement"]
        return _told(pages[cursor])  # type: ignore[index, return-value]

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        return _told(self.reads["keys"])  # type: ignore[arg-type, return-value]

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        return _told(self.reads[key_id])  # type: ignore[arg-type, return-value]

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        return _told(self.reads[reference])  # type: ignore[arg-type, return-value]

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        return _told(self.reads[reference])  # type: ignore[arg-type, return-value]


def _told(answer: Outcome | Exception) -> Outcome:
    if isinstance(answer, Exception):
        raise answer
    return answer


@dataclass
class OneBank:
    """Every account's bank; None for accounts without one."""

    adapter: ScriptedBank
    name: str = "sandbox"
    read_only: bool = False
    is_there: bool = True

    def of(self, account: Account) -> Bank | None:
        if not self.is_there:
            return None
        known = ProviderAccount(account_id=account.id, provider_account=account.provider_account)
        return Bank(self.name, self.adapter, known, self.read_only)


@dataclass
class ShakyStore:
    """
    A payout store whose connection breaks before or after a call.

    Attributes:
        fails_before: Calls that are never done.
        fails_after: Calls that are done, though nobody is told.
        held: Calls that wait until they are let go.
        on_call: Told each call by name before it is done.
    """

    inner: StoredPayouts
    fails_before: set[str] = field(default_factory=set)
    fails_after: set[str] = field(default_factory=set)
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    on_call: Callable[[str], None] | None = None

    async def add(
        self,
        payout: Payout,
        attempt: Attempt | None,
        *,
        limited: bool = False,
        first: FirstPayee | None = None,
    ) -> Payout | None:
        return await self._do(
            "add", lambda: self.inner.add(payout, attempt, limited=limited, first=first)
        )

    async def claim(
        self,
        payout: Payout,
        attempt: Attempt,
        *,
        limited: bool = False,
        before: PayoutState = NOT_SENT,
    ) -> bool:
        return await self._do(
            "claim", lambda: self.inner.claim(payout, attempt, limited=limited, before=before)
        )

    async def has_paid(self, payout: Payout, first: FirstPayee) -> bool:
        return await self._do("has_paid", lambda: self.inner.has_paid(payout, first))

    async def release(self, payout: Payout, event: AuditEvent, by: str) -> bool:
        return await self._do("release", lambda: self.inner.release(payout, event, by))

    async def refuse(self, change: Change, event: AuditEvent) -> bool:
        return await self._do("refuse", lambda: self.inner.refuse(change, event))

    async def record(self, change: Change) -> bool:
        return await self._do("record", lambda: self.inner.record(change))

    async def find(self, account_id: str, reference: str) -> Payout | None:
        return await self._do("find", lambda: self.inner.find(account_id, reference))

    async def precedents(
        self, account_id: str, request: PayoutRequest, since: datetime | None
    ) -> Precedents:
        return await self._do("find", lambda: self.inner.precedents(account_id, request, since))

    async def search(
        self, account_id: str, search: Search, states: Collection[PayoutState] = ()
    ) -> tuple[Sequence[ListedPayout], int]:
        return await self._do("search", lambda: self.inner.search(account_id, search, states))

    async def whole(self, account_id: str, search: Search) -> tuple[Sequence[Payout], int]:
        return await self._do("whole", lambda: self.inner.whole(account_id, search))

    async def attempts(self, account_id: str, reference: str) -> Sequence[Attempt]:
        return await self._do("attempts", lambda: self.inner.attempts(account_id, reference))

    async def returns(self, account_id: str, reference: str) -> Sequence[PixReturn]:
        return await self.inner.returns(account_id, reference)

    async def note_returns(self, payout: Payout, found: Sequence[PixReturn]) -> int:
        return await self._do("note_returns", lambda: self.inner.note_returns(payout, found))

    async def _do(self, name: str, work: Callable[[], Awaitable[Done]]) -> Done:
        if self.on_call:
            self.on_call(name)
        if name in self.fails_before:
            raise StoreUnavailable(name)
        if name in self.held:
            await self.held[name].wait()
        done = await work()
        if name in self.fails_after:
            raise StoreUnavailable(name)
        return done


async def no_stops() -> tuple[Stop, ...]:
    return ()


class PayoutWorld:
    """One node that pays out; others can share its store and bank."""

    def __init__(self, inner: StoredPayouts, bank: ScriptedBank, clock: Clock) -> None:
        self.store, self.bank, self.clock = ShakyStore(inner), bank, clock
        self.banks, self.witness = OneBank(bank), Witness()
        self.build()

    def build(
        self,
        settings: Settings = SETTINGS,
        stops: StopsInForce = no_stops,
        failpoint: Failpoint | None = None,
    ) -> None:
        """Build the services, under other settings, with stops in force or a fail point armed."""
        parts = SimpleNamespace(payouts=self.store)
        observed = {"observer": self.witness, "failpoint": failpoint}
        kernel = kernel_on(parts, self.clock, settings=settings, **observed)
        self.payouts = build_payouts(kernel, self.banks, stops)
        self.follow_up = self.payouts.follow_up

    @property
    def lost(self) -> list[str]:
        """Providers of payouts of which another process did a step first."""
        return [label for event, label in self.witness.counted if event == Event.CAS_LOSS]

    def beside(self) -> PayoutWorld:
        return PayoutWorld(self.store.inner, self.bank, self.clock)

    async def post(self, request: PayoutRequest | None = None, who: Caller | None = None) -> str:
        try:
            payout = await self.payouts.create(who or caller(), request or asking())
        except ServiceError as refusal:
            return f"{refusal.error.status} {refusal.error.code}"
        except StoreUnavailable:
            return NO_STORE
        assert payout.reference == (request or asking()).reference
        return OK

    async def look(self) -> Payout:
        """Follow the payout up, once."""
        return await self.follow_up.look(await self.row(), account())

    async def row(self, reference: str = "order-1") -> Payout:
        found = await self.store.inner.find(ACCOUNT, reference)
        assert found is not None, "nothing is stored"
        return found

    async def attempts(self) -> Sequence[Attempt]:
        return await self.store.inner.attempts(ACCOUNT, "order-1")

    async def has_row(self) -> bool:
        return await self.store.inner.find(ACCOUNT, "order-1") is not None

    async def stands(self, state: PayoutState, **fields: object) -> Payout:
        """Store a payout as if it had come to a state by itself; fields are its step's."""
        if state is PayoutState.HELD:
            await self.store.inner.add(held(self._payout()), None)
            return await self.row()
        await self.store.inner.add(self._payout(), self._attempt())
        before = SENDING
        for after in _ROADS[state]:
            last = after is _ROADS[state][-1]
            assert await self.store.inner.record(
                self._step(before, after, **(fields if last else {}))
            )
            before = after
        return await self.row()

    def _payout(self) -> Payout:
        request, now = asking(), self.clock.now()
        return Payout(
            account_id=ACCOUNT,
            reference=request.reference,
            fingerprint=request.fingerprint(),
            provider_key=provider_key(Environment.SANDBOX, ACCOUNT, request.reference),
            provider="sandbox",
            provider_account="conta-1",
            client_id="cli_first",
            method=request.method,
            value=request.value,
            date=request.date,
            description=request.description,
            destination=request.destination,
            destination_sent=request.destination_sent,
            state=SENDING,
            attempt=1,
            lease_until=now + timedelta(seconds=60),
            created_at=now,
            updated_at=now,
        )

    def _attempt(self) -> Attempt:
        now = self.clock.now()
        return Attempt(
            number=1,
            provider="sandbox",
            started_at=now,
            send_deadline=now + timedelta(seconds=20),
            lease_until=now + timedelta(seconds=60),
            trace_id="",
        )

    def _step(self, before: PayoutState, after: PayoutState, **fields: object) -> Change:
        step = Change(
            account_id=ACCOUNT,
            reference="order-1",
            attempt=1,
            before=frozenset({before}),
            after=after,
            at=self.clock.now(),
        )
        return replace(step, **fields)  # type: ignore[arg-type]


_ROADS: dict[PayoutState, list[PayoutState]] = {
    SENDING: [],
    UNKNOWN: [UNKNOWN],
    NOT_SENT: [NOT_SENT],
    ACCEPTED: [ACCEPTED],
    PAID: [ACCEPTED, PAID],
    REJECTED: [REJECTED],
    FAILED: [ACCEPTED, FAILED],
}
