"""Asking a bank about a payout now, in a person's name; no money is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gateway.audit.store import StoredAudit
from gateway.core.audit_context import AuditContext
from gateway.core.errors import PAYOUT_NOT_FOUND, TOO_MANY_REQUESTS, ServiceError
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.payouts.followups import PROBE_EVERY
from gateway.payouts.model import FINAL_STATES, Payout
from gateway.payouts.store import StoredPayouts

Look = Callable[[str, str], Awaitable[Payout | None]]
"""Looks at the payout of an account and a reference; None if somebody does, or did just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutProbes:
    """Looks at one payout as the reconciler does, and keeps the act on record."""

    payouts: StoredPayouts
    look: Look
    audit: StoredAudit

    async def probe(
        self, acting: AuditContext, account_id: str, reference: str
    ) -> tuple[Payout, Payout]:
        """
        Ask the bank once, at most every five seconds whoever asks; what it says is stored.

        Returns:
            The payout before and after.

        Raises:
            ServiceError: ``SVC.PIX.011`` (404) without such a payout, ``NOT_POSSIBLE`` for
                one that has ended, ``SVC.GTW.005`` (429) for one that was just asked about.
            StoreUnavailable: as stores do.
        """
        before = await self.payouts.find(account_id, reference)
        if before is None:
            raise ServiceError(PAYOUT_NOT_FOUND, "no_row")
        if before.state in FINAL_STATES:
            raise ServiceError(NOT_POSSIBLE, "ended", field="reference")
        after = await self.look(account_id, reference)
        if after is None:
            wait = {"Retry-After": str(round(PROBE_EVERY.total_seconds()))}
            raise ServiceError(TOO_MANY_REQUESTS, "probed", wait)
        details = {"before": before.state.value, "after": after.state.value}
        subject = f"payout:{before.provider_key}"
        await self.audit.append(acting.event("payout.probed", subject, details))
        return before, after
