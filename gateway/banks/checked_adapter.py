"""
Checks every answer of every adapter before services see it.

``connect`` puts this around each adapter that is made, so that all surfaces, the follow-up,
verification and commands call banks through it. A read that raises anything but a
``ProviderError``, or returns an impossible value, becomes a ``BadReply``; a call that moves money
becomes ``Unknown`` and never raises. Both are counted and logged, under our own names and never
with the adapter's text.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from traceback import walk_tb
from typing import Final, cast

from gateway.banks.port import answers
from gateway.banks.port.answers import WrongAnswer
from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import (
    BadReply,
    CredentialsRefused,
    EveryCall,
    Evidence,
    NotFound,
    NotSupported,
    Outcome,
    OutcomeUnknown,
    Page,
    Phase,
    ProviderAccount,
    ProviderAdapter,
    ProviderError,
    RateLimited,
    Reason,
    Refused,
    Rejected,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.banks.port.refunds import RefundOrder
from gateway.core.bank_calls import NoTurn, Turn, turn_at_bank
from gateway.core.clocks import Deadline
from gateway.telemetry.ports import Count, Event
from gateway.telemetry.records import current_record

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


Check = Callable[..., object]
"""Returns an answer that may be right, given it and what was asked; raises for any other."""

_CHECKS: Final[Mapping[str, Check]] = {
    "probe": answers.nothing,
    "get_balance": lambda found, _account: answers.balance(found),
    "list_statement": lambda found, _account, _window, *page: answers.statement(found, *page),
    "list_keys": lambda found, _account: answers.keys(found),
    "get_key": lambda found, account, key_id: answers.key(found, account.account_id, key_id),
    "create_key": lambda found, _account, order: answers.created_key(found, order),
    "cancel_key": lambda found, _account, key: answers.cancelled_key(found, key),
    "look_up_key": lambda found, _account, key: answers.key_owner(found, key),
    "get_charge": lambda found, _account, reference: answers.charge(found, reference),
    "get_charge_payment": lambda found, _account, named: answers.charge_payment(found, named),
    "create_charge": lambda found, _account, order: answers.created_charge(found, order),
    "cancel_charge": lambda found, _account, reference: answers.charge(found, reference),
    "find_payout": lambda found, _account, key, _id: answers.found_outcome(found, key),
    "find_received": lambda found, _account, e2e_id: answers.received(found, e2e_id),
    "list_received": lambda found, _account, _window, *page: answers.received_page(found, *page),
    "find_refund": lambda found, _account, key: answers.refund(found, key),
    "list_refunds": lambda found, _account, _window, *page: answers.refund_page(found, *page),
    "list_blocks": lambda found, _account: answers.blocks(found),
    "register_callback": lambda found, _account, order: answers.registered(found, order),
    "list_callbacks": lambda found, _account: answers.registrations(found),
    "remove_callback": lambda found, *_asked: answers.nothing(found),
    "list_missed_events": lambda found, _account, most: answers.missed_events(found, most),
    "acknowledge_events": lambda found, *_asked: answers.nothing(found),
}
"""Of every call that fails by raising, by its name."""


class CheckedAdapter:
    """
    An adapter whose answers are all checked; ``checked_calls`` gives it the port's type.

    Attributes:
        capabilities: As the adapter declares them; read once.
        checked: The adapter itself.
    """

    def __init__(self, provider: str, adapter: ProviderAdapter, count: Count) -> None:
        """Wrap the adapter of a configured provider; ``count`` is called with its faults."""
        self.checked = adapter
        self.capabilities = adapter.capabilities
        self._largest = adapter.capabilities.max_value
        self._provider = provider
        self._count = count
        for call, check in _CHECKS.items():
            setattr(self, call, partial(self._read, call, check))

    async def start(self) -> None:
        """Start the adapter."""
        await self.checked.start()

    async def close(self) -> None:
        """Close the adapter."""
        await self.checked.close()

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """
        Pay out; never raises but for a cancelled request.

        An amount above the bank's limit is ``Rejected`` without a call of the adapter.
        """
        if self._largest is not None and order.value > self._largest:
            return _ABOVE_LARGEST
        return await self._pay("create_payout", account, order, send_by)

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        """Refund; never raises but for a cancelled request."""
        return await self._pay("create_refund", account, order, send_by)

    async def _read(self, operation: str, check: Check, *asked: object) -> object:
        """
        Make a call whose failures raise.

        Raises:
            ProviderError: as the adapter raised, in our words; ``BadReply`` for a breach of the
                port; ``NotSupported`` for a call that the adapter lacks.
        """
        call = getattr(self.checked, operation, None)
        if call is None:
            raise NotSupported(Reason.NOT_SUPPORTED)
        turn = turn_at_bank.get()
        if turn is not None:
            call = partial(self._in_turn, turn, call)
        try:
            answer = await call(*asked)
        except ProviderError as problem:
            raise _in_our_words(problem) from None
        except (Exception, SystemExit, asyncio.CancelledError) as mistake:
            if _is_stopped(mistake):
                raise
            raise BadReply(self._raised(operation, mistake)) from None
        try:
            checked = check(answer, *asked)
        except Exception as wrong:  # noqa: BLE001 - a value may raise anything when looked at
            raise BadReply(self._wrong(operation, wrong)) from None
        if checked is not answer:
            self._left_out(operation, _rows(answer) - _rows(checked))
        return checked

    async def _in_turn(
        self, turn: Turn, call: Callable[..., Awaitable[object]], *asked: object
    ) -> object:
        """Make a call for a person; ``Unreachable`` where no turn came in time."""
        try:
            async with turn(self._provider):
                return await call(*asked)
        except NoTurn:
            raise Unreachable(Reason.BULKHEAD_FULL) from None

    async def _pay(
        self,
        operation: str,
        account: ProviderAccount,
        order: PayoutOrder | RefundOrder,
        send_by: Deadline,
    ) -> Outcome:
        """Make a call that moves money; no failure in it proves anything."""
        try:
            answer = await getattr(self.checked, operation)(account, order, send_by)
        except (Exception, SystemExit, asyncio.CancelledError) as mistake:
            if _is_stopped(mistake):
                raise
            return _unknown(self._raised(operation, mistake))
        try:
            return answers.ordered_outcome(answer, order.provider_key, order.value)
        except Exception as wrong:  # noqa: BLE001 - a value may raise anything when looked at
            return _unknown(self._wrong(operation, wrong))

    def _raised(self, operation: str, mistake: BaseException) -> Reason:
        """Report an adapter's exception by class and place; its message may hold data."""
        where = [
            f"{frame.f_globals.get('__name__', '?')}:{line}"
            for frame, line in walk_tb(mistake.__traceback__)
        ]
        self._report(operation, f"raised={type(mistake).__name__} at={where[-1]}")
        return Reason.ADAPTER_RAISED

    def _wrong(self, operation: str, wrong: Exception) -> Reason:
        field = wrong.field if isinstance(wrong, WrongAnswer) else type(wrong).__name__
        self._report(operation, f"wrong={field}")
        return Reason.ADAPTER_ANSWER_INVALID

    def _left_out(self, operation: str, rows: int) -> None:
        """Report invalid rows of a list, which are left out."""
        if rows:
            _log.warning("%d odd rows left out: %s.%s", rows, self._provider, operation)
        for _ in range(rows):
            self._count(Event.ROW_UNREADABLE, self._provider)

    def _report(self, operation: str, what: str) -> None:
        """Count a fault, log it, and add it to the request's trace, where the call counts as ok."""
        self._count(Event.ADAPTER_FAULT, f"{self._provider}.{operation}")
        _log.warning("adapter_fault provider=%s operation=%s %s", self._provider, operation, what)
        record = current_record()
        if record is not None:
            record.provider, record.provider_outcome = self._provider, _OF_THE_CALL


