"""Create, list and lift kill switches; each change is in the audit log by the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    tuple_,
    update,
)

from gateway.accounts.store import StoredAccounts
from gateway.audit import store as audit_log
from gateway.companies.service import find_company
from gateway.core.access import Staff, requires
from gateway.core.audit import PAYOUT_RELEASED
from gateway.core.audit_context import RuleViolation, identifier, reason
from gateway.core.change_feed import RESUMED, STOPPED
from gateway.core.clocks import Now
from gateway.core.company_scope import CompanyScope, StopScope
from gateway.core.errors import ServiceError
from gateway.core.permissions import USER_CLIENT, Action, client_of
from gateway.core.rights import Area
from gateway.core.user_errors import NOT_FOUND
from gateway.core.windows import Listed, Paging
from gateway.credentials.store import StoredCredentials
from gateway.stops.model import GUARD, LONGEST_MIN, EndedStop, Stop, StopRequest
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.orders import approved, resumed_by
from gateway.store.tables.backoffice import approvals
from gateway.store.tables.core import (
    SENT_AGAIN,
    accounts,
    attempts,
    audit,
    payout_events,
    payouts,
    secrets,
    stops,
)
from gateway.store.tables.scope import Conditions, stops_in, stops_of

_JUDGED: Final = timedelta(hours=1)
"""What the outflow guard looks back."""
_AHEAD: Final = timedelta(minutes=1)
"""And ahead: the clock of a process that pays may be faster."""
_SUBJECTS: Final[Mapping[StopScope, ColumnElement[str]]] = {
    StopScope.CREDENTIAL: payouts.c.client_id,
    StopScope.ACCOUNT: accounts.c.id,
    StopScope.COMPANY: accounts.c.company_id,
}
"""What the outflow guard stops."""
_RELEASED: Final = exists().where(
    payout_events.c.account_id == payouts.c.account_id,
    payout_events.c.reference_sha256 == payouts.c.reference_sha256,
    payout_events.c.kind == "released",
)
"""The SQL condition: a person ended the payout's hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stops:
    """
    The kill switches.

    A stop is in force in this process when the call returns, and in every other within a second.

    Attributes:
        providers: Names of the configured providers.
        new_id: Makes a UUID.
        now: The clock of payouts, with whose instants those of a stop are compared.
    """

    database: Database
    providers: Collection[str]
    accounts: StoredAccounts
    credentials: StoredCredentials
    new_id: Callable[[], str]
    now: Now

    @requires(Area.STOP, Action.WRITE)
    async def create(
        self, who: Staff, wanted: StopRequest, ends_at: datetime | None = None
    ) -> Stop:
        """
        Stop payouts for a while: of a provider, company, account or credential, or all of them.

        Args:
            who: Who stops them.
            wanted: Subject, reason and minutes.
            ends_at: The end itself, in place of the minutes.

        Raises:
            RuleViolation: no such subject in the caller's companies, no reason, or an end that
                is not within the next 30 days.
        """
        now = self.now()
        ends_at = ends_at or now + timedelta(minutes=wanted.minutes)
        if not now < ends_at <= now + timedelta(minutes=LONGEST_MIN):
            message = "a stop ends within the next 30 days"
            raise RuleViolation(message, "out_of_range", field="minutes")
        stop = Stop(
            id=self.new_id(),
            scope=wanted.scope,
            subject=await self._subject(who.scope, wanted.scope, wanted.subject),
            reason=reason(wanted.reason),
            created_by=who.acting.actor,
            created_at=now,
            ends_at=ends_at,
        )
        details = {"reason": stop.reason, "ends_at": stop.ends_at.isoformat(), "stop": stop.id}
        event = who.acting.event(STOPPED, f"{stop.scope}:{stop.subject}".rstrip(":"), details)
        async with self.database.writing() as connection:
            await connection.execute(insert(stops), row_of(stop))
            await audit_log.append(connection, event)
        return stop

    @requires(Area.STOP, Action.WRITE, fresh_factor=True)
    async def lift(self, who: Staff, stop_id: str) -> None:
        """
        Lift a stop before it ends, so that payouts continue.

        Who had a hand in payouts that led to a stop of the outflow guard does not lift it: who
        ordered, approved or released one, or ordered or approved a secret of the credential that
        made one.

        Raises:
            RuleViolation: the caller had.
            ServiceError: ``NOT_FOUND``: no such stop is in force in the caller's companies.
        """
        now, stop_id = self.now(), stop_id.lower()
        if await self._led_to(who, stop_id):
            message = "who had a hand in payouts that led to a stop does not lift it"
            raise RuleViolation(message, "own_stop")
        ended = {"lifted_at": now, "lifted_by": who.acting.actor}
        lifted = update(stops).where(*_own(who, stop_id, now)).values(ended)
        event = who.acting.event(RESUMED, f"stop:{stop_id}")
        if not await audit_log.change(self.database, lifted, event):
            raise _absent()

    @requires(Area.STOP, Action.WRITE)
    async def get(self, who: Staff, stop_id: str) -> Stop:
        """
        Return a stop that the caller may lift.

        Raises:
            ServiceError: ``NOT_FOUND``: no such stop is in force in the caller's companies.
        """
        wanted = select(stops).where(*_own(who, stop_id.lower(), who.acting.now()))
        row = await self.database.first(wanted)
        if row is None:
            raise _absent()
        return from_row(row, Stop)

    @requires(Area.STOP, Action.READ)
    async def page(self, who: Staff, paging: Paging) -> Listed[Stop]:
        """List the stops in force; one of a whole provider or of everything is for everybody."""
        wanted = _active(who.acting.now()).where(*stops_in(who.scope))
        return await page(self.database, wanted, paging, partial(from_row, kind=Stop))

    @requires(Area.STOP, Action.READ)
    async def ended(self, who: Staff, paging: Paging) -> Listed[EndedStop]:
        """List the stops that were lifted or ended by themselves, the last one first."""
        over = or_(stops.c.lifted_at.is_not(None), stops.c.ends_at <= who.acting.now())
        last = func.coalesce(stops.c.lifted_at, stops.c.ends_at).desc()
        wanted = select(stops).where(over, *stops_in(who.scope)).order_by(last, stops.c.id)
        return await page(self.database, wanted, paging, partial(from_row, kind=EndedStop))

    async def _led_to(self, who: Staff, stop_id: str) -> bool:
        """Return whether the caller took part in payouts that led to an outflow guard's stop."""
        if who.person is None:
            return False
        guarded = select(stops).where(stops.c.id == stop_id, stops.c.created_by == GUARD)
        row = await self.database.first(guarded)
        if row is None:
            return False
        since, user_id = row.created_at - _JUDGED, who.person.user_id
        judged = (
            select(payouts.c.provider_key, accounts.c.company_id)
            .join(accounts, accounts.c.id == payouts.c.account_id)
            .where(_SUBJECTS[StopScope(row.scope)] == row.subject)
        )
        own = or_(
            payouts.c.client_id == client_of(user_id),
            payouts.c.client_id.in_(_with_secrets_of(user_id, since)),
            _approved_by(user_id),
        )
        # Each by an index of its own, which an OR of both has not.
        for then in _in_time(since, row.created_at + _AHEAD):
            found = judged.where(then)
            if await self.database.first(found.where(own).limit(1)) is not None:
                return True
            released = await self.database.rows(found.where(_RELEASED))
            keys = {(each.provider_key, each.company_id) for each in released}
            if await self._released(who.acting.actor, keys):
                return True
        return False

    async def _released(self, actor: str, found: Collection[tuple[str, str]]) -> bool:
        """Return whether a person ended the hold of one of these payouts of companies."""
        if not found:
            return False
        act = select(audit.c.number).where(
            # an index leads to the acts of a company
            audit.c.companies.in_({company for _, company in found}),
            audit.c.subject.in_([f"payout:{key}" for key, _ in found]),
            audit.c.action == PAYOUT_RELEASED,
            audit.c.actor == actor,
        )
        return await self.database.first(act.limit(1)) is not None

    async def _subject(self, scope: CompanyScope, kind: StopScope, subject: str) -> str:
        """Return the subject as the store spells it; an unknown one is refused."""
        found = company_id = None
        match kind:
            case StopScope.PROVIDER | StopScope.EVERYTHING:
                found = self._wide(kind, subject) if scope.everything else None
            case StopScope.COMPANY:
                company = await find_company(
                    self.database, identifier(subject, "company", "subject")
                )
                found = company_id = company.id if company else None
            case StopScope.ACCOUNT:
                account = await self.accounts.find(identifier(subject, "account", "subject"))
                if account is not None:
                    found, company_id = account.id, account.company_id
            case StopScope.CREDENTIAL:
                issued = await self.credentials.find(subject)
                if issued is not None:
                    found, company_id = issued.client_id, issued.company_id
        if found is None or not scope.includes(company_id or ""):
            message = f"there is no {kind} {subject}"
            raise RuleViolation(message, "subject_unknown", field="subject")
        return found

    def _wide(self, kind: StopScope, subject: str) -> str | None:
        """Return the name of a configured provider; a stop of everything has none."""
        if kind is StopScope.EVERYTHING:
            return None if subject else ""
        if subject not in self.providers:
            known = ", ".join(sorted(self.providers)) or "none"
            message = f"no provider {subject!r} is configured (configured: {known})"
            raise RuleViolation(message, "provider_unknown", field="subject")
        return subject


