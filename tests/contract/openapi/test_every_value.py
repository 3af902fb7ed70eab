"""
Each value that a document shows of a filter is taken: both truth values, each word, odd days.

The routes are those that read, and their filters those of their documents: a new one is tried
without a word here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.permissions import Action, Permission
from gateway.core.rights import Right
from gateway.http.table import PlacedRoute
from tests.contract.openapi.accepted import sent, what_is_known
from tests.contract.openapi.known import Known
from tests.contract.openapi.requests_made import ABSENT, Made, example
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.fixtures import backoffice_client
from tests.world.documents import PLACES, described, name

__all__ = ["backoffice_client"]

Values = Mapping[str, object]

EDGES = {
    "date": ("0001-01-01", "0001-12-31", "9999-01-01", "9999-12-31"),
    "date-time": (
        *("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00-12:00"),
        *("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59+14:00"),
    ),
}
"""Of the calendar's first year and last; some of these instants no clock in UTC can name."""


def reads(place: PlacedRoute) -> bool:
    needed = place.route.needs
    if isinstance(needed, Right | Permission):
        return needed.action is Action.READ
    return place.route.method == "GET"


def fields(place: PlacedRoute) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the place, name and schema of each filter."""
    about = described(place)
    for where in ("query", "path"):
        for each in about.parameters(place, where):
            yield where, each["name"], each["schema"]
    body = about.operation(place).get("requestBody")
    if body:
        schema = about.resolved(body["content"]["application/json"]["schema"])
        for field, each in schema.get("properties", {}).items():
            yield "body", field, each


def forms(place: PlacedRoute, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    found = described(place).resolved(schema)
    choices = [each for word in ("anyOf", "oneOf", "allOf") for each in found.get(word, ())]
    for each in choices:
        yield from forms(place, each)
    if not choices:
        yield found


def listed(place: PlacedRoute, schema: Mapping[str, Any]) -> Iterator[object]:
    """Yield each value of a filter of which there are few; of a list, one list of each."""
    for form in forms(place, schema):
        if form.get("type") == "array":
            yield from ([each] for each in listed(place, form["items"]))
        elif form.get("type") == "boolean":
            yield from (True, False)
        else:
            yield from form.get("enum", ())


def choices(place: PlacedRoute) -> Iterator[tuple[str, Values]]:
    for where, field, schema in fields(place):
        for value in listed(place, schema):
            yield where, {field: value}


def edges(place: PlacedRoute) -> Iterator[tuple[str, Values]]:
    """Yield each edge alone, with all its siblings, and these with each value of the others."""
    for form, times in EDGES.items():
        for where in ("query", "body", "path"):
            named = [
                field
                for at, field, schema in fields(place)
                if at == where and any(each.get("format") == form for each in forms(place, schema))
            ]
            others: list[Values] = [values for at, values in choices(place) if at == where]
            for time in times if named else ():
                together = dict.fromkeys(named, time)
                yield from ((where, {**together, **each}) for each in others or [{}])
                if len(named) > 1:
                    yield from ((where, {field: time}) for field in named)


READING = [place for place in PLACES if reads(place)]
CHOOSING = [
    place
    for place in READING
    if any(choices(place))
    and place.route.name
    != "backoffice.pix_key_owner"  # the type of a key is no filter: it must fit
]
TIMED = [place for place in READING if any(edges(place))]


async def verdicts(
    backoffice_client: BackofficeClient, place: PlacedRoute, tried: Iterator[tuple[str, Values]]
) -> list[tuple[Values, int, bytes]]:
    """Send each, what a call needs besides put in; return how each was answered."""
    known = await what_is_known(backoffice_client, place)
    return [
        (values, said.status, said.body)
        for where, values in tried
        for said in [await sent(backoffice_client, place, *varied(place, known, where, values))]
    ]


def varied(place: PlacedRoute, known: Known, where: str, values: Values) -> tuple[Made, Known]:
    """Put values into the example of a route, whatever is known of it."""
    made = example(place)
    if where == "path":
        return made, replace(known, path={**known.path, **values})
    if where == "query":
        query = {field: worded(value) for field, value in values.items()}
        rest = {field: each for field, each in known.query.items() if field not in values}
        return replace(made, query={**made.query, **query}), replace(known, query=rest)
    body = {} if made.body is ABSENT else made.body
    return replace(made, body=body), replace(known, body=lambda old: {**known.body(old), **values})


def worded(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(worded, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("place", CHOOSING, ids=name)
async def test_each_value_of_a_filter_is_accepted(
    backoffice_client: BackofficeClient, place: PlacedRoute
):
    said = await verdicts(backoffice_client, place, choices(place))

    assert [each for each in said if each[1] not in range(200, 300)] == []


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("place", TIMED, ids=name)
async def test_the_first_and_last_calendar_dates_are_served_or_refused(
    backoffice_client: BackofficeClient, place: PlacedRoute
):
    """Of a day that is named in a path there may be nothing."""
    said = await verdicts(backoffice_client, place, edges(place))

    absent = {404} if "{day}" in place.template else set()
    assert [each for each in said if each[1] not in {*range(200, 300), 400, *absent}] == []
