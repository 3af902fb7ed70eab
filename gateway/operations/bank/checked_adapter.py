"""
Every answer of every adapter, checked once on its way to the operations.

``connect`` puts this around each adapter that is made, so that all surfaces, the follow-up,
verification and commands call banks through it. A read that raises anything but a
``ProviderError``, or returns what cannot be right, becomes a ``BadReply``; a call that moves
money becomes ``Unknown`` and never raises. Both are counted and logged: by names of ours, never
by what the adapter said.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from traceback import walk_tb
from typing import Final, TypeVar

from gateway.domain.bank import answers, outcomes, provider_callbacks
from gateway.domain.bank.answers import WrongAnswer
from gateway.domain.bank.charges import Charge, ChargeOrder, ChargePayment
from gateway.domain.bank.payout_orders import FailureCode, PayoutOrder
from gateway.domain.bank.pix_keys import KeyOrder, KeyOwner, PixKey
from gateway.domain.bank.provider_callbacks import (
    CallbackOrder,
    MissedEvent,
    RegisteredCallback,
)
from gateway.domain.bank.provider_options import OutcomeUnknown
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    BadReply,
    CredentialsRefused,
    Evidence,
    NotFound,
    NotSupported,
    Outcome,
    Page,
    Phase,
    ProviderAccount,
    ProviderAdapter,
    ProviderError,
    RateLimited,
    Refused,
    Rejected,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.domain.bank.refunds import IncomingPayment, Refund, RefundOrder
from gateway.domain.bank.statements import Balance, Block, Entry
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.windows import Window
from gateway.telemetry.ports import Count, Event
from gateway.telemetry.records import current_record

Value = TypeVar("Value")

_log: Final = logging.getLogger(__name__)

_CLASSES: Final = (
    *(NotSupported, NotFound, Refused, CredentialsRefused, RateLimited),
    *(Unreachable, OutcomeUnknown, BadReply, Unavailable),
)
_STATUSES: Final = range(100, 600)
_OF_THE_CALL: Final = "bad_response"
_ABOVE_LARGEST: Final = Rejected(
    evidence=Evidence(phase=Phase.REFUSED_HERE, bytes_left=False, reason=Reason.UNSENDABLE),
    failure=FailureCode.LIMIT_EXCEEDED,
    forbidden=True,
)


class CheckedAdapter:
    """
    An adapter of whose answers nothing is believed; a ``ProviderAdapter``, optional calls too.

    Attributes:
        capabilities: As the adapter declares them; read once.
        checked: The adapter itself.
    """

    def __init__(self, provider: str, adapter: ProviderAdapter, count: Count) -> None:
        """Stand before the adapter of a configured provider; ``count`` is told its faults."""
        self.checked = adapter
        self.capabilities = adapter.capabilities
        self._largest = adapter.capabilities.max_value
        self._provider = provider
        self._count = count

    async def start(self) -> None:
        """Start the adapter."""
        await self.checked.start()

    async def close(self) -> None:
        """Close the adapter."""
        await self.checked.close()

    async def probe(self) -> None:
        """Reach the bank."""
        await self._read("probe", answers.nothing)

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance."""
        return await self._read("get_balance", answers.balance, account)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of movements."""

        def believed(answer: object) -> Page[Entry]:
            return answers.statement(answer, cursor, limit)

        return await self._read("list_statement", believed, account, window, cursor, limit)

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read every PIX key."""
        return await self._read("list_keys", answers.keys, account)

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Read one key."""

        def believed(answer: object) -> PixKey:
            return answers.key(answer, account.account_id, key_id)

        return await self._read("get_key", believed, account, key_id)

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge."""

        def believed(answer: object) -> Charge:
            return answers.charge(answer, reference)

        return await self._read("get_charge", believed, account, reference)

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """Read a charge as a transaction."""

        def believed(answer: object) -> ChargePayment:
            return answers.charge_payment(answer, reference)

        return await self._read("get_charge_payment", believed, account, reference)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """
        Pay out; never raises but for a request that was cancelled.

        More than the bank pays at once is ``Rejected``, and the adapter is not asked.
        """
        if self._largest is not None and order.value > self._largest:
            return _ABOVE_LARGEST
        return await self._pay("create_payout", account, order, send_by)

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        """Look a payout up."""

        def believed(answer: object) -> Outcome:
            return outcomes.looked_up(answer, provider_key)

        return await self._read("find_payout", believed, account, provider_key, provider_id)

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """Register a key."""

        def believed(answer: object) -> PixKey:
            return answers.created_key(answer, order)

        return await self._read("create_key", believed, account, order)

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """Give a key up."""

        def believed(answer: object) -> PixKey:
            return answers.cancelled_key(answer, key)

        return await self._read("cancel_key", believed, account, key)

    async def look_up_key(self, account: ProviderAccount, key: str) -> KeyOwner:
        """Ask who is behind a key."""

        def believed(answer: object) -> KeyOwner:
            return answers.key_owner(answer, key)

        return await self._read("look_up_key", believed, account, key)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """Make a charge."""

        def believed(answer: object) -> Charge:
            return answers.created_charge(answer, order)

        return await self._read("create_charge", believed, account, order)

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Cancel a charge."""

        def believed(answer: object) -> Charge:
            return answers.charge(answer, reference)

        return await self._read("cancel_charge", believed, account, reference)

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment received."""

        def believed(answer: object) -> IncomingPayment:
            return answers.received(answer, e2e_id)

        return await self._read("find_received", believed, account, e2e_id)

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read a page of payments received."""

        def believed(answer: object) -> Page[IncomingPayment]:
            return answers.received_page(answer, cursor, limit)

        return await self._read("list_received", believed, account, window, cursor, limit)

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        """Give money back; never raises but for a request that was cancelled."""
        return await self._pay("create_refund", account, order, send_by)

    async def find_refund(self, account: ProviderAccount, provider_key: str) -> Refund:
        """Look a refund up."""

        def believed(answer: object) -> Refund:
            return answers.refund(answer, provider_key)

        return await self._read("find_refund", believed, account, provider_key)

    async def list_refunds(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Refund]:
        """Read a page of refunds."""

        def believed(answer: object) -> Page[Refund]:
            return answers.refund_page(answer, cursor, limit)

        return await self._read("list_refunds", believed, account, window, cursor, limit)

    async def list_blocks(self, account: ProviderAccount) -> Sequence[Block]:
        """Read every block."""
        return await self._read("list_blocks", answers.blocks, account)

    async def register_callback(
        self, account: ProviderAccount, order: CallbackOrder
    ) -> RegisteredCallback:
        """Have callbacks sent to us."""

        def believed(answer: object) -> RegisteredCallback:
            return provider_callbacks.registered(answer, order)

        return await self._read("register_callback", believed, account, order)

    async def list_callbacks(self, account: ProviderAccount) -> Sequence[RegisteredCallback]:
        """Read every address that the bank has."""
        return await self._read("list_callbacks", provider_callbacks.registrations, account)

    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> None:
        """Have no more sent to an address."""
        await self._read("remove_callback", answers.nothing, account, callback_id)

    async def list_missed_events(
        self, account: ProviderAccount, limit: int
    ) -> Sequence[MissedEvent]:
        """Read events that could not be delivered."""

        def believed(answer: object) -> Sequence[MissedEvent]:
            return provider_callbacks.missed_events(answer, limit)

        return await self._read("list_missed_events", believed, account, limit)

    async def acknowledge_events(self, account: ProviderAccount, event_ids: Sequence[str]) -> None:
        """Say that missed events were read."""
        await self._read("acknowledge_events", answers.nothing, account, event_ids)

    async def _read(
        self, operation: str, believed: Callable[[object], Value], *asked: object
    ) -> Value:
        """
        Make a call that fails by raising.

        Raises:
            ProviderError: as the adapter said, in our words; ``BadReply`` for whatever an
                adapter must not do; ``NotSupported`` for a call that it has not.
        """
        call = getattr(self.checked, operation, None)
        if call is None:
            raise NotSupported(Reason.NOT_SUPPORTED)
        try:
            answer = await call(*asked)
        except ProviderError as problem:
            raise _in_our_words(problem) from None
        except (Exception, SystemExit, asyncio.CancelledError) as mistake:
            if _is_stopped(mistake):
                raise
            raise BadReply(self._raised(operation, mistake)) from None
        try:
            return believed(answer)
        except Exception as wrong:  # noqa: BLE001 - a value may raise anything when looked at
            raise BadReply(self._wrong(operation, wrong)) from None

    async def _pay(
        self,
        operation: str,
        account: ProviderAccount,
        order: PayoutOrder | RefundOrder,
        send_by: Deadline,
    ) -> Outcome:
        """Make a call that moves money; whatever goes wrong in it proves nothing."""
        try:
            answer = await getattr(self.checked, operation)(account, order, send_by)
        except (Exception, SystemExit, asyncio.CancelledError) as mistake:
            if _is_stopped(mistake):
                raise
            return _unknown(self._raised(operation, mistake))
        try:
            return outcomes.ordered(answer, order.provider_key, order.value)
        except Exception as wrong:  # noqa: BLE001 - a value may raise anything when looked at
            return _unknown(self._wrong(operation, wrong))

    def _raised(self, operation: str, mistake: BaseException) -> Reason:
        """Report what an adapter raised: its class and where, for its message may hold data."""
        where = [
            f"{frame.f_globals.get('__name__', '?')}:{line}"
            for frame, line in walk_tb(mistake.__traceback__)
        ]
        self._report(operation, f"raised={type(mistake).__name__} at={where[-1]}")
        return Reason.ADAPTER_RAISED

    def _wrong(self, operation: str, wrong: Exception) -> Reason:
        """Report which part of an answer cannot be right."""
        field = wrong.field if isinstance(wrong, WrongAnswer) else type(wrong).__name__
        self._report(operation, f"wrong={field}")
        return Reason.ADAPTER_ANSWER_INVALID

    def _report(self, operation: str, what: str) -> None:
        """Count a fault, log it, and tell the record of the request, for which the call went ok."""
        self._count(Event.ADAPTER_FAULT, f"{self._provider}.{operation}")
        _log.warning("adapter_fault provider=%s operation=%s %s", self._provider, operation, what)
        record = current_record()
        if record is not None:
            record.provider, record.provider_outcome = self._provider, _OF_THE_CALL


def _is_stopped(problem: BaseException) -> bool:
    """Say whether our own task was cancelled; an adapter may leak a cancellation of its own."""
    task = asyncio.current_task()
    cancelled = isinstance(problem, asyncio.CancelledError)
    return cancelled and (task is None or task.cancelling() > 0)


def _unknown(reason: Reason) -> Unknown:
    """Assume the worst of a call that moves money."""
    return Unknown(Evidence(phase=Phase.SENT, bytes_left=True, reason=reason))


def _in_our_words(problem: ProviderError) -> ProviderError:
    """Return a failure without anything of the bank's: class, fixed word, status, a wait."""
    kind = next((kind for kind in _CLASSES if isinstance(problem, kind)), BadReply)
    status, wait = getattr(problem, "http_status", None), getattr(problem, "retry_after", None)
    return kind(
        outcomes.known_reason(getattr(problem, "reason", None)),
        http_status=status if type(status) is int and status in _STATUSES else None,
        retry_after=float(wait) if outcomes.is_wait(wait) else None,
    )
