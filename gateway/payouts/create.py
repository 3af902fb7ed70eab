"""
Payouts: the intent is stored first, sent once, and its outcome recorded.

Money is sent only by the winner of the compare-and-set: inside a caller's own request, or by
the release of a hold (ADR 0058). A payout with an unknown outcome is never sent again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, NoReturn

from gateway.banks.connections import offered, paying_bank_of, payout_calls, refuse_letters
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.providers import (
    Accepted,
    Bank,
    Banks,
    Evidence,
    NotFound,
    NotSent,
    Outcome,
    Phase,
    ProviderError,
    Reason,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core import errors
from gateway.core.account import Account, Environment
from gateway.core.calls import Caller
from gateway.core.catalogue import ErrorCode, bounded_wait
from gateway.core.clocks import Deadline, Monotonic, Now
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.night import NIGHT, Night
from gateway.core.storage import LimitReached, StoreUnavailable, Writes
from gateway.core.trace import current_trace_id
from gateway.core.windows import Listed, Search
from gateway.net.common.runtime import Failpoint, unarmed
from gateway.payouts.first_payees import FirstPayeeLimit
from gateway.payouts.followup import FollowUp, Moved, unobserved
from gateway.payouts.model import (
    KNOWN_AFTER,
    Attempt,
    Change,
    Failure,
    FirstPayee,
    ListedPayout,
    Payout,
    PayoutRequest,
    PayoutState,
    hold_of,
    provider_key,
)
from gateway.payouts.owner_mismatches import OwnerMismatches
from gateway.payouts.schedule import end_of_day
from gateway.payouts.store import StoredPayouts
from gateway.stops.model import Stop
from gateway.telemetry.ports import Count, Event, HoldOutcome
from gateway.telemetry.records import current_record

# No byte of a payout leaves later than this after its attempt began.
SEND_S = 20.0
# Longer than SEND_S and the wait for the bank's answer: nobody else acts on a live attempt.
LEASE_S = 60.0
# A repeated request waits this long for the one that is sending, then answers `processing`.
WAIT_FOR_WINNER_S = 5.0
_WAIT_STEP_S = 0.1

_OPEN = frozenset({PayoutState.SENDING, PayoutState.UNKNOWN})
_ONLY_SENDING = frozenset({PayoutState.SENDING})

STORE_FULL: Final = "store_full"
"""The store is full or read-only: a payout is refused before it is stored."""

CANNOT_LOOK_FIRST: Final = "cannot_look_first"
"""The bank cannot be asked for an attempt that the store may have forgotten."""
_REFUSED_THERE: Final[Mapping[str, ErrorCode]] = {
    Reason.CREDENTIALS_REFUSED: errors.PROVIDER_CREDENTIALS_REFUSED,
    Reason.RATE_LIMITED: errors.PROVIDER_BUSY,
}
"""Why a payout was not sent, where repeating it at once would not help."""

CERTAINLY_NOT_SENT: Final = (errors.PROVIDER_UNREACHABLE, *_REFUSED_THERE.values())
"""Codes of a payout that moved nothing and may be repeated."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SimilarPolicy:
    """
    Treatment of a payout similar to one under another reference.

    Attributes:
        within: How long ago the other may have been created; zero looks at none.
        refuse: Refuse it, rather than only log it.
    """

    within: timedelta
    refuse: bool


