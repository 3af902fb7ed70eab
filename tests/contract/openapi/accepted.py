"""What several tests of accepted share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from yarl import URL

from gateway.core.rights import Role
from gateway.http.table import PlacedRoute
from tests.contract.openapi import (
    known_backoffice,
    known_banking,
    known_events,
    known_identity,
    known_sandbox,
)
from tests.contract.openapi.known import MOST, Knowing, Known
from tests.contract.openapi.requests_made import ABSENT, Made
from tests.world.backoffice import matrix
from tests.world.backoffice.client import BackofficeClient
from tests.world.documents import described
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import basic

KNOWN: Mapping[str, Knowing] = {
    **known_banking.KNOWN,
    **known_events.KNOWN,
    **known_sandbox.KNOWN,
    **known_identity.KNOWN,
    **known_backoffice.KNOWN,
}
ANY_VERSION = "*"
"""In place of the ETag that somebody has just read."""


async def what_is_known(backoffice_client: BackofficeClient, place: PlacedRoute) -> Known:
    """Make what a call needs; a route with parameters of its own says how."""
    if place.route.name in KNOWN:
        return await KNOWN[place.route.name](backoffice_client)
    own = {each["name"] for each in described(place).parameters(place, "path")} - {"account_id"}
    assert not own, (
        f"{place.route.name} takes {sorted(own)}: add an entry to "
        f"tests/contract/openapi/known_{place.surface.name}.py that makes one and names it"
    )
    return Known()


async def sent(
    backoffice_client: BackofficeClient, place: PlacedRoute, made: Made, known: Known
) -> Answer:
    path = {
        **made.path,
        "account_id": backoffice_client.world.demo["accounts"]["main"]["id"],
        **known.path,
    }
    steps = [
        quote(path[step[1:-1]], safe="") if step.startswith("{") else step
        for step in place.template.split("/")
    ]
    query = {
        **made.query,
        **{each: known.query[each] for each in made.query if each in known.query},
    }
    query = {
        each: min(value, MOST) if type(value) is int else value for each, value in query.items()
    }
    url = f"http://127.0.0.1:{backoffice_client.world.port}{'/'.join(steps)}?{urlencode(query)}"
    headers = {**made.headers, **await credential(backoffice_client, place, known)}
    if "If-Match" in headers:
        headers["If-Match"] = ANY_VERSION
    data = None
    if made.body is not ABSENT:
        data = msgspec.json.encode(known.body(written(made.body)))
        headers["Content-Type"] = "application/json"
    async with backoffice_client.world.session.request(
        place.route.method,
        URL(url, encoded=True),
        headers=headers,
        data=data,
        skip_auto_headers=["Content-Type"],
    ) as said:
        return Answer(status=said.status, headers=said.headers, body=await said.read())


def written(part: Any) -> Any:
    """
    Write numbers as we read them; only amounts have decimals.

    To a schema 5.0 is an integer, and in binary 57 hundredths are 0.5700000000000001.
    """
    if isinstance(part, dict):
        return {name: written(each) for name, each in part.items()}
    if isinstance(part, list):
        return [written(each) for each in part]
    if not isinstance(part, float):
        return part
    return int(part) if part.is_integer() else round(part, 2)


async def credential(
    backoffice_client: BackofficeClient, place: PlacedRoute, known: Known
) -> dict[str, str]:
    """Return the header that identifies the caller; none for a public route."""
    if place.gate.scheme == "basic":
        return {"Authorization": basic(backoffice_client.world.pair("full"))}
    if place.gate.scheme != "bearer":
        return {}
    who = known.by or next(role.value for role in Role if matrix.may(role, place))
    return {"Authorization": f"Bearer {await backoffice_client.token(who)}"}
