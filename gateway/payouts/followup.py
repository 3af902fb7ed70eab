"""
Following an unsettled payout up: reads the bank, never sends.

Any number of nodes may follow up the same payout at once; the compare-and-set
of each step makes that harmless.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from gateway.banks.connections import offered
from gateway.banks.port.answers import known_reason
from gateway.banks.port.capabilities import PortCall, Repeat
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    Accepted,
    Bank,
    Banks,
    Evidence,
    NotFound,
    Outcome,
    Phase,
    PixReturn,
    ProviderError,
    Reason,
    Rejected,
    Settled,
    Unavailable,
    Unknown,
)
from gateway.core.account import Account
from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.payouts.events import Fact, PayoutEvent, evidence_facts, move_facts, probed
from gateway.payouts.matching import Asking, StatementSearch
from gateway.payouts.model import (
    Change,
    EventKind,
    Failure,
    Payout,
    PayoutState,
    absent_at,
    hold_of,
)
from gateway.payouts.owner_mismatches import OwnerMismatches
from gateway.payouts.store import StoredPayouts
from gateway.telemetry.ports import Count, Event

_log = logging.getLogger(__name__)

Hear = Callable[[PayoutEvent], None]
"""Receives an answer of a bank that changes nothing; a step is an event of its own."""
Moved = Callable[[Payout, Change], None]
"""Receives a payout as it stood, and the step that was recorded."""

# A read of a payout waits this long for the bank, then answers with what is stored.
LOOK_S = 2.0

UNSETTLED = frozenset({PayoutState.UNKNOWN, PayoutState.ACCEPTED})
"""The states a bank's word can move."""
_UNSENT = frozenset({PayoutState.HELD, PayoutState.NOT_SENT})
_ORDERED = frozenset({PayoutState.ACCEPTED, PayoutState.PAID})
_ELSEWHERE = Reason.DESTINATION_MISMATCH
_FOUND: Final = {
    Settled: "settled",
    Accepted: "accepted",
    Rejected: "rejected",
    Unknown: "unknown",
}


def unobserved(_payout: Payout, _change: Change) -> None:
    """Ignore a step."""


def ignore(_event: PayoutEvent) -> None:
    """Ignore an answer."""


@dataclass(frozen=True, slots=True)
class StatusQuery:
    """
    One status query at a bank; each answer returns the payout as it stands then.

    Answers that change nothing are recorded as events.
    """

    payout: Payout
    asked_at: datetime
    now: Now
    hear: Hear

    def not_found(self) -> Payout:
        """Record that the bank did not find the payout, which proves nothing yet."""
        return self._record("not_found", {})

    def failed(self, problem: Exception) -> Payout:
        """Record that there was no answer, with our word for the reason."""
        if isinstance(problem, ProviderError):
            facts: dict[str, Fact] = {"reason": known_reason(problem.reason)}
            if problem.http_status is not None:
                facts["http_status"] = problem.http_status
            return self._record("no_answer", facts)
        lost = isinstance(problem, TimeoutError)
        reason = Reason.TIMEOUT if lost else Reason.ADAPTER_RAISED
        return self._record("no_answer", {"reason": reason.value})

    def proved_nothing(self, said: Outcome) -> Payout:
        """Record an answer that changes no state."""
        return self._record(_FOUND.get(type(said), "unknown"), evidence_facts(said.evidence))

    def contradicted(self, said: Outcome) -> Payout:
        """Record an answer that differs from the order: users decide."""
        facts = evidence_facts(said.evidence) | {"review": True}
        if isinstance(said, Settled):
            facts |= move_facts(said, self.payout.value)
        self._record(_FOUND.get(type(said), "unknown"), facts)
        return replace(self.payout, review=True)

    def _record(self, found: str, facts: dict[str, Fact]) -> Payout:
        self.hear(probed(self.payout, found, self.asked_at, self.now(), facts))
        return self.payout