@dataclass(frozen=True, slots=True)
class HoldPolicy:
    """
    Which payouts to a first payee are held, and how long.

    Attributes:
        above: A payout by which a first payee gets more within a day is held.
        lasts: From when a payout is stored, at most to the end of its day.
        digests: Computes the digests of a payee's tax number, under every key.
    """

    above: Money
    lasts: timedelta
    digests: Callable[[str], Sequence[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutGuards:
    """
    Checks before a payout is stored or sent again.

    Attributes:
        stops: Gives the stops in force; those of other processes at most a second late.
        mismatches: Limits refusals that tell whose key it is not.
        count: Counts payouts that were stopped or held, or look like an earlier one.
        hold: None where no payout is held.
        writes: Whether the store takes new payouts.
    """

    stops: Callable[[], Awaitable[Sequence[Stop]]]
    store: StoredPayouts
    similar: SimilarPolicy
    mismatches: OwnerMismatches
    now: Now
    count: Count
    hold: HoldPolicy | None = None
    writes: Writes = field(default_factory=Writes)

    @property
    def since(self) -> datetime | None:
        """Return the start of the search for similar payouts; None for no search."""
        return self.now() - self.similar.within if self.similar.within else None

    async def admit(self, caller: Caller, payout: Payout, similar: Sequence[str]) -> None:
        """
        Admit the payout; ``similar`` are the references of similar ones.

        Raises:
            ServiceError: ``SVC.PIX.010`` (403) when payouts are stopped here,
                or when one like it is refused; ``SVC.GTW.006`` when the store is full;
                ``SVC.GTW.005`` (429) as ``OwnerMismatches.check``.
            StoreUnavailable: the store did not answer; nothing is sent then.
        """
        if self.writes.are_refused:
            self.count(Event.SHED, f"payouts.{STORE_FULL}")
            raise ServiceError(errors.OVERLOADED, STORE_FULL, {"Retry-After": "1"})
        await self.go_on(caller)
        if payout.client_id in self.mismatches.refused_until:
            self.mismatches.check(payout)
        if similar:
            self.count(Event.PAYOUT_SIMILAR, payout.provider)
            _log.warning("payout_similar provider_key=%s", payout.provider_key)
            if self.similar.refuse:
                raise ServiceError(errors.PAYOUT_NOT_ALLOWED, "similar")

    async def go_on(self, caller: Caller) -> None:
        """
        Check that this caller's payouts are not stopped; needs no stored payout.

        Raises:
            ServiceError: ``SVC.PIX.010`` (403) when payouts are stopped here.
            StoreUnavailable: the store did not answer.
        """
        stop = await self.stop_of(caller)
        if stop is not None:
            self.count(Event.PAYOUT_STOPPED, stop.scope.value)
            raise ServiceError(errors.PAYOUTS_STOPPED, "stopped")

    async def stop_of(self, caller: Caller) -> Stop | None:
        """Return the stop that holds this caller's payouts; raises ``StoreUnavailable``."""
        now = self.now()
        for stop in await self.stops():
            if stop.holds(caller.principal, caller.account, now):
                return stop
        return None

    async def first_payee(self, caller: Caller, payout: Payout) -> FirstPayee | None:
        """
        Return how much the payee of a new payout gets unheld; None for as much as is ordered.

        Raises:
            StoreUnavailable: the store did not answer; nothing is sent then.
        """
        if self.hold is None:
            return None
        first = FirstPayee(
            company_id=caller.account.company_id,
            digests=self.hold.digests(payout.destination.tax_number),
            since=payout.created_at - KNOWN_AFTER,
            most=self.hold.above,
            held_until=min(payout.created_at + self.hold.lasts, end_of_day(payout.date)),
        )
        return None if await self.store.has_paid(payout, first) else first

    async def similar_to(self, payout: Payout) -> Sequence[str]:
        """Return other references that pay the same amount to the same recipient."""
        if not self.similar.within:
            return ()
        return await self.store.similar(payout, payout.created_at - self.similar.within)


def _no_digest(_number: str) -> bytes:
    """Return no digest: such payouts cannot be found by recipient."""
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutConfig:
    """
    Settings of payouts.

    Attributes:
        count: Counts steps that another process took first, by provider.
        moved: Called with every step taken.
        look_first: Query the bank for the payout before it is sent. After a
            restore from backup the store may lack payouts that were sent.
        payee_digest: Computes the digest that finds a payout by the recipient's tax number.
        night: The default limits of the night, and its hours.
        failpoint: Called around each commit; may end the process there (see ``app/failpoints.py``).
    """

    environment: Environment
    now: Now
    monotonic: Monotonic
    count: Count
    look_first: bool = False
    moved: Moved = unobserved
    payee_digest: Callable[[str], bytes] = _no_digest
    night: Night = NIGHT
    failpoint: Failpoint = unarmed


@dataclass(frozen=True, slots=True)
class Payouts:
    """Creates and reads payouts (contract 2.6)."""

    store: StoredPayouts
    banks: Banks
    follow_up: FollowUp
    guards: PayoutGuards
    config: PayoutConfig

    async def create(self, caller: Caller, request: PayoutRequest) -> Payout:
        """
        Pay out, or return the payout that the reference already names.

        Safe to repeat with the same content, at any time and from anywhere.

        Raises:
            ServiceError: the codes of contract 2.6 and part 7;
                one of ``CERTAINLY_NOT_SENT`` when it was certainly not sent,
                ``PAYOUT_UNKNOWN`` when that is not known.
            StoreUnavailable: nothing was sent by this call.
        """
        tell_method(request.method)
        met = await self.store.precedents(caller.account.id, request, self.guards.since)
        stored = met.stored
        if stored is None:
            bank = self._admit(caller.account, request)
            started = self.config.monotonic()
            intent, attempt = self._intent(caller, request, bank)
            await self.guards.admit(caller, intent, met.similar)
            first = await self.guards.first_payee(caller, intent)
            try:
                stored = await self._add(caller, intent, attempt, first)
            except FirstPayeeLimit as above:
                return await self._hold(caller, request, intent, above.first.held_until)
            if stored is None:
                return await self._send(intent, bank, Deadline(started + SEND_S, self._clock))
        return await self._repeat(caller, request, stored)

    async def send_held(self, caller: Caller, held: Payout) -> bool:
        """
        Send a held payout whose hold is over, if it may be sent now; it is sent once.

        Returns:
            False if another process was first.

        Raises:
            ServiceError: it may not be sent: the account has another bank or none, payouts are
                stopped, or it is above a limit of its credential by now. Nothing was sent.
            StoreUnavailable: nothing was sent by this call.
        """
        self.config.failpoint("before_release")
        bank = self._admit(caller.account, held.request())
        if not held.was_sent_from(bank):
            # Nobody ordered it from there; and after a restore it may have left from the other one.
            raise ServiceError(errors.PROVIDER_NOT_CONFIGURED, "bank_changed")
        started = self.config.monotonic()
        attempt = self._attempt(held.attempt + 1, bank)
        claimed = self._claimed(held, attempt, bank)
        await self.guards.go_on(caller)
        if not await self._claim(caller, claimed, attempt, held.state):
            self.config.count(Event.CAS_LOSS, bank.name)
            return False
        self.config.failpoint("after_release")
        with suppress(ServiceError):  # the outcome is recorded
            await self._send(claimed, bank, Deadline(started + SEND_S, self._clock))
        return True

    async def read(self, caller: Caller, reference: str) -> Payout:
        """Return a payout; an unsettled one is queried at the bank, at most once and shortly."""
        payout = await self.store.find(caller.account.id, reference)
        if payout is None:
            raise ServiceError(errors.PAYOUT_NOT_FOUND, "no_row")
        return await self.follow_up.look(payout, caller.account)

    async def search(self, caller: Caller, search: Search) -> Listed[ListedPayout]:
        """Return a page of payouts, newest created first."""
        found, total = await self.store.search(caller.account.id, search)
        return Listed(items=found, paging=search.paging, total=total)

    async def cancel(self, _caller: Caller, _taken: None) -> NoReturn:
        """Refuse: a submitted payout is final; its reference is not even looked up."""
        raise ServiceError(errors.CANCEL_NOT_IMPLEMENTED, "final")

    @property
    def _clock(self) -> Monotonic:
        """The clock of deadlines."""
        return self.config.monotonic

    def _admit(self, account: Account, request: PayoutRequest) -> Bank:
        """Check conditions that may change between two requests: the day and the provider."""
        refuse_letters(self.banks, account, request.tax_numbers())
        if request.date != self.config.now().date():
            raise ServiceError(errors.PAYOUT_DATE_NOT_TODAY, "not_today", field="date")
        return paying_bank_of(self.banks, account, request.method)

    def _intent(self, caller: Caller, request: PayoutRequest, bank: Bank) -> tuple[Payout, Attempt]:
        """Build the row and the first attempt of a new payout."""
        attempt = self._attempt(1, bank)
        payout = Payout(
            account_id=caller.account.id,
            reference=request.reference,
            fingerprint=request.fingerprint(),
            provider_key=provider_key(
                self.config.environment, caller.account.id, request.reference
            ),
            provider=bank.name,
            provider_account=bank.account.provider_account,
            client_id=caller.principal.client_id,
            method=request.method,
            value=request.value,
            date=request.date,
            description=request.description,
            destination=request.destination,
            destination_sent=request.destination_sent,
            state=PayoutState.SENDING,
            attempt=attempt.number,
            lease_until=attempt.lease_until,
            created_at=attempt.started_at,
            updated_at=attempt.started_at,
            payee_digest=self.config.payee_digest(request.destination.tax_number),
            owner=request.owner,
        )
        return payout, attempt

    async def _hold(
        self, caller: Caller, request: PayoutRequest, intent: Payout, until: datetime
    ) -> Payout:
        """Store a payout to be sent later, and return it; or answer as its reference demands."""
        held = replace(
            intent,
            state=PayoutState.HELD,
            attempt=0,
            lease_until=intent.created_at,
            held_until=until,
        )
        stored = await self._add(caller, held, None)
        if stored is not None:
            return await self._repeat(caller, request, stored)
        self.guards.count(Event.PAYOUT_HOLD, HoldOutcome.HELD)
        _log.info("payout_held provider_key=%s", held.provider_key)
        tell("held")
        return held

    def _claimed(self, stored: Payout, attempt: Attempt, bank: Bank) -> Payout:
        """Return a payout that was not sent as its next attempt makes it."""
        return replace(
            stored,
            state=PayoutState.SENDING,
            attempt=attempt.number,
            provider=bank.name,
            provider_account=bank.account.provider_account,
            lease_until=attempt.lease_until,
            updated_at=attempt.started_at,
            held_until=None,
        )

    async def _add(
        self,
        caller: Caller,
        intent: Payout,
        attempt: Attempt | None,
        first: FirstPayee | None = None,
    ) -> Payout | None:
        """Store the intent; a failing store ends the request before anything is sent."""
        self.config.failpoint("before_insert")
        limited = self.config.night.applies(caller.principal.limits, intent.updated_at)
        try:
            return await self.store.add(intent, attempt, limited=limited, first=first)
        except FirstPayeeLimit:
            raise
        except LimitReached as problem:
            raise above_limit(problem) from problem
        except StoreUnavailable:
            tell("intent_failed")
            raise

    def _attempt(self, number: int, bank: Bank) -> Attempt:
        """Build an attempt that begins now."""
        now = self.config.now()
        return Attempt(
            number=number,
            provider=bank.name,
            started_at=now,
            send_deadline=now + timedelta(seconds=SEND_S),
            lease_until=now + timedelta(seconds=LEASE_S),
            trace_id=current_trace_id(),
        )

    async def _repeat(self, caller: Caller, request: PayoutRequest, stored: Payout) -> Payout:
        """Answer a request whose reference is stored already."""
        if stored.fingerprint != request.fingerprint():
            tell("conflict")
            raise ServiceError(errors.PAYOUT_REFERENCE_IN_USE, "other_content")
        if stored.state is PayoutState.SENDING:
            return await self._wait_for_winner(stored)
        tell("duplicate")
        stored = await self.follow_up.end_day(stored)
        if stored.state is PayoutState.NOT_SENT:
            return await self._send_again(caller, request, stored)
        if stored.state in {PayoutState.REJECTED, PayoutState.FAILED}:
            raise rejection(stored)
        return stored

    async def _wait_for_winner(self, stored: Payout) -> Payout:
        """Wait briefly for the request that is sending, and return its result."""
        tell("duplicate")
        end = Deadline(self._clock() + WAIT_FOR_WINNER_S, self._clock)
        while stored.state is PayoutState.SENDING and not end.passed():
            stored = await self.follow_up.expire_lease(stored)
            if stored.state is PayoutState.UNKNOWN:
                return stored
            await asyncio.sleep(_WAIT_STEP_S)
            stored = await self.store.find(stored.account_id, stored.reference) or stored
        if stored.state in {PayoutState.REJECTED, PayoutState.FAILED}:
            raise rejection(stored)
        if stored.state is PayoutState.NOT_SENT:
            raise not_sent(await self._why_not_sent(stored))
        if stored.state is PayoutState.UNKNOWN:
            raise ServiceError(errors.PAYOUT_UNKNOWN, "unknown")
        return stored

    async def _why_not_sent(self, stored: Payout) -> str:
        """Return why the latest attempt of a payout sent nothing."""
        *_, latest = await self.store.attempts(stored.account_id, stored.reference)
        return latest.evidence.reason if latest.evidence else "not_sent"

    async def _send_again(self, caller: Caller, request: PayoutRequest, stored: Payout) -> Payout:
        """Retry a payout that was proven unsent, on its own day."""
        bank = self._admit(caller.account, request)
        if stored.date < request.date:  # midnight passed since its day was looked at
            return await self._repeat(caller, request, stored)
        if self.config.look_first and not stored.was_sent_from(bank):
            # The attempt that the store has forgotten is not to be found at another bank account.
            raise not_sent(CANNOT_LOOK_FIRST)
        started = self.config.monotonic()
        attempt = self._attempt(stored.attempt + 1, bank)
        client_id = caller.principal.client_id
        claimed = self._claimed(
            replace(stored, client_id=client_id, date=request.date), attempt, bank
        )
        await self.guards.admit(caller, claimed, await self.guards.similar_to(claimed))
        if await self._claim(caller, claimed, attempt):
            return await self._send(claimed, bank, Deadline(started + SEND_S, self._clock))
        self.config.count(Event.CAS_LOSS, bank.name)
        found = await self.store.find(stored.account_id, stored.reference)
        return await self._repeat(caller, request, found or stored)

    async def _claim(
        self,
        caller: Caller,
        claimed: Payout,
        attempt: Attempt,
        before: PayoutState = PayoutState.NOT_SENT,
    ) -> bool:
        self.config.failpoint("before_insert")
        limited = self.config.night.applies(caller.principal.limits, attempt.started_at)
        try:
            return await self.store.claim(claimed, attempt, limited=limited, before=before)
        except LimitReached as problem:
            raise above_limit(problem) from problem

    async def _send(self, payout: Payout, bank: Bank, send_by: Deadline) -> Payout:
        """Call the bank once, record the outcome, and return the result."""
        self.config.failpoint("after_insert")
        outcome: Outcome = Unknown(_unexplained("cancelled"))
        try:
            outcome = await self._ask(payout, bank, send_by)
            recorded = await self._record(payout, outcome)
        except asyncio.CancelledError:
            # Also while the answer waits for the store: what the bank said is not lost.
            await asyncio.shield(self._record(payout, outcome))
            raise
        return answer(payout, outcome, recorded=recorded)

    async def _ask(self, payout: Payout, bank: Bank, send_by: Deadline) -> Outcome:
        """Send; any exception of an adapter means an unknown outcome."""
        if self.config.look_first:
            seen = await seen_before(payout, bank)
            if seen is not None:
                return seen
        try:
            calls = payout_calls(bank)
            outcome = await calls.create_payout(bank.account, payout.order(), send_by)
        except Exception:  # noqa: BLE001 - an adapter's mistake must never pass for "not sent"
            return Unknown(_unexplained("adapter_raised"))
        if isinstance(outcome, Settled) and outcome.value != payout.value:
            return Unknown(replace(outcome.evidence, reason="amount_mismatch"))
        return outcome

    async def _record(self, payout: Payout, outcome: Outcome) -> bool:
        """Store an outcome; False if another process was first or the store failed."""
        change = _change(payout, outcome, self.config.now)
        self.config.failpoint("before_record")
        try:
            recorded = await self.store.record(change)
        except StoreUnavailable:
            return False
        self.config.failpoint("after_record")
        if recorded:
            self.config.moved(payout, change)
            if change.failure is not None:
                await self.guards.mismatches.note(payout, change.failure)
        else:
            self.config.count(Event.CAS_LOSS, payout.provider)
        return recorded


async def seen_before(payout: Payout, bank: Bank) -> Outcome | None:
    """
    Query the bank for an earlier payout of this key.

    Returns:
        None if the bank has none: the payout may be sent. The bank's answer if it has one.
        NotSent if the bank cannot be queried or gives no usable answer, since the payout may
        have been sent before.
    """
    if not bank.adapter.capabilities.finds():
        return _not_sent(CANNOT_LOOK_FIRST)
    try:
        calls = offered(bank, PortCall.FIND_PAYOUT)
        seen = await calls.find_payout(bank.account, payout.provider_key, "")
    except NotFound:
        return None
    except ProviderError as problem:
        return _not_sent(problem.reason)
    except Exception:  # noqa: BLE001 - an adapter's mistake is no leave to send
        return _not_sent("adapter_raised")
    if isinstance(seen, Settled) and seen.value != payout.value:
        return Unknown(replace(seen.evidence, reason="amount_mismatch"))
    return seen


def _not_sent(reason: str) -> NotSent:
    """Return the outcome of an attempt that ended before it could begin."""
    return NotSent(Evidence(phase=Phase.REFUSED_HERE, bytes_left=False, reason=reason))


def _change(payout: Payout, outcome: Outcome, now: Now) -> Change:
    """Convert the outcome of an attempt to the step it requires."""
    at = now()
    return Change(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=payout.attempt,
        before=_ONLY_SENDING if isinstance(outcome, Unknown) else _OPEN,
        at=at,
        evidence=outcome.evidence,
        **_said(outcome, at),
    )


def _said(outcome: Outcome, at: datetime) -> Mapping[str, Any]:
    """Return the state of an outcome, and the bank's answer about the payout."""
    match outcome:
        case Accepted(provider_id=provider_id, e2e_id=e2e_id):
            named = {"provider_id": provider_id, "e2e_id": e2e_id}
            return {"after": PayoutState.ACCEPTED, "held_until": hold_of(outcome, at), **named}
        case Settled(provider_id=provider_id, e2e_id=e2e_id, settled_at=settled_at):
            named = {"provider_id": provider_id, "e2e_id": e2e_id}
            return {"after": PayoutState.PAID, "settled_at": settled_at or at, **named}
        case Rejected(failure=code, forbidden=forbidden):
            return {"after": PayoutState.REJECTED, "failure": Failure(code, forbidden)}
        case NotSent():
            return {"after": PayoutState.NOT_SENT}
        case Unknown():
            return {"after": PayoutState.UNKNOWN}


def _unexplained(reason: str) -> Evidence:
    """Return the evidence of a call that ended without an outcome: bytes may have left."""
    return Evidence(phase=Phase.SENT, bytes_left=True, reason=reason)


def answer(payout: Payout, outcome: Outcome, *, recorded: bool) -> Payout:
    """
    Return the answer to the caller.

    An acknowledged payout is returned even if recording failed: the bank has it. A
    rejection is raised only once it is stored, lest money follow a refusal.

    Raises:
        ServiceError: for everything else than an acknowledged payout.
    """
    match outcome:
        case (
            Accepted(provider_id=provider_id, e2e_id=e2e_id)
            | Settled(provider_id=provider_id, e2e_id=e2e_id)
        ):
            tell("accepted")
            return replace(payout, provider_id=provider_id, e2e_id=e2e_id)
        case Rejected(failure=code, forbidden=forbidden) if recorded:
            tell("rejected")
            raise rejection(replace(payout, failure=Failure(code, forbidden)))
        case NotSent(evidence=evidence, retry_after=wait_s):
            raise not_sent(evidence.reason, wait_s)
        case _:
            tell("unknown")
            raise ServiceError(errors.PAYOUT_UNKNOWN, outcome.evidence.reason)


def not_sent(reason: str, wait_s: float | None = None) -> ServiceError:
    """Return the answer for a payout that certainly moved nothing."""
    error = _REFUSED_THERE.get(reason, errors.PROVIDER_UNREACHABLE)
    tell(reason if reason in _REFUSED_THERE else "not_sent")
    headers = {} if wait_s is None else {"Retry-After": str(bounded_wait(wait_s))}
    return ServiceError(error, reason, headers)


def rejection(payout: Payout) -> ServiceError:
    """Return the refusal for a stored rejection."""
    failure = payout.failure
    forbidden = failure is not None and failure.forbidden
    error = errors.PAYOUT_NOT_ALLOWED if forbidden else errors.PAYOUT_REJECTED
    return ServiceError(error, failure.code.lower() if failure else "rejected")


def above_limit(problem: LimitReached) -> ServiceError:
    """Return the refusal of a payout above a limit: certainly nothing was sent."""
    tell("rejected")
    return ServiceError(errors.CREDENTIAL_LIMIT, f"limit_{problem}")


def tell(outcome: str) -> None:
    """Add the outcome to the request's log line and metric."""
    record = current_record()
    if record is not None:
        record.payout = outcome


def tell_method(method: PayoutMethod) -> None:
    """Add the method to the request's log line."""
    record = current_record()
    if record is not None:
        record.payout_method = method.value
