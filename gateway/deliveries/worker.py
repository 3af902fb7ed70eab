"""
The worker of deliveries: claims what is due, sends it, notes what came of it.

It runs in every worker process. A turn claims as much as there are places for and goes on without
waiting for the answers, so that an endpoint that hangs holds up nothing but its own places.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.core import trace
from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.deliveries.model import Claimed, Delivery, DeliveryState, Outcome, TryFailure
from gateway.deliveries.places import Places
from gateway.deliveries.schedule import LONGEST_RETRY_AFTER, pause_after
from gateway.deliveries.sender import Sender
from gateway.deliveries.store import DeliveryRecords, DueEndpoint, Result
from gateway.endpoints.model import Endpoint, EndpointState, PauseCause
from gateway.endpoints.store import EndpointRecords
from gateway.net.common.runtime import Failpoint, unarmed
from gateway.process.periodic_task import PeriodicTask, Schedule
from gateway.telemetry.ports import Count, DeliveryOutcome, Event

_log = logging.getLogger(__name__)

EVERY_S: Final = 0.5
"""Events of callbacks are found sooner, since whoever processes callbacks wakes the worker."""
LAST_S: Final = 3.0
"""For answers that are awaited when the process stops; the rest is sent again by another."""
_TOGETHER_S: Final = 0.01
"""Places that become free within it are given by one look at the store."""
_WOKEN_S: Final = 0.05
"""Events that are written within it are found by one look."""
_NOTED: Final = timedelta(minutes=1)
_SECRETS: Final = 1_000
"""Endpoints whose secrets are kept; then all are read anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """
    What the worker works with.

    Attributes:
        owner: The process's name in its claims.
        chance: Numbers from 0 up to 1; spreads tries.
        may_claim: Whether this process may claim now.
        failpoint: Called between a try and its note; it may end the process there.
    """

    records: DeliveryRecords
    endpoints: EndpointRecords
    sender: Sender
    places: Places
    now: Now
    owner: str
    chance: Callable[[], float]
    count: Count
    may_claim: Callable[[], bool] = lambda: True
    failpoint: Failpoint = unarmed


