"""A bank that offers more than the nine calls and answers as a test sets it; an audit log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gateway.banks.port.capabilities import Capabilities, Lookup, PortCall
from gateway.banks.port.charges import Charge, ChargeOrder, ChargePayment
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey
from gateway.banks.port.providers import NotFound, Outcome, Page, ProviderAccount
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundOrder, RefundStatus
from gateway.banks.port.statements import Block
from gateway.core.access import Staff
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Window
from tests.world.payouts import ScriptedBank
from tests.world.standing import NOON, Clock

EVERYTHING = Capabilities(
    calls=frozenset(PortCall), destinations=frozenset(PayoutMethod), lookup=frozenset(Lookup)
)
ABSENT = "not_found"
E2E_ID = "E9999999920261120134012345678901"


def refund(**fields: object) -> Refund:
    """R$ 10.50 given back."""
    plain = {
        "reference": "refund-1",
        "provider_key": "",
        "provider_id": "dev_1",
        "payment_e2e_id": E2E_ID,
        "payment_reference": "order-1",
        "return_id": "D" + E2E_ID[1:],
        "value": Money(1050),
        "description": "",
        "status": RefundStatus.PAID,
        "failure": None,
        "created_at": NOON,
        "settled_at": NOON,
    }
    return Refund(**{**plain, **fields})  # type: ignore[arg-type]


@dataclass
class OfferingBank(ScriptedBank):
    """
    All of it: what a call says is in ``reads`` under the call's name, an exception is raised.

    Attributes:
        capabilities: Every option, unless a test lessens it.
        asked: Names of the optional calls made, in order.
        given: Refunds by key; ``create_refund`` puts one there when it is told to.
        gives: Whether an order is carried out, whatever is said to it.
    """

    capabilities: Capabilities = EVERYTHING
    asked: list[str] = field(default_factory=list)
    given: dict[str, Refund] = field(default_factory=dict)
    gives: bool = True
    refund_orders: list[RefundOrder] = field(default_factory=list)

    async def create_key(self, _account: ProviderAccount, _order: KeyOrder) -> PixKey:
        return self._says("create_key")  # type: ignore[return-value]

    async def cancel_key(self, _account: ProviderAccount, _key: PixKey) -> PixKey:
        return self._says("cancel_key")  # type: ignore[return-value]

    async def look_up_key(self, _account: ProviderAccount, _key: str) -> KeyOwner:
        return self._says("look_up_key")  # type: ignore[return-value]

    async def create_charge(self, _account: ProviderAccount, _order: ChargeOrder) -> Charge:
        return self._says("create_charge")  # type: ignore[return-value]

    async def cancel_charge(self, _account: ProviderAccount, _reference: str) -> Charge:
        return self._says("cancel_charge")  # type: ignore[return-value]

    async def find_received(self, _account: ProviderAccount, _e2e_id: str) -> IncomingPayment:
        return self._says("find_received")  # type: ignore[return-value]

    async def list_received(
        self, _account: ProviderAccount, _window: Window, cursor: str | None, _limit: int
    ) -> Page[IncomingPayment]:
        return self._page("list_received", cursor)  # type: ignore[return-value]

    async def create_refund(
        self, _account: ProviderAccount, order: RefundOrder, _send_by: Deadline
    ) -> Outcome:
        self.refund_orders.append(order)
        if self.gives:
            made = refund(
                provider_key=order.provider_key,
                payment_e2e_id=order.payment_e2e_id,
                value=order.value,
                description=order.description,
                reference=order.reference,
            )
            self.given.setdefault(order.provider_key, made)
        return self._says("create_refund")  # type: ignore[return-value]

    async def find_refund(self, _account: ProviderAccount, provider_key: str) -> Refund:
        self.asked.append("find_refund")
        failing = self.reads.get("find_refund")
        if isinstance(failing, Exception):
            raise failing
        if provider_key not in self.given:
            raise NotFound(ABSENT)
        return self.given[provider_key]

    async def list_refunds(
        self, _account: ProviderAccount, _window: Window, cursor: str | None, _limit: int
    ) -> Page[Refund]:
        return self._page("list_refunds", cursor)  # type: ignore[return-value]

    async def list_blocks(self, _account: ProviderAccount) -> Sequence[Block]:
        return self._says("list_blocks")  # type: ignore[return-value]

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        said = self.reads[f"payment of {reference}"]
        if isinstance(said, Exception):
            raise said
        return said  # type: ignore[return-value]

    def _says(self, call: str) -> object:
        self.asked.append(call)
        said = self.reads[call]
        if isinstance(said, Exception):
            raise said
        return said

    def _page(self, call: str, cursor: str | None) -> object:
        """Give the items one by one, a page each; the cursor is the number of the next."""
        items = self._says(call)
        assert isinstance(items, Sequence)
        place = int(cursor or 0)
        rest = place + 1 < len(items)
        return Page(items=items[place : place + 1], next_cursor=str(place + 1) if rest else None)


@dataclass
class Log:
    """
    An audit log in memory.

    Attributes:
        fails_from: Number of the event from which on nothing can be written.
    """

    events: list[AuditEvent] = field(default_factory=list)
    fails_from: int | None = None

    async def append(self, event: AuditEvent) -> None:
        if self.fails_from is not None and len(self.events) >= self.fails_from:
            raise StoreUnavailable
        self.events.append(event)

    async def verify(self) -> int:
        return len(self.events)

    @property
    def actions(self) -> list[str]:
        return [event.action for event in self.events]


def staff() -> Staff:
    """Return the same person, as services know them."""
    return Staff(acting())


def acting(clock: Clock | None = None) -> AuditContext:
    """Maria, an operator."""
    return AuditContext("user:maria", (clock or Clock()).now)


def lessened(*lacking: PortCall) -> Capabilities:
    return replace(EVERYTHING, calls=EVERYTHING.calls - set(lacking))
