"""
What a document shows or lets through is accepted: by every route, in a real gateway.

Refusals alone prove nothing of a request's schema: a body that is always refused conforms too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from gateway.http.openapi.examples import UNKNOWN
from gateway.http.table import PlacedRoute
from tests.contract.openapi.accepted import KNOWN, sent, what_is_known
from tests.contract.openapi.conformity import problems
from tests.contract.openapi.requests_made import Made, example, generated
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.fixtures import backoffice_client
from tests.world.documents import PLACES, SURFACES, described, name
from tests.world.gateway.answers import Answer

__all__ = ["backoffice_client"]

TAKING = [place for place in PLACES if place.route.takes.body or place.route.takes.parameters]

NEVER = 501
"""What a route without any success answers: payouts cannot be cancelled."""


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("surface", SURFACES)
async def test_the_examples_of_routes_are_accepted(
    backoffice_client: BackofficeClient, surface: str
):
    """With today's date, a valid tax number and key, an existing id and a new reference."""
    refused = [
        problem
        for place in SURFACES[surface].places
        if (problem := await refusal(backoffice_client, place, example(place)))
    ]

    assert refused == []


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("place", TAKING, ids=name)
async def test_values_made_from_a_schema_are_accepted(
    backoffice_client: BackofficeClient, place: PlacedRoute
):
    # Not in a thread: Hypothesis would take the gateway's own chance for that of a strategy.
    refused = [
        problem
        for made in generated(place)
        if (problem := await refusal(backoffice_client, place, made))
    ]

    assert refused == []


def test_every_example_matches_its_schema():
    wrong = {
        (place.route.name, media): found
        for place in PLACES
        for media, content in contents(place)
        if "example" in content
        and (found := problems(place.surface.name, content.get("schema", {}), content["example"]))
    }

    assert wrong == {}


def test_the_checker_accepts_valid_and_rejects_invalid_values():
    """References are resolved, and amounts are compared exactly despite binary fractions."""
    balance = {"$ref": "#/components/schemas/Balance"}

    assert problems("banking", balance, {"balance": 0.57, "blocked": 0, "updated_at": ""}) == []
    assert problems("banking", balance, {"balance": "0.57", "blocked": 0, "updated_at": ""})


def test_no_example_has_a_placeholder():
    """A field's example is in msgspec.Meta: ``examples``, or ``example`` of extra_json_schema."""
    lacking = [
        (place.route.name, media)
        for place in PLACES
        for media, content in contents(place)
        if UNKNOWN in str(content.get("example", UNKNOWN))
    ]

    assert lacking == []


def contents(place: PlacedRoute) -> list[tuple[str, Mapping[str, Any]]]:
    """Return every body that a route's description shows, with its media type; a choice by form."""
    shown = described(place).operation(place)
    parts = (shown.get("requestBody", {}), *shown["responses"].values())
    return [
        (media, {**content, **form})
        for part in parts
        for media, content in part.get("content", {}).items()
        for form in (
            [{"example": each["value"]} for each in content.get("examples", {}).values()] or [{}]
        )
    ]


def test_every_known_entry_has_its_route():
    """An entry for a removed route is outdated."""
    assert set(KNOWN) <= {place.route.name for place in PLACES}


def test_every_route_is_in_a_group():
    """By a word of its path, in gateway/http/openapi/operations.py."""
    wrong = [
        place.route.name
        for place in PLACES
        if not {*described(place).operation(place)["tags"]} <= groups(place) - {"Other"}
        or len(described(place).operation(place)["tags"]) != 1
    ]

    assert wrong == []


def groups(place: PlacedRoute) -> set[str]:
    return {each["name"] for each in described(place).document["tags"]}


async def refusal(backoffice_client: BackofficeClient, place: PlacedRoute, made: Made) -> str:
    """Send a request, and say what is not one of the successes that are described."""
    known = await what_is_known(backoffice_client, place)

    answer = await sent(backoffice_client, place, made, known)

    responses = described(place).operation(place)["responses"]
    successes = [int(each) for each in responses if each < "3"] or [NEVER]
    if answer.status not in successes:
        return (
            f"{place.route.name} refused what its own description shows or lets through: "
            f"{made} was answered {answer.status} {answer.body!r}. Either its schema says too "
            "little (add the pattern, the bounds or the words that are checked), or no schema can "
            f"tell it: then add an entry to tests/contract/openapi/known_{place.surface.name}.py"
        )
    wrong = list(unpromised(answer, place.surface.name, responses[str(answer.status)]))
    return f"{place.route.name}: {wrong}" if wrong else ""


def unpromised(answer: Answer, surface: str, promised: Mapping[str, Any]) -> Iterator[str]:
    """Say how an answer differs from its description."""
    if ("ETag" in answer.headers) != ("ETag" in promised["headers"]):
        yield "ETag"
    if answer.body and "content" not in promised:
        yield "a body"
    for media, content in promised.get("content", {}).items():
        if answer.headers["Content-Type"].startswith(media) and "schema" in content:
            document = (
                answer.document if media == "application/json" else answer.body.decode("latin-1")
            )
            yield from problems(surface, content["schema"], document)