@dataclass(frozen=True, slots=True)
class FollowUp:
    """
    Moves a payout to the state that the bank's answer proves.

    Attributes:
        count: Counts returns, and steps that another process did first, by provider.
        mismatches: Counts refusals that tell whose key it is not.
        look_first: The store was restored from a backup: a payout stored
            as not sent may have been sent by a lost attempt.
        moved: Called with every step taken.
        certain: A clock never ahead of the elapsed time, for the end of leases and
            quiet periods. Without it, ``now`` is used.
    """

    store: StoredPayouts
    banks: Banks
    now: Now
    count: Count
    mismatches: OwnerMismatches
    look_first: bool = False
    moved: Moved = unobserved
    certain: Now | None = None

    async def look(
        self,
        payout: Payout,
        account: Account,
        within_s: float = LOOK_S,
        named: str = "",
        hear: Hear = ignore,
    ) -> Payout:
        """
        Return the payout after at most one status query.

        A bank or store that fails here is not an error: the payout is returned
        as it was last known. Where the bank contradicts the order, it is
        returned for review. ``named`` is the bank's id of it as a callback says, for a bank
        that finds it by nothing else; it counts only if the bank then repeats our key.
        """
        payout = await self.expire_lease(payout)
        ended = self._end_of_day(payout)
        if ended is not None:
            return await self._try(payout, ended)
        if payout.state in UNSETTLED:
            query = StatusQuery(payout, self.now(), self.now, hear)
            return await self._ask(query, account, within_s, named)
        return payout

    async def search_statement(self, payout: Payout, account: Account, within_s: float) -> Payout:
        """Return the payout after a search for its movement in the bank's statement."""
        [seen] = await self.search_statements([payout], account, Asking(within_s=within_s))
        return seen

    async def search_statements(
        self, payouts: Sequence[Payout], account: Account, asking: Asking
    ) -> Sequence[Payout]:
        """
        Return payouts of an account and its bank, after one search for their movements.

        The statement is read once for all of them. Movements found count even if a later page
        cannot be read, so that one missing payout does not affect the others.
        """
        unsettled = [each for each in payouts if each.state in UNSETTLED]
        sought = [each for each in unsettled if self._bank(each, account) is not None]
        bank = self._bank(sought[0], account) if sought else None
        if bank is None:
            return payouts
        search = StatementSearch(sought, bank)
        try:
            await search.walk(self.now(), asking)
        except (ProviderError, TimeoutError):
            pass  # what was seen until then is seen
        except Exception as mistake:  # noqa: BLE001 - an adapter's mistake is none of the payout's
            _log.warning("list_statement of %s raised %s", bank.name, type(mistake).__name__)
        return await asyncio.gather(*(self._found(each, search.found) for each in payouts))

    async def _found(self, payout: Payout, found: Mapping[str, Settled]) -> Payout:
        """Apply a statement's proof of a payout, if there is one."""
        said = found.get(payout.provider_key)
        if said is None:
            return payout
        return await self._take(StatusQuery(payout, self.now(), self.now, ignore), said)

    async def expire_lease(self, payout: Payout) -> Payout:
        """Set a payout to unknown when its sender's lease has expired; an owned payout stays."""
        if payout.state is not PayoutState.SENDING or self._certain() < payout.lease_until:
            return payout
        evidence = Evidence(phase=Phase.SENT, bytes_left=True, reason="lease_ended")
        step = self._step(payout, PayoutState.UNKNOWN, evidence)
        return await self._try(payout, replace(step, cause=EventKind.EXPIRED))

    async def end_day(self, payout: Payout) -> Payout:
        """
        Return a payout that is about to be repeated, in its state on this day.

        A payout that was not sent on its own day is closed, as by every read.

        Raises:
            StoreUnavailable: it could not be closed; it must not be sent either.
        """
        ended = self._end_of_day(payout)
        return payout if ended is None else await self._do(payout, ended)

    def _end_of_day(self, payout: Payout) -> Change | None:
        """Return the step that ends an unsent payout once its day is over; None for no step."""
        if payout.state not in _UNSENT or not self._day_is_over(payout):
            return None
        return self.unsent_end(payout, EventKind.EXPIRED)

    def unsent_end(
        self, payout: Payout, cause: EventKind, evidence: Evidence | None = None
    ) -> Change:
        """
        Return the step that ends a payout of which nothing was sent.

        It fails. With ``look_first`` it becomes unknown instead, since it may have been sent.
        """
        if self.look_first:
            return replace(self._step(payout, PayoutState.UNKNOWN, evidence), cause=cause)
        step = self._step(payout, PayoutState.FAILED, evidence)
        return replace(step, failure=Failure(FailureCode.NOT_SENT), cause=cause)

    def hold_is_over(self, payout: Payout) -> bool:
        """Return whether a held payout's time is over, by a clock that is never ahead."""
        until = payout.held_until
        return payout.state is PayoutState.HELD and until is not None and self._certain() >= until

    def _day_is_over(self, payout: Payout) -> bool:
        return self.now().date() > payout.date

    async def _ask(
        self, query: StatusQuery, account: Account, within_s: float, named: str
    ) -> Payout:
        """Query the payout at the bank it was sent to."""
        payout = query.payout
        bank = self._bank(payout, account)
        is_named = bank is not None and not bank.adapter.capabilities.finds(payout.provider_id)
        bank_id = named if is_named else payout.provider_id
        if bank is None or not bank.adapter.capabilities.finds(bank_id):
            return payout
        find = offered(bank, PortCall.FIND_PAYOUT).find_payout
        asked_at = self._certain()
        try:
            async with asyncio.timeout(within_s):
                said = await find(bank.account, payout.provider_key, bank_id)
        except NotFound:
            absent = None if is_named else self._absent(payout, bank, asked_at)
            return query.not_found() if absent is None else await self._try(payout, absent)
        except (ProviderError, TimeoutError) as problem:
            return query.failed(problem)
        except Exception as mistake:  # noqa: BLE001 - an adapter's mistake is none of the reader's
            _log.warning("find_payout of %s raised %s", bank.name, type(mistake).__name__)
            return query.failed(mistake)
        if is_named and not _repeats_key(said, payout):
            return query.proved_nothing(said)
        return await self._take(query, said)

    def _bank(self, payout: Payout, account: Account) -> Bank | None:
        """Return the bank account it was sent from; None if the account has another by now."""
        try:
            bank = self.banks.of(account)
        except ProviderError:
            return None
        if bank is None or bank.lacks_credentials or not payout.was_sent_from(bank):
            return None
        return bank

    async def _take(self, query: StatusQuery, said: Outcome) -> Payout:
        """
        Take the step that the bank's answer proves; a contradiction goes to review.

        That the bank holds an accepted payout, or does so no longer, is no
        step: it is returned, for planning the next status query.
        """
        payout = query.payout
        if isinstance(said, Settled) and said.value != payout.value:
            return query.contradicted(said)
        if isinstance(said, Accepted) and payout.state is PayoutState.ACCEPTED:
            return replace(query.proved_nothing(said), held_until=hold_of(said, self.now()))
        change = self._said(payout, said)
        if change is None:
            return query.proved_nothing(said)
        try:
            if change.after in _ORDERED and await self._went_elsewhere(payout):
                return query.contradicted(said)
        except StoreUnavailable:
            return payout
        found = await self._try(payout, change)
        if isinstance(said, Settled) and said.returns:
            await self._try_to_note(found, said.returns)
        return found

    async def look_back(self, payout: Payout, account: Account, within_s: float = LOOK_S) -> bool:
        """
        Query the returns of a paid payout, and store them.

        Returns:
            Whether the bank shows any.

        Raises:
            ProviderError: the bank gave no usable answer.
            StoreUnavailable: the returns may not be stored.
        """
        bank = self._bank(payout, account)
        if bank is None or payout.state is not PayoutState.PAID:
            return False
        find = offered(bank, PortCall.FIND_PAYOUT).find_payout
        try:
            async with asyncio.timeout(within_s):
                said = await find(bank.account, payout.provider_key, payout.provider_id)
        except TimeoutError as problem:
            raise Unavailable(Reason.TIMEOUT) from problem
        returns = said.returns if isinstance(said, Settled) else ()
        await self.note(payout, returns)
        return bool(returns)

    async def note(self, payout: Payout, found: Sequence[PixReturn]) -> None:
        """Store the returns of a paid payout; each return is stored once, by its id."""
        if (
            payout.state is PayoutState.PAID
            and found
            and await self.store.note_returns(payout, found)
        ):
            self.count(Event.PAYOUT_RETURNED, payout.provider)
            _log.info("payout_returned provider_key=%s", payout.provider_key)

    async def _try_to_note(self, payout: Payout, found: Sequence[PixReturn]) -> None:
        """Store the returns; if the store fails, callback and verification report them again."""
        with suppress(StoreUnavailable):
            await self.note(payout, found)

    async def _went_elsewhere(self, payout: Payout) -> bool:
        """
        Return whether the answer to the order named another destination.

        Such a payout is unknown. A look-up does not distinguish it: the key and the amount agree.
        """
        if payout.state is not PayoutState.UNKNOWN:
            return False
        tries = await self.store.attempts(payout.account_id, payout.reference)
        # One that was held when a backup was made has none, and may have been sent since.
        evidence = tries[-1].evidence if tries else None
        return evidence is not None and evidence.reason == _ELSEWHERE

    def _said(self, payout: Payout, said: Outcome) -> Change | None:
        """Convert the bank's answer to a step; None when the answer proves nothing."""
        match said:
            case Settled():
                step = self._step(payout, PayoutState.PAID, said.evidence)
                step = replace(step, settled_at=said.settled_at or step.at)
                return replace(step, provider_id=said.provider_id, e2e_id=said.e2e_id)
            case Rejected(failure=code, forbidden=forbidden):
                step = self._step(payout, PayoutState.FAILED, said.evidence)
                return replace(step, failure=Failure(code, forbidden))
            case Accepted() if payout.state is PayoutState.UNKNOWN:
                step = self._step(payout, PayoutState.ACCEPTED, said.evidence)
                step = replace(step, held_until=hold_of(said, step.at))
                return replace(step, provider_id=said.provider_id, e2e_id=said.e2e_id)
            case _:
                return None

    def _certain(self) -> datetime:
        """Return the earliest possible current time."""
        return self.now() if self.certain is None else self.certain()

    def _absent(self, payout: Payout, bank: Bank, asked_at: datetime) -> Change | None:
        """
        Accept "not found" as proof only for a query after the quiet period.

        A bank that ignores our key would pay a second attempt again: there the
        payout fails for good instead of waiting for one. So it does once its
        day is over after a restore, which was the doubt.
        """
        can = bank.adapter.capabilities
        proves_from = absent_at(payout, can.absent_after)
        if proves_from is None or asked_at < proves_from:
            return None
        evidence = Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="absent")
        if can.repeat is Repeat.IGNORES or (self.look_first and self._day_is_over(payout)):
            step = self._step(payout, PayoutState.FAILED, evidence)
            return replace(step, failure=Failure(FailureCode.NOT_SENT))
        return self._step(payout, PayoutState.NOT_SENT, evidence)

    def _step(self, payout: Payout, after: PayoutState, evidence: Evidence | None) -> Change:
        return Change(
            account_id=payout.account_id,
            reference=payout.reference,
            attempt=payout.attempt,
            before=frozenset({payout.state}),
            after=after,
            at=self.now(),
            evidence=evidence,
            cause=EventKind.PROBED,
        )

    async def _try(self, payout: Payout, change: Change) -> Payout:
        """Take a step; if the store fails, the payout stays as last known."""
        try:
            return await self._do(payout, change)
        except StoreUnavailable:
            return payout

    async def _do(self, payout: Payout, change: Change) -> Payout:
        """Take a step, and return the payout as stored afterwards."""
        if await self.store.record(change):
            self.moved(payout, change)
            if change.failure is not None:
                await self.mismatches.note(payout, change.failure)
        else:
            self.count(Event.CAS_LOSS, payout.provider)
        return await self.store.find(payout.account_id, payout.reference) or payout


def _repeats_key(said: Outcome, payout: Payout) -> bool:
    """Return whether the bank's answer has our key, the only proof of a named id."""
    if not isinstance(said, Settled | Accepted | Rejected):
        return False
    return said.provider_key == payout.provider_key
