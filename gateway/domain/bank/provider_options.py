"""
What a bank may offer beyond the nine calls, each a small port of its own.

``Capabilities.operations`` names the calls that are offered; a bank without one
raises ``NotSupported``. All raise a ``ProviderError`` but ``create_refund``,
which moves money and returns an ``Outcome``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

from gateway.domain.bank.charges import Charge, ChargeOrder
from gateway.domain.bank.pix_keys import KeyOrder, KeyOwner, PixKey
from gateway.domain.bank.providers import Outcome, Page, ProviderAccount, ProviderError
from gateway.domain.bank.refunds import IncomingPayment, Refund, RefundOrder
from gateway.domain.bank.statements import Block
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.windows import Window

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


class Option(StrEnum):
    """The names of the optional calls, as ``Capabilities.operations`` lists them."""

    CREATE_KEY = "create_key"
    CANCEL_KEY = "cancel_key"
    LOOK_UP_KEY = "look_up_key"
    CREATE_CHARGE = "create_charge"
    CANCEL_CHARGE = "cancel_charge"
    FIND_RECEIVED = "find_received"
    LIST_RECEIVED = "list_received"
    CREATE_REFUND = "create_refund"
    FIND_REFUND = "find_refund"
    LIST_REFUNDS = "list_refunds"
    LIST_BLOCKS = "list_blocks"


class OutcomeUnknown(ProviderError):
    """Money may have moved; ask again under the same reference, never under a new one."""


@runtime_checkable
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


@runtime_checkable
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


@runtime_checkable
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


@runtime_checkable
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


@runtime_checkable
class BlockCalls(Protocol):
    """What is held back, and why."""

    async def list_blocks(self, account: ProviderAccount) -> Sequence[Block]:
        """Read every block, live; together they are the balance's ``blocked``."""
        ...
