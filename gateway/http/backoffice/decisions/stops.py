"""Kill switches: payouts of a scope are stopped for a while."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Literal, TypedDict

import msgspec

from gateway.domain.identity.rights import Area
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.stops import Stop, StopScope
from gateway.http.backoffice.callers import CHANGED, REFUSED, BackOfficeCaller, as_administrator
from gateway.http.backoffice.cells import (
    CREATED,
    NO_BODY,
    NO_CONTENT,
    WITH_BODY,
    done,
    reading,
    writing,
)
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Row, route
from gateway.operations.backoffice.scoped_records import AdminServices
from gateway.operations.backoffice.stops import StopOrder
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs
from policies.validation.bodies import body
from policies.validation.fields import Why

_LONGEST_MIN = 30 * 24 * 60


class StopBody(msgspec.Struct):
    """A new stop: of a provider by name, or of an account, company or credential by id."""

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


async def list_stops(services: AdminServices, paging: Paging) -> Listed[Stop]:
    """List those in force."""
    return await services.visible.stops(paging)


async def stop_payouts(services: AdminServices, wanted: StopBody) -> Stop:
    """Stop the payouts of a provider, a company, an account or a credential."""
    await services.visible.require_subject(wanted.scope, wanted.subject)
    return await services.stops.stop(
        StopOrder(
            scope=wanted.scope,
            subject=wanted.subject,
            reason=wanted.reason,
            ends_at=services.acting.now() + timedelta(minutes=wanted.minutes),
        )
    )


async def lift(services: AdminServices, stop_id: str) -> None:
    """Let payouts go again."""
    found = await services.visible.stop(stop_id)
    await services.stops.lift(found.id)


def stop_rows(services: AdminServices) -> Sequence[Row[BackOfficeCaller]]:
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
            runs=as_administrator(services, list_stops),
            shows=_stops,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "POST",
            "/stops",
            name="backoffice.stop_pull",
            summary="Stop the payouts of a provider, company, account or credential for a while.",
            needs=writing(Area.STOP),
            limits=WITH_BODY,
            takes=body(StopBody),
            runs=as_administrator(services, stop_payouts),
            shows=_stop,
            fails=STORE_FAILS,
            raises=REFUSED,
            status=CREATED,
        ),
    )


def lifting_rows(services: AdminServices) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row that lets payouts go again: it wants a fresh factor, as pulling does not."""
    return (
        route(
            "DELETE",
            "/stops/{stop_id}",
            name="backoffice.stop_lift",
            summary="Lift a stop before it ends, so that payouts go on.",
            needs=writing(Area.STOP),
            limits=NO_BODY,
            takes=inputs.of_path("stop_id"),
            runs=as_administrator(services, lift),
            shows=done,
            fails=STORE_FAILS,
            raises=CHANGED,
            status=NO_CONTENT,
        ),
    )


def _stop(found: Stop, _who: BackOfficeCaller) -> StopDocument:
    return {
        "id": found.id,
        "scope": found.scope.value,
        "subject": found.subject,
        "reason": found.reason,
        "created_by": found.created_by,
        "created_at": instant(found.created_at),
        "ends_at": instant(found.ends_at),
    }


def _stops(found: Listed[Stop], who: BackOfficeCaller) -> StopList:
    data = [_stop(each, who) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}
