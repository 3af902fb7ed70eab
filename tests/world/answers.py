"""A truthful adapter's answers to each call of the port, and an adapter with invalid answers."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from gateway.banks.checked_adapter import CheckedAdapter
from gateway.banks.port.capabilities import Capabilities, Lookup, PortCall
from gateway.banks.port.charges import (
    Charge,
    ChargeOrder,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder, PixDestination
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackOrder,
    MissedEvent,
    Notice,
    RegisteredCallback,
)
from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    Evidence,
    Page,
    Phase,
    ProviderAccount,
    Settled,
    Unknown,
)
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundOrder, RefundStatus
from gateway.banks.port.statements import (
    Balance,
    Block,
    BlockKind,
    Direction,
    Entry,
    MovementKind,
)
from gateway.core.clocks import Deadline
from gateway.core.money import Money, Sum
from gateway.core.windows import Window
from gateway.telemetry.ports import Event

AT = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)
VALUE = Money(1050)
KEY = "0123456789abcdef0123456789abcdef"
KEY_ID = "7e1cf2a4-9d0b-4a53-8f3a-0c6f8f0f2b11"
E2E = "E99999999202611221230abcDEF12345"
RETURN_ID = "D99999999202611221230abcDEF12345"
ACCOUNT = ProviderAccount(
    account_id="5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f", provider_account="cc_1", credentials="token"
)
WINDOW = Window(AT.date(), AT.date())
FAR = Deadline(10.0, lambda: 0.0)
ANSWERED = Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="answered", http_status=200)

PIX_KEY = PixKey(
    provider_id=KEY_ID,
    key="maria@example.com",
    type=PixKeyType.EMAIL,
    status=PixKeyStatus.ACTIVE,
    created_at=AT,
)
PAYER = Payer(name="Maria Silva", tax_number="52998224725", message="pedido 1042")
CHARGE = Charge(
    reference="order-1042",
    type=ChargeType.DYNAMIC,
    key="maria@example.com",
    value=VALUE,
    status=ChargeStatus.ACTIVE,
    emv="00020126",
    reusable=False,
    payer=PAYER,
    receiver=Party(name="Loja", tax_number="11222333000181"),
    city="Sao Paulo",
    zip_code="01310-100",
    created_at=AT,
    expires_at=AT,
)
ENTRY = Entry(
    provider_id="1000000012",
    e2e_id=E2E,
    direction=Direction.DEBIT,
    is_pix=True,
    value=VALUE,
    description="pedido 1042",
    counterparty=Party(name="Maria Silva", tax_number="52998224725"),
    created_at=AT,
    provider_key=KEY,
    kind=MovementKind.PIX,
)
RECEIVED = IncomingPayment(
    reference="order-1042",
    e2e_id=E2E,
    provider_id="1000000012",
    value=VALUE,
    refunded=Money(50),
    paid_at=AT,
    payer=PAYER,
)
REFUND = Refund(
    reference="refund-1",
    provider_key=KEY,
    provider_id="dev_31c0",
    payment_e2e_id=E2E,
    payment_reference="order-1042",
    return_id=RETURN_ID,
    value=VALUE,
    description="",
    status=RefundStatus.PAID,
    failure=None,
    created_at=AT,
    settled_at=AT,
)
ORDER = PayoutOrder(
    provider_key=KEY,
    method=PayoutMethod.PIX,
    value=VALUE,
    destination=PixDestination(
        name="Maria Silva",
        tax_number="52998224725",
        key_type=PixKeyType.EMAIL,
        key="maria@example.com",
    ),
    description="",
)
REFUND_ORDER = RefundOrder(
    provider_key=KEY, reference="refund-1", payment_e2e_id=E2E, value=VALUE, description=""
)

CALLBACK_ORDER = CallbackOrder(url="https://us.example/callbacks/p/t", secret=b"secret")
CALLBACK = RegisteredCallback(id="av_1", url=CALLBACK_ORDER.url)
MISSED = MissedEvent(
    id="evt_1", notice=Notice(event="evt_1", kind=CallbackKind.PAYOUT, subject=KEY), body=b"{}"
)


@dataclass(frozen=True)
class Call:
    """A call of the port: its arguments after the account, and a truthful answer."""

    asked: tuple[object, ...]
    answer: object


PAGE = (WINDOW, "here", 2)
CALLS: Mapping[str, Call] = {
    "probe": Call((), None),
    "get_balance": Call((ACCOUNT,), Balance(balance=Sum(-5), blocked=Sum(0), updated_at=AT)),
    "list_statement": Call((ACCOUNT, *PAGE), Page(items=(ENTRY, ENTRY), next_cursor="there")),
    "list_keys": Call((ACCOUNT,), (PIX_KEY,)),
    "get_key": Call((ACCOUNT, KEY_ID), PIX_KEY),
    "get_charge": Call((ACCOUNT, "order-1042"), CHARGE),
    "get_charge_payment": Call(
        (ACCOUNT, "order-1042"),
        ChargePayment(
            reference="order-1042", value=VALUE, created_at=AT, paid_at=AT, e2e_id=E2E, payer=PAYER
        ),
    ),
    "create_payout": Call(
        (ACCOUNT, ORDER, FAR),
        Accepted(evidence=ANSWERED, provider_id="p-1", e2e_id=E2E, provider_key=KEY, value=VALUE),
    ),
    "find_payout": Call(
        (ACCOUNT, KEY, "p-1"),
        Settled(
            evidence=ANSWERED,
            value=VALUE,
            provider_id="p-1",
            e2e_id=E2E,
            settled_at=AT,
            provider_key=KEY,
        ),
    ),
    "create_key": Call((ACCOUNT, KeyOrder(PixKeyType.EMAIL, "maria@example.com")), PIX_KEY),
    "cancel_key": Call((ACCOUNT, PIX_KEY), PIX_KEY),
    "look_up_key": Call(
        (ACCOUNT, "maria@example.com"),
        KeyOwner(
            key="maria@example.com",
            type=PixKeyType.EMAIL,
            name="Maria Silva",
            tax_number="***.982.247-**",
            ispb="99999999",
        ),
    ),
    "create_charge": Call(
        (
            ACCOUNT,
            ChargeOrder(
                reference="order-1042",
                type=ChargeType.DYNAMIC,
                key="maria@example.com",
                value=VALUE,
            ),
        ),
        CHARGE,
    ),
    "cancel_charge": Call((ACCOUNT, "order-1042"), CHARGE),
    "find_received": Call((ACCOUNT, E2E), RECEIVED),
    "list_received": Call((ACCOUNT, *PAGE), Page(items=(RECEIVED,), next_cursor=None)),
    "list_blocks": Call(
        (ACCOUNT,), (Block(kind=BlockKind.MED, value=VALUE, since=AT, reference="0001"),)
    ),
    "register_callback": Call((ACCOUNT, CALLBACK_ORDER), CALLBACK),
    "list_callbacks": Call((ACCOUNT,), (CALLBACK,)),
    "remove_callback": Call((ACCOUNT, "av_1"), None),
    "list_missed_events": Call((ACCOUNT, 2), (MISSED, MISSED)),
    "acknowledge_events": Call((ACCOUNT, ("evt_1",)), None),
    "create_refund": Call(
        (ACCOUNT, REFUND_ORDER, FAR),
        Settled(evidence=ANSWERED, value=VALUE, provider_id="dev_31c0", e2e_id=RETURN_ID),
    ),
    "find_refund": Call((ACCOUNT, KEY), REFUND),
    "list_refunds": Call((ACCOUNT, *PAGE), Page(items=(REFUND,), next_cursor="there")),
}
"""Every call of the port, the optional ones too."""

CANARY = "Zulmira 111.444.777-35 gws_canary"
"""What must never reach an answer, a log or a metric."""

MONEY = frozenset({"create_payout", "create_refund"})
"""Those that move money."""

Lie = Callable[[], object]


def raising(problem: BaseException) -> Lie:
    """Raise instead of answering."""

    def lie() -> object:
        raise problem

    return lie


def saying(answer: object) -> Lie:
    return lambda: answer


@dataclass
class LyingAdapter:
    """
    An adapter with invalid answers where a test sets them, and those of ``behind`` otherwise.

    Attributes:
        behind: Answers truthfully; None for the table above.
        lies: By call; the call is made all the same.
        asked: The calls, in turn.
    """

    behind: object = None
    lies: dict[str, Lie] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    capabilities: Capabilities = field(
        default_factory=lambda: Capabilities(
            calls=frozenset(PortCall),
            destinations=frozenset(PayoutMethod),
            lookup=frozenset(Lookup),
        )
    )

    def __post_init__(self) -> None:
        if self.behind is not None:
            self.capabilities = self.behind.capabilities  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> object:
        if name not in {*CALLS, "start", "close"}:
            raise AttributeError(name)

        async def call(*asked: object) -> object:
            self.asked.append(name)
            await asyncio.sleep(0)
            truth = CALLS[name].answer if name in CALLS else None
            if self.behind is not None:
                truth = await getattr(self.behind, name)(*asked)
            return self.lies[name]() if name in self.lies else truth

        return call


class CheckedWorld:
    """A checked adapter over one with invalid answers, and its counts."""

    def __init__(self, **lies: Lie) -> None:
        self.adapter = LyingAdapter(lies=lies)
        self.counted: Counter[tuple[Event, str]] = Counter()
        self.checked = CheckedAdapter("p", self.adapter, self._count)  # type: ignore[arg-type]

    def _count(self, event: Event, label: str) -> None:
        self.counted[event, label] += 1

    async def ask(self, name: str) -> object:
        """Make a call, as the table has it."""
        return await getattr(self.checked, name)(*CALLS[name].asked)

    async def fails(self, name: str, reason: str) -> None:
        """Make a call that is lied to: Unknown where money moves, else a ``BadReply``."""
        if name in MONEY:
            said = await self.ask(name)
            assert isinstance(said, Unknown)
            assert (said.evidence.reason, said.evidence.bytes_left) == (reason, True)
        else:
            with pytest.raises(BadReply) as failed:
                await self.ask(name)
            assert (failed.value.reason, failed.value.retry_after) == (reason, None)
        assert self.counted == {(Event.ADAPTER_FAULT, f"p.{name}"): 1}


def forged(centavos: object) -> Money:
    money = Money(0)
    msgspec.structs.force_setattr(money, "centavos", centavos)
    return money


def changed(value: Any, /, **parts: object) -> Any:
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **parts)
    return dataclasses.replace(value, **parts)
