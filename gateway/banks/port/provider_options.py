"""
What a bank may offer beyond the nine calls, each a small port of its own.

``Capabilities.calls`` names the calls that are offered; a bank without one
is not asked. All raise a ``ProviderError`` but ``create_refund``,
which moves money and returns an ``Outcome``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from gateway.banks.port.charges import Charge, ChargeOrder
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey
from gateway.banks.port.provider_callbacks import (
    CallbackOrder,
    MissedEvent,
    RegisteredCallback,
)
from gateway.banks.port.providers import (
    ContractCalls,
    Outcome,
    Page,
    ProviderAccount,
    ProviderAdapter,
    ProviderError,
)
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundOrder
from gateway.banks.port.statements import Block
from gateway.core.clocks import Deadline
from gateway.core.windows import Window

ABOVE_PAYMENT: Final = "above_payment"
CHARGE_PAID: Final = "charge_paid"
IN_USE: Final = "in_use"
NOT_ALLOWED: Final = "not_allowed"
NOT_PAID: Final = "not_paid"
SEVERAL_PAYMENTS: Final = "several_payments"
TOO_LATE: Final = "too_late"

WHY: Final[Mapping[str, str]] = {
    ABOVE_PAYMENT: "The value is above what is left of the payment.",
    CHARGE_PAID: "The charge is paid already.",
    IN_USE: "The key or the reference is in use.",
    NOT_ALLOWED: "The bank does not allow this to the account.",
    NOT_PAID: "The charge is not paid.",
    SEVERAL_PAYMENTS: "The charge may have several payments: name one by its end-to-end id.",
    TOO_LATE: "The payment is too old to be given back.",
    "account_invalid": "The account at the bank is not valid.",
    "insufficient_funds": "The balance is too low.",
    "limit_exceeded": "A limit of the account is exceeded.",
}
"""
The fixed reasons of a ``Refused``, or of a ``Rejected``'s evidence, and their sentences.

Any other reason says no more than that the bank refused.
"""


class OutcomeUnknown(ProviderError):
    """Money may have moved; ask again under the same reference, never under a new one."""


class KeyCalls(Protocol):
    """Registering PIX keys, giving them up, and asking who is behind one."""

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """
        Register a key; sent once, never repeated below this line.

        Raises:
            Refused: with the reason ``IN_USE`` when the key is somebody's
                already, the account's own included.
        """
        ...

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """Give a key up; safe to repeat; NotFound when the bank has none such."""
        ...

    async def look_up_key(self, account: ProviderAccount, key: str) -> KeyOwner:
        """Ask who is behind a key of any bank; NotFound when nobody is."""
        ...


class ChargeCalls(Protocol):
    """Making charges and cancelling them."""

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """
        Make a charge; sent once, never repeated below this line.

        Raises:
            Refused: with the reason ``IN_USE`` when the reference is taken.
        """
        ...

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Cancel a charge; safe to repeat; NotFound when absent, Refused when it is paid."""
        ...


class IncomingCalls(Protocol):
    """What came in."""

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment by its end-to-end id; NotFound when absent."""
        ...

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read the payments of the window, newest first, at most ``limit`` a page."""
        ...


class RefundCalls(Protocol):
    """
    Giving back what came in.

    Offered only of a bank that gives one refund for one provider key, ever: an
    adapter of another bank must not implement it.
    """

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        """
        Ask the bank to give money back, once; never repeated below this line.

        Returns:
            Accepted or Settled, ``e2e_id`` being the id of the way back;
            Rejected with the reason ``IN_USE`` when the key belongs to
            another refund; NotSent when ``send_by`` had passed before the
            first byte; Unknown for all that is not listed.
        """
        ...

    async def find_refund(self, account: ProviderAccount, provider_key: str) -> Refund:
        """Look a refund up by our key; NotFound when the bank does not show it."""
        ...

    async def list_refunds(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Refund]:
        """Read the refunds ordered in the window, newest first, at most ``limit`` a page."""
        ...


class BlockCalls(Protocol):
    """What is held back, and why."""

    async def list_blocks(self, account: ProviderAccount) -> Sequence[Block]:
        """Read every block, live; together they are the balance's ``blocked``."""
        ...


class CallbackCalls(Protocol):
    """Where the bank sends an account's callbacks, and which it could not deliver."""

    async def register_callback(
        self, account: ProviderAccount, order: CallbackOrder
    ) -> RegisteredCallback:
        """
        Have the account's callbacks sent to an address of ours; sent once.

        A bank that has one address for each key gets it for every key.
        """
        ...

    async def list_callbacks(self, account: ProviderAccount) -> Sequence[RegisteredCallback]:
        """Read every address that the bank has for the account, others' too."""
        ...

    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> None:
        """Have no more sent to an address; safe to repeat; NotFound when absent."""
        ...

    async def list_missed_events(
        self, account: ProviderAccount, limit: int
    ) -> Sequence[MissedEvent]:
        """Read events that the bank could not deliver, oldest first, at most ``limit``."""
        ...

    async def acknowledge_events(self, account: ProviderAccount, event_ids: Sequence[str]) -> None:
        """Say that missed events were read, so that they are not shown again; safe to repeat."""
        ...


class EveryCall(
    ProviderAdapter,
    ContractCalls,
    KeyCalls,
    ChargeCalls,
    IncomingCalls,
    RefundCalls,
    BlockCalls,
    CallbackCalls,
    Protocol,
):
    """An adapter with every call of the port; ``PortCall`` names each by its method."""
