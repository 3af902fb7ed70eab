"""
What a document shows or lets through is accepted: by every row, in a real gateway.

Refusals alone prove nothing of a request's schema: a body that is always refused conforms too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import pytest
from jsonschema import Draft202012Validator
from yarl import URL

from gateway.domain.identity.rights import Role
from gateway.http.openapi.examples import UNKNOWN
from gateway.http.table import RoutedRow
from tests.contract.openapi import known_backoffice, known_banking, known_identity
from tests.contract.openapi.known import MOST, Knowing, Known
from tests.contract.openapi.requests_made import ABSENT, Made, example, generated
from tests.contract.openapi.surfaces import PLACES, described, name
from tests.surfaces.answers import Answer
from tests.surfaces.backoffice import matrix
from tests.surfaces.backoffice.client import BackofficeClient
from tests.surfaces.backoffice.conftest import backoffice_client
from tests.surfaces.world import basic

__all__ = ["backoffice_client"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

KNOWN: Mapping[str, Knowing] = {
    **known_banking.KNOWN,
    **known_identity.KNOWN,
    **known_backoffice.KNOWN,
}
TAKING = [place for place in PLACES if place.row.takes.body or place.row.takes.parameters]
ANY_VERSION = "*"
"""In place of the ETag that somebody has just read."""

NEVER = 501
"""What a row without any success answers: payouts cannot be cancelled."""


@pytest.mark.parametrize("place", PLACES, ids=name)
async def test_the_example_of_a_row_is_accepted(
    backoffice_client: BackofficeClient, place: RoutedRow
):
    """With today, a valid tax number and key, an id that exists and a new reference put in."""
    await accepted(backoffice_client, place, example(place))


@pytest.mark.parametrize("place", TAKING, ids=name)
async def test_what_is_made_of_a_schema_is_accepted(
    backoffice_client: BackofficeClient, place: RoutedRow
):
    # Not in a thread: Hypothesis would take the gateway's own chance for that of a strategy.
    for made in generated(place):
        await accepted(backoffice_client, place, made)


@pytest.mark.parametrize("place", PLACES, ids=name)
async def test_every_example_is_of_its_schema(place: RoutedRow):
    """And nothing in it is left open."""
    about = described(place)
    shown = about.operation(place)
    contents = [
        part["content"]
        for part in (shown.get("requestBody", {}), *shown["responses"].values())
        if "content" in part
    ]

    for content in contents:
        for media, described_ in content.items():
            assert "example" in described_, (place.row.name, media)
            assert UNKNOWN not in str(described_["example"]), (
                f"{place.row.name}: a field has no example: give it msgspec.Meta(examples=[...]), "
                f"or its name a line in gateway/http/openapi/examples.py: {described_['example']}"
            )
            conforms(about.document, described_.get("schema", {}), described_["example"])


async def test_every_entry_is_of_a_row():
    """An entry whose row is gone is a wrong statement."""
    assert set(KNOWN) <= {place.row.name for place in PLACES}


@pytest.mark.parametrize("place", PLACES, ids=name)
async def test_every_row_is_in_a_group(place: RoutedRow):
    (tag,) = described(place).operation(place)["tags"]

    assert tag != "Other", (
        f"{place.row.name}: no group of gateway/http/openapi/operations.py has the word of its path"
    )
    assert tag in {each["name"] for each in described(place).document["tags"]}


async def accepted(backoffice_client: BackofficeClient, place: RoutedRow, made: Made) -> None:
    """Send a request, and demand one of the successes that are described."""
    known = await what_is_known(backoffice_client, place)

    answer = await sent(backoffice_client, place, made, known)

    successes = [each for each in described(place).operation(place)["responses"] if each < "3"]
    assert answer.status in (map(int, successes) if successes else [NEVER]), (
        f"{place.row.name} refused what its own description shows or lets through: "
        f"{made} was answered {answer.status} {answer.body!r}. Either its schema says too little "
        "(add the pattern, the bounds or the words that are checked), or no schema can tell it: "
        f"then put it in by an entry in tests/contract/openapi/known_{place.surface.name}.py"
    )
    promised = described(place).operation(place)["responses"][str(answer.status)]
    assert ("ETag" in answer.headers) == ("ETag" in promised["headers"])
    assert not answer.body or "content" in promised
    for media, content in promised.get("content", {}).items():
        if answer.headers["Content-Type"].startswith(media) and "schema" in content:
            document = (
                answer.document if media == "application/json" else answer.body.decode("latin-1")
            )
            conforms(described(place).document, content["schema"], document)


async def what_is_known(backoffice_client: BackofficeClient, place: RoutedRow) -> Known:
    """Make what a call needs; a row with parameters of its own says how."""
    if place.row.name in KNOWN:
        return await KNOWN[place.row.name](backoffice_client)
    own = {each["name"] for each in described(place).parameters(place, "path")} - {"account_id"}
    assert not own, (
        f"{place.row.name} takes {sorted(own)}: add an entry to "
        f"tests/contract/openapi/known_{place.surface.name}.py that makes one and names it"
    )
    return Known()


async def sent(
    backoffice_client: BackofficeClient, place: RoutedRow, made: Made, known: Known
) -> Answer:
    """Send one request."""
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
        place.row.method,
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


def asked(name: str, value: object, known: Known) -> object:
    """Return what is asked in the query: what is known, or what was made."""
    value = written(known.query.get(name, value))
    return min(value, MOST) if type(value) is int else value


async def credential(
    backoffice_client: BackofficeClient, place: RoutedRow, known: Known
) -> dict[str, str]:
    """Return the header by which the caller is known; none where nobody is asked."""
    if place.gate.scheme == "basic":
        return {"Authorization": basic(backoffice_client.world.pair("full"))}
    if place.gate.scheme != "bearer":
        return {}
    who = known.by or next(role.value for role in Role if matrix.may(role, place))
    return {"Authorization": f"Bearer {await backoffice_client.token(who)}"}


def conforms(document: Mapping[str, Any], schema: Mapping[str, Any], value: object) -> None:
    """Demand that a value is of a schema; binary numbers are no multiples of a hundredth."""
    whole = _without_multiples({**schema, "components": document["components"]})
    Draft202012Validator(whole).validate(value)


def _without_multiples(part: Any) -> Any:
    if isinstance(part, dict):
        return {
            name: _without_multiples(each) for name, each in part.items() if name != "multipleOf"
        }
    return [_without_multiples(each) for each in part] if isinstance(part, list) else part
