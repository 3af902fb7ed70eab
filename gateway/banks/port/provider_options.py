"""
Optional calls of a bank beyond the nine, each group a small port of its own.

``Capabilities.calls`` names the calls that are offered; other calls are never made. All raise a
``ProviderError`` but ``create_refund``, which moves money and returns an ``Outcome``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from gateway.banks.port.charges import Charge, ChargeOrder
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey
from gateway.banks.port.provider_callbacks import CallbackOrder, MissedEvent, RegisteredCallback
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
    """Registering and cancelling PIX keys, and looking up their owners."""

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """
        Register a key; sent once, never repeated below this line.

        Raises:
            Refused: with the reason ``IN_USE`` when the key is somebody's
                already, the account's own included.
        """
        ...

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """Cancel a key; safe to repeat; NotFound when the bank has no such key."""
        ...

    async def look_up_key(self, account: ProviderAccount, key: str) -> KeyOwner:
        """Look up the owner of a key of any bank; NotFound for an unregistered key."""
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
    """Payments received."""

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
    Refunds of payments received.

    Only for banks that execute one refund for one provider key, ever: adapters of other banks must
    not implement it.
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
    """Blocked money and its reasons."""

    async def list_blocks(self, account: ProviderAccount) -> Sequence[Block]:
        """Read every block, live; together they are the balance's ``blocked``."""
        ...


class CallbackCalls(Protocol):
    """Registered callback addresses of an account, and undelivered events."""

    async def register_callback(
        self, account: ProviderAccount, order: CallbackOrder
    ) -> RegisteredCallback:
        """
        Register our address for the account's callbacks; sent once.

        A bank that has one address for each key gets it for every key.
        """
        ...

    async def list_callbacks(self, account: ProviderAccount) -> Sequence[RegisteredCallback]:
        """Read every address that the bank has for the account, foreign ones too."""
        ...

    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> None:
        """Remove an address; safe to repeat; NotFound when absent."""
        ...

    async def list_missed_events(
        self, account: ProviderAccount, limit: int
    ) -> Sequence[MissedEvent]:
        """Read events that the bank could not deliver, oldest first, at most ``limit``."""
        ...

    async def acknowledge_events(self, account: ProviderAccount, event_ids: Sequence[str]) -> None:
        """Acknowledge missed events, so that they are not listed again; safe to repeat."""
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