def _in_time(since: datetime, until: datetime) -> Sequence[ColumnElement[bool]]:
    """Return SQL conditions of payouts ordered in a time, and of those sent again in it."""
    at = attempts.c.started_at
    again = select(attempts.c.account_id, attempts.c.reference_sha256).where(
        SENT_AGAIN, at > since, at <= until
    )
    key = tuple_(payouts.c.account_id, payouts.c.reference_sha256)
    return [and_(payouts.c.created_at > since, payouts.c.created_at <= until), key.in_(again)]


def _with_secrets_of(user_id: str, since: datetime) -> Select[*tuple[Any, ...]]:
    """Select credentials with a secret that a person ordered or approved, valid after ``since``."""
    return select(secrets.c.client_id).where(
        or_(secrets.c.expires_at.is_(None), secrets.c.expires_at > since),
        or_(secrets.c.ordered_by == user_id, secrets.c.approved_by == user_id),
    )


def _approved_by(user_id: str) -> ColumnElement[bool]:
    """Return the SQL condition: the payout is of another person, whose order this one let go."""
    key = payouts.c.account_id, payouts.c.reference_sha256
    order = (
        approvals.c.decided_by == user_id,
        payouts.c.client_id == literal(USER_CLIENT) + approvals.c.ordered_by,
    )
    return or_(approved(*key, *order), resumed_by(user_id, *key))


