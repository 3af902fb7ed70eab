"""
The port to a bank: calls, answers and failures.

ProviderError                 reads fail with one of these
├── NotSupported              this bank does not offer the operation
├── NotFound                  the bank answers that the item does not exist
├── Refused                   the bank refuses
├── CredentialsRefused        the bank does not accept ours
├── RateLimited               too many calls for the bank
├── Unreachable               certainly no byte of the request left us
├── Unavailable               time-out, reset or a 5xx
├── BadReply                  an answer that cannot be read
└── OutcomeUnknown            money may have moved

A payout never raises for the bank's part: it returns an ``Outcome``, and an
exception that leaves the call all the same counts as ``Unknown``.

``Capabilities.calls`` names the calls that an adapter offers; other calls are never made. All raise
a ``ProviderError`` but ``create_payout`` and ``create_refund``, which move money and return an
``Outcome``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Generic, Protocol, TypeVar

from gateway.banks.port.capabilities import Capabilities
from gateway.banks.port.charges import Charge, ChargeOrder, ChargePayment
from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.pix_keys import KeyOrder, KeyOwner, PixKey
from gateway.banks.port.provider_callbacks import CallbackOrder, MissedEvent, RegisteredCallback
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundOrder
from gateway.banks.port.statements import Balance, Block, Entry
from gateway.core.account import Account
from gateway.core.clocks import Deadline
from gateway.core.errors import OutsideFailure
from gateway.core.money import Money
from gateway.core.windows import Window

Item = TypeVar("Item", covariant=True)


class Reason(StrEnum):
    """
    Why a call failed: for logs, metrics and evidence, never for a partner.

    The first group is used only if certainly no byte of the request left us.
    """

    BREAKER_OPEN = "breaker_open"
    BULKHEAD_FULL = "bulkhead_full"
    CERTIFICATE_EXPIRED = "certificate_expired"
    CERTIFICATE_MISSING = "certificate_missing"
    CLOSED = "closed"
    CONNECT_FAILED = "connect_failed"
    CONNECT_TIMEOUT = "connect_timeout"
    DEADLINE_PASSED = "deadline_passed"
    DNS_FAILED = "dns_failed"
    PROXY_REFUSED = "proxy_refused"
    TLS_FAILED = "tls_failed"
    UNSENDABLE = "unsendable"

    CANCELLED = "cancelled"
    CERTIFICATE_REFUSED = "certificate_refused"
    CONNECTION_LOST = "connection_lost"
    TIMEOUT = "timeout"

    ANSWER_CUT_SHORT = "answer_cut_short"
    CONTENT_CODING = "content_coding"
    CREDENTIALS_REFUSED = "credentials_refused"
    CREDENTIALS_UNFIT = "credentials_unfit"
    NOT_FOUND = "not_found"
    NOT_HTTP = "not_http"
    NOT_JSON = "not_json"
    NOT_SUPPORTED = "not_supported"
    RATE_LIMITED = "rate_limited"
    REDIRECTED = "redirected"
    REFUSED = "refused"
    SERVER_ERROR = "server_error"
    TOO_LARGE = "too_large"
    UNEXPECTED_STATUS = "unexpected_status"
    WRONG_SHAPE = "wrong_shape"

    ANSWERED = "answered"
    DUPLICATE = "duplicate"

    AMOUNT_MISMATCH = "amount_mismatch"
    E2E_ID_MALFORMED = "e2e_id_malformed"
    KEY_MISMATCH = "key_mismatch"
    DESTINATION_MISMATCH = "destination_mismatch"
    UNKNOWN_STATUS = "unknown_status"

    ADAPTER_RAISED = "adapter_raised"
    ADAPTER_ANSWER_INVALID = "adapter_answer_invalid"
    UNLISTED_REASON = "unlisted_reason"


class ProviderError(OutsideFailure):
    """
    A call of a bank failed.

    Attributes:
        reason: A fixed word for logs and metrics, never the bank's text.
        http_status: The bank's, where there was an answer.
        retry_after: Seconds the bank asks us to wait; None when it does not.
    """

    def __init__(
        self, reason: str, *, http_status: int | None = None, retry_after: float | None = None
    ) -> None:
        """Take the reason, a fixed word."""
        super().__init__(reason, retry_after=retry_after)
        self.http_status = http_status


class NotSupported(ProviderError):
    """The bank does not offer the operation; asking again cannot help."""


class NotFound(ProviderError):
    """The bank answers that the item does not exist."""


class Refused(ProviderError):
    """The bank understood the request and refused it."""


class CredentialsRefused(ProviderError):
    """The bank does not accept our credentials."""


class RateLimited(ProviderError):
    """The bank's rate limit is exceeded."""


class Unreachable(ProviderError):
    """Certainly no byte of the request left us."""


class Unavailable(ProviderError):
    """The bank timed out, reset the connection or answered with a server error."""


class BadReply(ProviderError):
    """The answer cannot be read, or contradicts the request."""


class OutcomeUnknown(ProviderError):
    """Money may have moved; repeat with the same reference, never with a new one."""


ABOVE_PAYMENT: Final = "above_payment"
CHARGE_PAID: Final = "charge_paid"
IN_USE: Final = "in_use"
KEY_NOT_OWNED: Final = "key_not_owned"
NOT_ALLOWED: Final = "not_allowed"
NOT_PAID: Final = "not_paid"
SEVERAL_PAYMENTS: Final = "several_payments"
TOO_LATE: Final = "too_late"