class DeliveryWorker:
    """
    Sends due deliveries.

    Attributes:
        task: Sends in the background. When it stops, answers are awaited for a moment; what is not
            noted by then is sent again by another process.
    """

    def __init__(self, work: Work) -> None:
        """Start nothing yet."""
        self._work = work
        self._wake = asyncio.Event()
        self._sending: set[asyncio.Task[None]] = set()
        self._is_crowded = False
        self._waking: asyncio.TimerHandle | None = None
        self._secrets = _Secrets(work.endpoints)
        self.task: PeriodicTask = _SendingTask(self, self._wake)

    async def turn(self) -> int:
        """
        Claim what is due as far as there are places, and begin to send it; return how much.

        Raises:
            StoreUnavailable: what was claimed is sent again after its claim.
        """
        work = self._work
        if not work.may_claim():
            return 0
        now = work.now()
        due = await work.records.due(now)
        pinged = {each.id for each in due if each.is_pinged}
        shares = work.places.share([each.id for each in due], pinged)
        claimed = await work.records.claim(shares, work.owner, now)
        for each in claimed:
            work.places.take(each.endpoint.id)
            sending = asyncio.create_task(self._deliver(each))  # noqa: TID251 - close() ends it
            self._sending.add(sending)
            sending.add_done_callback(self._sent)
        self._is_crowded = _has_more(due, shares, claimed)
        return len(claimed)

    def wake(self) -> None:
        """Look soon: an event was written. Calls in quick succession are one look."""
        if self._waking is None:
            self._waking = asyncio.get_running_loop().call_later(_WOKEN_S, self._look)

    async def finish(self) -> None:
        """Wait until everything that was claimed is sent and noted."""
        while self._sending:
            await asyncio.wait(self._sending)

    async def close(self) -> None:
        """Wait a moment for answers; give up the claims of what is not answered."""
        if self._sending:
            await asyncio.wait(self._sending, timeout=LAST_S)
        left = list(self._sending)
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._work.records.close()
        await self._work.sender.close()
        if left:
            try:
                await self._work.records.release(self._work.owner)
            except StoreUnavailable:
                _log.warning("delivery_claims_kept count=%d", len(left))

    def _look(self) -> None:
        self._waking = None
        self._wake.set()

    def _sent(self, sending: asyncio.Task[None]) -> None:
        self._sending.discard(sending)
        if self._is_crowded:
            self._is_crowded = False
            asyncio.get_running_loop().call_later(_TOGETHER_S, self._wake.set)

    async def _deliver(self, claimed: Claimed) -> None:
        """Send one delivery and note what came of it; a failure leaves the claim to its end."""
        trace.begin_background()
        outcome: Outcome | None = None
        try:
            outcome = await self._send(claimed)
            if outcome is not None:
                self._work.failpoint("after_delivery")
                await self._note(claimed, outcome)
        except StoreUnavailable:
            _log.warning("delivery_not_noted delivery=%s", claimed.delivery.id)
        except Exception:  # noqa: BLE001 - a mistake stays with its delivery
            _log.exception("delivery_failed delivery=%s", claimed.delivery.id)
        finally:
            self._work.places.give_back(
                claimed.endpoint.id,
                is_delivered=None if outcome is None else outcome.is_delivered,
                took_s=0 if outcome is None else outcome.ms / 1000,
                wait_s=_wish(outcome).total_seconds(),
            )

    async def _send(self, claimed: Claimed) -> Outcome | None:
        """Send a delivery; None if there is no secret to sign it with."""
        secrets = await self._secrets.of(claimed.endpoint, self._work.now())
        if not secrets:
            return None
        return await self._work.sender.send(claimed.delivery, claimed.endpoint.url, secrets)

    async def _note(self, claimed: Claimed, outcome: Outcome) -> None:
        """Note a try in the store; then what it says of the endpoint."""
        work, delivery, endpoint = self._work, claimed.delivery, claimed.endpoint
        state, next_at, counted = self._what_follows(delivery, outcome)
        result = Result(claimed=delivery, outcome=outcome, state=state, next_at=next_at)
        await work.records.finish(result)
        work.count(Event.DELIVERY, counted)
        if outcome.is_delivered:
            await self._note_success(endpoint, outcome.at, is_ping=delivery.is_ping)
            return
        is_gone = outcome.failure is TryFailure.GONE
        if delivery.is_ping and not is_gone:
            return
        if endpoint.failing_since is None:
            await work.endpoints.note_failure(endpoint, outcome.at)
        if state is DeliveryState.FAILED:
            because = PauseCause.GONE if is_gone else PauseCause.GAVE_UP
            await self._pause(endpoint, because, outcome.at)

    def _what_follows(
        self, delivery: Delivery, outcome: Outcome
    ) -> tuple[DeliveryState, datetime | None, DeliveryOutcome]:
        if outcome.is_delivered:
            return DeliveryState.DELIVERED, None, DeliveryOutcome.DELIVERED
        if outcome.failure is TryFailure.GONE:
            return DeliveryState.FAILED, None, DeliveryOutcome.GONE
        tries = delivery.tries + 1 - delivery.tries_before
        pause = pause_after(tries, outcome.retry_after, self._work.chance)
        if pause is None:
            return DeliveryState.FAILED, None, DeliveryOutcome.GAVE_UP
        return DeliveryState.WAITING, self._work.now() + pause, DeliveryOutcome.FAILED

    async def _note_success(self, endpoint: Endpoint, at: datetime, *, is_ping: bool) -> None:
        if is_ping and endpoint.state is EndpointState.PENDING:
            if await self._work.endpoints.activate(endpoint, at):
                self._wake.set()  # what waited for it
            return
        is_new = endpoint.last_ok_at is None or at - endpoint.last_ok_at >= _NOTED
        if is_new or endpoint.failing_since is not None:
            await self._work.endpoints.note_success(endpoint, at)

    async def _pause(self, endpoint: Endpoint, because: PauseCause, at: datetime) -> None:
        if await self._work.endpoints.pause(endpoint, because, at):
            _log.warning("endpoint_paused endpoint=%s because=%s", endpoint.id, because.value)


class _Secrets:
    """The secrets of endpoints, as the process has read them since they were made."""

    def __init__(self, endpoints: EndpointRecords) -> None:
        self._endpoints = endpoints
        self._known: dict[str, tuple[datetime, Sequence[str]]] = {}

    async def of(self, endpoint: Endpoint, now: datetime) -> Sequence[str]:
        """Return the secrets that sign for an endpoint now, the current one first."""
        made_at, secrets = self._known.get(endpoint.id, (None, ()))
        if made_at != endpoint.secret_made_at:
            secrets = await self._endpoints.secrets(endpoint.id, now)
            if len(self._known) >= _SECRETS:
                self._known.clear()
            self._known[endpoint.id] = endpoint.secret_made_at, secrets
            return secrets
        ends_at = endpoint.former_secret_ends_at
        return secrets if ends_at is not None and ends_at > now else secrets[:1]


class _SendingTask(PeriodicTask):
    """Looks for due deliveries, and ends those under way when it stops."""

    def __init__(self, worker: DeliveryWorker, wake: asyncio.Event) -> None:
        super().__init__("deliveries", worker.turn, Schedule(every_s=EVERY_S), wake)
        self._worker = worker

    async def stop(self) -> None:
        """Stop, and return when nothing is being sent any more."""
        await super().stop()
        await self._worker.close()


def _wish(outcome: Outcome | None) -> timedelta:
    """Return for how long an endpoint wants to be left alone; an hour at most."""
    wish = outcome.retry_after if outcome is not None else None
    return min(wish or timedelta(), LONGEST_RETRY_AFTER)


def _has_more(
    due: Sequence[DueEndpoint], shares: Collection[str], claimed: Sequence[Claimed]
) -> bool:
    """Return whether more may be due than was claimed."""
    return len(claimed) > 0 or len(shares) < len(due)