def checked_calls(provider: str, adapter: ProviderAdapter, count: Count) -> EveryCall:
    """Return an adapter whose answers are checked; a missing call raises ``NotSupported``."""
    return cast("EveryCall", CheckedAdapter(provider, adapter, count))


def _rows(answer: object) -> int:
    """Count the rows of a list; zero for anything else."""
    found = answer.items if isinstance(answer, Page) else answer
    return len(found) if isinstance(found, list | tuple) else 0


def _is_stopped(problem: BaseException) -> bool:
    """Return whether our own task was cancelled; an adapter may leak a cancellation of its own."""
    task = asyncio.current_task()
    cancelled = isinstance(problem, asyncio.CancelledError)
    return cancelled and (task is None or task.cancelling() > 0)


def _unknown(reason: Reason) -> Unknown:
    """Return the worst outcome of a call that moves money."""
    return Unknown(Evidence(phase=Phase.SENT, bytes_left=True, reason=reason))


def _in_our_words(problem: ProviderError) -> ProviderError:
    """Return a failure without the bank's text: class, fixed word, status, wait."""
    kind = next((kind for kind in _CLASSES if isinstance(problem, kind)), BadReply)
    status, wait = getattr(problem, "http_status", None), getattr(problem, "retry_after", None)
    return kind(
        answers.known_reason(getattr(problem, "reason", None)),
        http_status=status if type(status) is int and status in _STATUSES else None,
        retry_after=float(wait) if answers.is_wait(wait) else None,
    )
