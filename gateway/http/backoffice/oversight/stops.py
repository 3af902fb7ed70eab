"""Kill switches: payouts of a scope are stopped for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Literal, TypedDict

import msgspec

from gateway.domain.backoffice.lists import Lists
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.rights import Area
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.stops import Stop, StopScope
from gateway.http.backoffice.callers import Staff
from gateway.http.backoffice.cells import (
    CREATED,
    NO_BODY,
    NO_CONTENT,
    WITH_BODY,
    done,
    listed,
    page_of,
    reading,
    writing,
)
from gateway.http.backoffice.failures import CHANGED, REFUSED, explained
from gateway.http.common import STORE_FAILS
from gateway.http.json import instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Row, route
from gateway.operations.backoffice.admin_services import AdminServices
from gateway.operations.backoffice.stops import StopOrder
from gateway.operations.bank.pages import Listed
from gateway.operations.kernel.audit_context import RuleViolation
from policies.validation.backoffice import inputs
from policies.validation.fields import Why

_LONGEST_MIN = 30 * 24 * 60


class StopBody(msgspec.Struct):
    """A stop to be: of a provider's name, or of the id of an account, company or credential."""

    scope: StopScope
    subject: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
    reason: Why
    minutes: Annotated[int, msgspec.Meta(ge=1, le=_LONGEST_MIN)] = 60


class StopDocument(TypedDict):
    """A stop in force."""

    id: str
    scope: Literal["provider", "account", "company", "credential"]
    subject: str
    reason: str
    created_by: str
    created_at: Instant
    ends_at: Instant


class StopList(TypedDict):
    """The stops in force, oldest first."""

    data: list[StopDocument]
    meta: Meter


@dataclass(frozen=True, slots=True)
class StopActs:
    """What people do with stops; who is limited to companies stops what is theirs alone."""

    registers: AdminServices
    lists: Lists

    async def list(self, who: Staff, paging: Paging) -> Listed[Stop]:
        """List those in force; a provider's concerns everybody."""
        shown, now = page_of(who, paging), who.acting.now()
        return listed(paging, await self.lists.stops(shown, now))

    async def pull(self, who: Staff, wanted: StopBody) -> Stop:
        """Stop a scope."""
        order = StopOrder(
            scope=wanted.scope,
            subject=wanted.subject,
            reason=wanted.reason,
            ends_at=who.acting.now() + timedelta(minutes=wanted.minutes),
        )
        with explained():
            if not await self._sees(who, wanted.scope, wanted.subject):
                message = f"there is no {wanted.scope.value} {wanted.subject}"
                raise RuleViolation(message, "subject_unknown", field="subject")
            return await self.registers.by(who.acting).stops.stop(order)

    async def lift(self, who: Staff, stop_id: str) -> None:
        """Let payouts go again."""
        stops = self.registers.by(who.acting).stops
        found = next((each for each in await stops.list() if each.id == stop_id), None)
        if found is None or not await self._sees(who, found.scope, found.subject):
            raise ServiceError(NOT_FOUND, "stop")
        with explained():
            await stops.lift(stop_id)

    async def _sees(self, who: Staff, scope: StopScope, subject: str) -> bool:
        """Say whether a scope lies within what is shown to a person."""
        if not who.person.companies:
            return True
        match scope:
            case StopScope.PROVIDER:
                return False
            case StopScope.COMPANY:
                return who.person.sees(subject.lower())
            case StopScope.ACCOUNT:
                account = await self.registers.accounts.accounts.find(subject.lower())
                return account is not None and who.person.sees(account.company_id)
            case StopScope.CREDENTIAL:
                credential = await self.registers.credentials.credentials.find(subject)
                return credential is not None and who.person.sees(credential.company_id)


def stop_rows(does: StopActs) -> Sequence[Row[Staff]]:
    """Return the rows."""
    return (
        route(
            "GET",
            "/stops",
            name="backoffice.stops",
            summary="List the stops in force.",
            needs=reading(Area.STOP),
            limits=NO_BODY,
            takes=inputs.filters(inputs.Filters.paging, *inputs.PAGING),
            runs=does.list,
            shows=_stops,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "POST",
            "/stops",
            name="backoffice.stop_pull",
            summary="Stop the payouts of a scope for a while; reads go on.",
            needs=writing(Area.STOP),
            limits=WITH_BODY,
            takes=inputs.body(StopBody),
            runs=does.pull,
            shows=_stop,
            fails=STORE_FAILS,
            raises=REFUSED,
            status=CREATED,
        ),
    )


def lifting_rows(does: StopActs) -> Sequence[Row[Staff]]:
    """Return the row that lets payouts go again: it wants a fresh factor, as pulling does not."""
    return (
        route(
            "DELETE",
            "/stops/{stop_id}",
            name="backoffice.stop_lift",
            summary="Let payouts go again before the stop's own end.",
            needs=writing(Area.STOP),
            limits=NO_BODY,
            takes=inputs.of_path("stop_id"),
            runs=does.lift,
            shows=done,
            fails=STORE_FAILS,
            raises=CHANGED,
            status=NO_CONTENT,
        ),
    )


def _stop(found: Stop, _who: Staff) -> StopDocument:
    return {
        "id": found.id,
        "scope": found.scope.value,
        "subject": found.subject,
        "reason": found.reason,
        "created_by": found.created_by,
        "created_at": instant(found.created_at),
        "ends_at": instant(found.ends_at),
    }


def _stops(found: Listed[Stop], who: Staff) -> StopList:
    data = [_stop(each, who) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}
