"""The reception and processing of callbacks, with the records that they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.banks.port.capabilities import Capabilities, PortCall
from gateway.banks.port.provider_callbacks import CallbackKind, Delivery, Notice
from gateway.banks.port.providers import Unavailable
from gateway.callbacks.model import Callback, CallbackSearch
from gateway.callbacks.owners import CallbackAccounts
from gateway.callbacks.processing import CallbackProcessor
from gateway.callbacks.reception import AddressedDelivery, CallbackAddress, Reception
from gateway.callbacks.store import CallbackRecords
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.headers import NO_HEADERS
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Paging
from gateway.payouts.events import probed
from gateway.payouts.followup import Hear
from gateway.payouts.model import Payout, PayoutState
from tests.world.people import account
from tests.world.registers import Registers
from tests.world.standing import NOON, Clock

PAYOUT = Notice(event="e", kind=CallbackKind.PAYOUT, subject="key", account="")


class Proof:
    """Accepts and returns what a test sets."""

    rests = frozenset({"", "pix"})

    def __init__(self) -> None:
        self.says: object = [PAYOUT]

    @property
    def notice(self) -> Notice:
        return PAYOUT

    @notice.setter
    def notice(self, notice: Notice) -> None:
        self.says = [notice]

    async def check(self, _came: Delivery) -> Sequence[Notice] | None:
        if isinstance(self.says, Exception):
            raise self.says
        return self.says  # type: ignore[return-value] # nonsense too


@dataclass
class Standing:
    """The state of a payout, as far as callbacks need it."""

    provider: str = "p"
    state: PayoutState = PayoutState.ACCEPTED
    account_id: str = "acc"
    held: bool = False
    reference: str = "order-1"
    attempt: int = 1
    provider_key: str = "key"
    trace_id: str = "trace"

    def is_held(self, _now: object) -> bool:
        return self.held


@dataclass
class Hall:
    """A reception, and the processing of what it accepted."""

    office: Registers
    clock: Clock
    proof: Proof = field(default_factory=Proof)
    counted: Counter[str] = field(default_factory=Counter)
    rung: int = 0
    known: Standing | None = None
    looked: int = 0
    named: list[str] = field(default_factory=list)
    becomes: PayoutState = PayoutState.PAID
    becomes_held: bool = False
    says: list[str] = field(default_factory=list)
    shows: list[bool] = field(default_factory=list)
    looked_back: int = 0
    paid: list[object] = field(default_factory=list)
    refunded: list[tuple[object, object]] = field(default_factory=list)
    store_fails: bool = False
    processed: int = 0
    may_claim: bool = True

    async def take(
        self, token: str = "right", provider: str = "p", rest: str = "", body: bytes = b"body"
    ) -> None:
        reception = Reception(
            store=CallbackRecords(self.office.store.database),
            addresses={"p": CallbackAddress(proof=self.proof, tokens=("right", "former"))},
            now=self.clock.now,
            new_id=self.office.new_id,
            note=lambda _provider, result: self.counted.update([result]),
            wake=self.ring,
        )
        delivery = Delivery(headers=NO_HEADERS, body=body, rest=rest)
        await reception.take(AddressedDelivery(provider=provider, token=token, delivery=delivery))

    async def refund(self, account: object, refund: object) -> None:
        self.refunded.append((account, refund))

    async def pay(self, account: object, payment: object, _asked_at: object) -> None:
        if self.store_fails:
            raise StoreUnavailable
        self.paid.append((account, payment))

    def note_processed(self) -> None:
        self.processed += 1

    def ring(self) -> None:
        self.rung += 1

    def looks(self, accounts: Any = None, banks: Any = None) -> CallbackProcessor:
        return CallbackProcessor(
            store=CallbackRecords(self.office.store.database),
            accounts=accounts or self.office.store.accounts,
            owners=CallbackAccounts(accounts or self.office.store.accounts, banks or self),
            follow_ups=self,  # type: ignore[arg-type] # only find_by_key is called
            banks=banks or self,
            look=self.look,
            look_back=self.look_back,
            paid=self.pay,
            refunded=self.refund,
            now=self.clock.now,
            processed=self.note_processed,
            may_claim=lambda: self.may_claim,
            pause_s=0.01,
        )

    async def turn(self, accounts: Any = None, banks: Any = None) -> Callback:
        """Process due callbacks; return the only one."""
        await self.looks(accounts, banks).turn()
        (one,) = await self.all()
        return one

    async def all(self) -> list[Callback]:
        search = CallbackSearch(paging=Paging(1, 100))
        return list(
            (await CallbackRecords(self.office.store.database).search(search, EVERY_COMPANY)).items
        )

    async def find_by_key(self, _key: str) -> Payout | None:
        return self.known  # type: ignore[return-value] # as much of one as is asked for

    async def look_back(self, _payout: Payout, _account: object) -> bool:
        self.looked_back += 1
        return self.shows.pop(0)

    async def look(self, payout: Payout, named: str, hear: Hear) -> Payout:
        self.named.append(named)
        for found in self.says:
            hear(probed(payout, found, NOON, NOON, {}))
        self.looked += 1
        return Standing(payout.provider, self.becomes, held=self.becomes_held)  # type: ignore[return-value]


class People:
    async def find(self, _account_id: str) -> object:
        return account()


class Bank:
    capabilities = Capabilities(
        calls=frozenset({PortCall.GET_CHARGE_PAYMENT, PortCall.FIND_REFUND})
    )

    def __init__(self, problem: Exception | None) -> None:
        self.problem = problem
        self.adapter = self.account = self
        self.asked: list[str] = []

    def of(self, _account: object) -> Bank:
        return self

    async def get_charge_payment(self, _account: object, reference: str) -> None:
        self.asked.append(reference)
        if self.problem:
            raise self.problem

    async def find_refund(self, _account: object, key: str) -> str:
        return f"refund {key}"


class Accounts:
    provider, provider_account, company_id = "p", "acc", "company-1"

    async def find(self, account_id: str) -> Accounts | None:
        return self if account_id == "acc" else None

    async def find_at(self, provider: str, named: str) -> Accounts | None:
        known = (self.provider, self.provider_account)
        return self if (provider, named) == known else None


class Listed(Accounts):
    async def some_at(self, _provider: str, _skip: int, _most: int) -> list[Accounts]:
        return [self]


class Silent(Bank):
    """A bank that does not answer."""

    capabilities = Capabilities(calls=frozenset({PortCall.LIST_KEYS}))

    def __init__(self) -> None:
        super().__init__(Unavailable("timeout"))

    async def list_keys(self, account: object) -> None:
        await self.get_charge_payment(account, "")