async def stops_in_force(database: Database, at: datetime) -> Sequence[Stop]:
    """Return every stop in force at an instant, oldest first: for the payouts, not for people."""
    return [from_row(row, Stop) for row in await database.rows(_active(at))]


async def stops_since(database: Database, since: datetime) -> Sequence[Stop]:
    """Return every stop that was in force at some time since an instant, lifted ones as well."""
    was_lifted_later = or_(stops.c.lifted_at.is_(None), stops.c.lifted_at > since)
    wanted = select(stops).where(stops.c.ends_at > since, was_lifted_later)
    return [from_row(row, Stop) for row in await database.rows(wanted.order_by(stops.c.created_at))]


def _in_force(at: datetime) -> Conditions:
    return stops.c.ends_at > at, stops.c.lifted_at.is_(None)


def _own(who: Staff, stop_id: str, at: datetime) -> Conditions:
    """Return the SQL condition: the stop of this id, in force and of the caller's companies."""
    return (stops.c.id == stop_id, *_in_force(at), *stops_of(who.scope))


def _active(at: datetime) -> Select[*tuple[Any, ...]]:
    return select(stops).where(*_in_force(at)).order_by(stops.c.created_at, stops.c.id)


def _absent() -> ServiceError:
    return ServiceError(NOT_FOUND, "stop", detail="no such stop is in force")
