"""
What a document shows or lets through is accepted: by every row, in a real gateway.

Refusals alone prove nothing of a request's schema: a body that is always refused conforms too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gateway.http.openapi.examples import UNKNOWN
from gateway.http.table import RoutedRow
from tests.contract.openapi.accepted import KNOWN, sent, what_is_known, written
from tests.contract.openapi.known import MOST, Known
from tests.contract.openapi.requests_made import Made, example, generated
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.fixtures import backoffice_client
from tests.world.documents import PLACES, described, name

__all__ = ["backoffice_client"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

TAKING = [place for place in PLACES if place.row.takes.body or place.row.takes.parameters]

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


def asked(name: str, value: object, known: Known) -> object:
    """Return what is asked in the query: what is known, or what was made."""
    value = written(known.query.get(name, value))
    return min(value, MOST) if type(value) is int else value


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
