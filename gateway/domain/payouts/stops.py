"""Stops: payouts of a scope are refused for a while, reads go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from gateway.domain.accounts.accounts import Account
from gateway.domain.accounts.credentials import (
    Principal,
)
from gateway.domain.kernel.audit import AuditEvent

STOPPED: Final = "payouts.stopped"


RESUMED: Final = "payouts.resumed"
"""Actions of the audit log; by these every process learns of a stop."""


class StopScope(StrEnum):
    """What a stop holds for."""

    PROVIDER = "provider"
    ACCOUNT = "account"
    COMPANY = "company"
    CREDENTIAL = "credential"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """
    A kill switch that was pulled.

    Attributes:
        id: A UUID.
        subject: The provider's name, or the id of the account, company or
            credential.
        reason: For the operators who read it later.
        ends_at: When it ends by itself; every stop has an end.
        lifted_at: When it was lifted before that.
    """

    id: str
    scope: StopScope
    subject: str
    reason: str
    created_by: str
    created_at: datetime
    ends_at: datetime
    lifted_at: datetime | None = None

    def holds(self, principal: Principal, account: Account, now: datetime) -> bool:
        """Say whether a payout of this caller is stopped now."""
        if self.lifted_at is not None or now >= self.ends_at:
            return False
        subjects = {
            StopScope.PROVIDER: account.provider,
            StopScope.ACCOUNT: account.id,
            StopScope.COMPANY: account.company_id,
            StopScope.CREDENTIAL: principal.client_id,
        }
        return subjects[self.scope] == self.subject


class Stops(Protocol):
    """Kill switches."""

    async def add(self, stop: Stop, event: AuditEvent) -> None:
        """Store a new one."""
        ...

    async def lift(self, stop_id: str, at: datetime, event: AuditEvent) -> bool:
        """End one now; False when there is none or it has ended already."""
        ...

    async def active(self, at: datetime) -> Sequence[Stop]:
        """Return those that hold at an instant, oldest first."""
        ...
