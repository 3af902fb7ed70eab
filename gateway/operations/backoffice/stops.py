"""Kill switches: pulled for a scope, with a reason and an end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway.domain.accounts.accounts import Accounts, Companies
from gateway.domain.accounts.credentials import Credentials
from gateway.domain.payouts.stops import RESUMED, STOPPED, Stop, Stops, StopScope
from gateway.operations.accounts.accounts import existing
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation, identifier, reason

LONGEST = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopOrder:
    """A stop to be; ``ends_at`` is in the future, by at most 30 days."""

    scope: StopScope
    subject: str
    reason: str
    ends_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """
    What a stop may name.

    Attributes:
        providers: Names of the configured providers.
    """

    providers: Collection[str]
    companies: Companies
    accounts: Accounts
    credentials: Credentials

    async def known(self, scope: StopScope, subject: str) -> str:
        """
        Return the subject as the store spells it.

        Raises:
            RuleViolation: there is none; a stop that holds for nothing would
                be believed to hold.
        """
        match scope:
            case StopScope.PROVIDER:
                return self._provider(subject)
            case StopScope.COMPANY:
                return (await existing(self.companies, subject, "subject")).id
            case StopScope.ACCOUNT:
                account = await self.accounts.find(identifier(subject, "account", "subject"))
                return _there(account.id if account else None, scope, subject)
            case StopScope.CREDENTIAL:
                credential = await self.credentials.find(subject)
                found = credential.client_id if credential else None
                return _there(found, scope, subject)

    def _provider(self, subject: str) -> str:
        if subject not in self.providers:
            known = ", ".join(sorted(self.providers)) or "none"
            message = f"no provider {subject!r} is configured (configured: {known})"
            raise RuleViolation(message, "provider_unknown", field="subject")
        return subject


@dataclass(frozen=True, slots=True, kw_only=True)
class KillSwitches:
    """
    The register of stops.

    A stop is in force in this process when the call returns, and in every other
    within a second.

    Attributes:
        new_id: Makes a UUID.
    """

    stops: Stops
    subjects: Subjects
    acting: AuditContext
    new_id: Callable[[], str]

    async def stop(self, order: StopOrder) -> Stop:
        """
        Stop the payouts of a scope; reads go on.

        Raises:
            RuleViolation: no such subject, no reason, or an end that is not
                within the next 30 days.
        """
        now = self.acting.now()
        if not now < order.ends_at <= now + LONGEST:
            message = "a stop ends within the next 30 days"
            raise RuleViolation(message, "out_of_range", field="minutes")
        stop = Stop(
            id=self.new_id(),
            scope=order.scope,
            subject=await self.subjects.known(order.scope, order.subject),
            reason=reason(order.reason),
            created_by=self.acting.actor,
            created_at=now,
            ends_at=order.ends_at,
        )
        details = {"reason": stop.reason, "ends_at": stop.ends_at.isoformat(), "stop": stop.id}
        subject = f"{stop.scope.value}:{stop.subject}"
        await self.stops.add(stop, self.acting.event(STOPPED, subject, details))
        return stop

    async def lift(self, stop_id: str) -> None:
        """
        Let payouts go again before the stop's own end.

        Raises:
            RuleViolation: there is no such stop, or it has ended already.
        """
        known = identifier(stop_id, "stop")
        event = self.acting.event(RESUMED, f"stop:{known}")
        if not await self.stops.lift(known, self.acting.now(), event):
            message = f"no stop {stop_id} is in force"
            raise RuleViolation(message, "stop", field="stop_id")

    async def list(self) -> Sequence[Stop]:
        """Return those in force, oldest first."""
        return await self.stops.active(self.acting.now())


def _there(found: str | None, scope: StopScope, subject: str) -> str:
    if found is None:
        message = f"there is no {scope.value} {subject}"
        raise RuleViolation(message, "subject_unknown", field="subject")
    return found