WHY: Final[Mapping[str, str]] = {
    ABOVE_PAYMENT: "The value is above what is left of the payment.",
    CHARGE_PAID: "The charge is paid already.",
    IN_USE: "The key or the reference is in use.",
    KEY_NOT_OWNED: "The PIX key is not an active key of the account.",
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


class Phase(StrEnum):
    """How far a call got before it ended."""

    REFUSED_HERE = "refused_here"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    SENT = "sent"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    Evidence of one call that moves money; stored with the attempt.

    Attributes:
        bytes_left: Whether any byte of the request may have left us.
        reason: A fixed word.
        http_status: The bank's, where there was an answer.
        provider_code: The bank's own code, for operators only.
    """

    phase: Phase
    bytes_left: bool
    reason: str
    http_status: int | None = None
    provider_code: str = ""


@dataclass(frozen=True, slots=True)
class NotSent:
    """
    Proven: nothing moved, and this attempt can never move anything.

    Attributes:
        retry_after: Seconds the bank asks us to wait; None when it does not.
    """

    evidence: Evidence
    retry_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """
    The bank refused with a listed code: nothing moved and nothing will.

    Read back later, the same answer means that an accepted payout failed.

    Attributes:
        forbidden: The account may not do this (a limit, a missing approval),
            as against wrong content, funds or key.
        provider_key: Ours, where the answer repeats it.
    """

    evidence: Evidence
    failure: FailureCode
    forbidden: bool = False
    provider_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """
    The bank has ordered it; not settled yet.

    Attributes:
        provider_key, value: Of the order, where the answer repeats them.
        held_until: The bank's own deadline while it holds the payout for
            precautionary analysis; None when it does not hold it.
    """

    evidence: Evidence
    provider_id: str = ""
    e2e_id: str = ""
    provider_key: str = ""
    value: Money | None = None
    held_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PixReturn:
    """
    Money of a settled payout that came back, wholly or in part.

    Attributes:
        id: The return's own, of the central bank's form: ``D…``.
        value: Above zero.
    """

    id: str
    value: Money
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """
    The money arrived; ``value`` is the paid amount, ``provider_key`` is ours.

    Attributes:
        returns: Later returns, where the bank reports them; the payout stays settled.
    """

    evidence: Evidence
    value: Money
    provider_id: str = ""
    e2e_id: str = ""
    settled_at: datetime | None = None
    provider_key: str = ""
    returns: tuple[PixReturn, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """Any other outcome: money may have moved, now or later. Look it up, never send it again."""

    evidence: Evidence


Outcome = NotSent | Rejected | Accepted | Settled | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAccount:
    """
    An account at one provider.

    Attributes:
        credentials: The account's decrypted secret, at a bank that takes a single text.
        secrets: The struct that the adapter's factory names, at any other bank (see
            ``provider_adapters.kit.secrets``); None for an account without.
        holder: The holder's name.
    """

    account_id: str
    provider_account: str
    credentials: str = field(repr=False, default="")
    secrets: object = field(repr=False, default=None)
    holder: str = field(repr=False, default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """Some items, newest first; ``next_cursor`` is None on the last page."""

    items: Sequence[Item]
    next_cursor: str | None


class ProviderAdapter(Protocol):
    """
    Common part of every adapter; its capabilities name the calls it has.

    A declared call is an ``async`` method with the parameters that it has in
    ``EveryCall``, checked when it is loaded.
    """

    @property
    def capabilities(self) -> Capabilities:
        """This bank's capabilities, as declared by the adapter."""
        ...

    async def start(self) -> None:
        """Open resources that need an event loop; called once before any call."""
        ...

    async def close(self) -> None:
        """Close all connections; nothing is called afterwards."""
        ...


class ContractCalls(Protocol):
    """
    The nine calls that the banking operations stand on (contract 4.1).

    Reads raise a ``ProviderError``; they may be repeated at will. Money is
    moved by ``create_payout`` alone.
    """

    async def probe(self) -> None:
        """Reach the bank without touching an account."""
        ...

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, live."""
        ...

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read movements of the window, newest first, at most ``limit`` a page."""
        ...

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read every PIX key of the account."""
        ...

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Read one key by its public id (see ``PixKey.public_id``); NotFound when absent."""
        ...

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge by its reference; NotFound when absent."""
        ...

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """Read a charge as a transaction, its latest payment if reusable; NotFound when absent."""
        ...

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """
        Order a payout, once; never repeated below this call.

        Returns:
            NotSent when ``send_by`` had passed before the first byte was
            written: checked in the same step as the write.
        """
        ...

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        """
        Look a payout up by our key, or by the bank's id where it is known.

        Returns:
            Accepted, Settled, or Rejected for one that failed; Unknown for a
            state that the adapter does not list.

        Raises:
            NotFound: the bank does not show it; no proof before the quiet
                period is over.
        """
        ...


class KeyCalls(Protocol):
    """Registering and cancelling PIX keys, and looking up their owners."""

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """
        Register a key; sent once, never repeated below this line.

        Raises:
            Refused: with the reason ``IN_USE`` when the key is registered
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
        Order a refund, once; never repeated below this call.

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


@dataclass(frozen=True, slots=True)
class Bank:
    """An account and its provider; ``read_only`` by the operator's choice."""

    name: str
    adapter: ProviderAdapter
    account: ProviderAccount
    read_only: bool

    @property
    def pays(self) -> bool:
        """Return whether payouts are possible: neither operator nor bank forbids them."""
        return not self.read_only and self.adapter.capabilities.payouts

    @property
    def lacks_credentials(self) -> bool:
        """Return whether the account lacks the credentials that its bank requires."""
        shown = self.account.credentials or self.account.secrets
        return not shown and self.adapter.capabilities.account_credentials


class Banks(Protocol):
    """Finds the bank behind an account."""

    def of(self, account: Account) -> Bank | None:
        """
        Return the account's bank; None when no configured provider stands behind it.

        Raises:
            CredentialsRefused: the account's credentials cannot be used.
        """
        ...
