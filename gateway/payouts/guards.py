"""What may keep a payout from being sent: a stop, one that looks like it, a restored store."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from gateway.banks.connections import offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import (
    Bank,
    Evidence,
    NotFound,
    NotSent,
    Outcome,
    Phase,
    ProviderError,
    Settled,
    Unknown,
)
from gateway.core import errors
from gateway.core.calls import Caller
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.payouts.model import Payout
from gateway.payouts.store import StoredPayouts
from gateway.stops.model import Stop
from gateway.telemetry.ports import Count, Event

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SimilarPolicy:
    """
    What happens to a payout like another one under another reference.

    Attributes:
        within: How long ago the other may have been created; zero looks at none.
        refuse: Refuse it, rather than only tell.
    """

    within: timedelta
    refuse: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutGuards:
    """
    Asked once for every payout that is about to be stored or sent again.

    Attributes:
        stops: Gives the stops in force; those of other processes at most a second late.
        count: Counts payouts that were stopped, or look like an earlier one.
    """

    stops: Callable[[], Awaitable[Sequence[Stop]]]
    store: StoredPayouts
    similar: SimilarPolicy
    now: Now
    count: Count

    @property
    def since(self) -> datetime | None:
        """From when on one like a payout is looked for; None for never."""
        return self.now() - self.similar.within if self.similar.within else None

    async def admit(self, caller: Caller, payout: Payout, similar: Sequence[str]) -> None:
        """
        Let the payout through; ``similar`` are the references of others like it.

        Raises:
            ServiceError: ``SVC.PIX.010`` (403) when payouts are stopped here,
                or when one like it is refused.
            StoreUnavailable: the store did not answer; nothing is sent then.
        """
        await self.go_on(caller)
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

    async def similar_to(self, payout: Payout) -> Sequence[str]:
        """Return other references that pay the same amount to the same recipient."""
        if not self.similar.within:
            return ()
        return await self.store.similar(payout, payout.created_at - self.similar.within)


CANNOT_LOOK_FIRST: Final = "cannot_look_first"
"""The bank cannot be asked for an attempt that the store may have forgotten."""


async def seen_before(payout: Payout, bank: Bank) -> Outcome | None:
    """
    Ask the bank whether it knows the payout already.

    Returns:
        None when it does not: it may be sent. What the bank says of it when it
        does. NotSent when the bank cannot be asked, since sending blindly is
        what must not happen now.
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
    """Say that this attempt ended before it could begin."""
    return NotSent(Evidence(phase=Phase.REFUSED_HERE, bytes_left=False, reason=reason))
