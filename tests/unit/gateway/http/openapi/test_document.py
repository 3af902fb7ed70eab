"""The document of a surface, from routes of the test; the real one is proven as a contract."""

from __future__ import annotations

import dataclasses
from typing import Any, TypedDict

from gateway.core import errors
from gateway.http.openapi.document import document
from gateway.http.route import Answer, RouteLimits
from tests.world.gateway.listener_client import TAKES, Said, declared, echo, route, surface


def described(*routes: object, **parts: object) -> dict:  # type: ignore[type-arg]
    return document(surface(*routes, **parts), "Tests")  # type: ignore[arg-type]


def test_a_route_is_an_operation():
    paths = described(route(path="/things/{reference}"))["paths"]

    operation = paths["/v1/things/{reference}"]["get"]
    assert operation["operationId"] == "tests_things"
    assert operation["description"] == "Needs `balance:read`."
    assert operation["security"] == [{"basic": []}]
    assert operation["tags"] == ["Other"]
    assert [(each["name"], each["in"]) for each in operation["parameters"][:-2]] == [
        ("reference", "path")
    ]


def test_an_open_route_needs_no_security():
    operation = described(route(path="/health", needs=None))["paths"]["/v1/health"]["get"]

    assert (operation["security"], operation["description"]) == ([], "Open to everybody.")


def test_a_route_says_whether_it_asks_for_a_sign_in():
    """The session is shown to a browser without one: that route has no 401."""
    asks = dataclasses.replace(route(path="/own", needs=None), raises=(errors.CREDENTIALS_MISSING,))
    paths = described(route(path="/things"), route(path="/session", needs=None), asks)["paths"]

    assert paths["/v1/session"]["get"]["description"] == "Answers without a session, too."
    assert paths["/v1/own"]["get"]["description"] == "Needs no right beyond the sign-in."


def test_routes_of_one_path_share_it():
    paths = described(route(path="/a"), route(path="/a", method="DELETE"))["paths"]

    assert sorted(paths["/v1/a"]) == ["delete", "get"]


class Waiting(TypedDict):
    """What a route shows where it has not done it yet."""

    waits: bool


def either(said: str, _who: object) -> Answer[Said] | Answer[Waiting]:
    """Show that it is done, or that it waits."""
    return Answer(content={"said": said})


def file(said: str, _who: object) -> Answer[bytes]:
    """Show a file."""
    return Answer(content=said.encode())


def showing(shows: Any, **cells: Any) -> dict[str, Any]:
    """Describe the answers of a route that shows something else."""
    made = declared(
        method="GET",
        path="/a",
        name="tests.a",
        summary="A.",
        needs=None,
        limits=RouteLimits("read", 0),
        takes=TAKES,
        runs=echo,
        shows=shows,
        fails={},
        raises=(),
        **cells,
    )
    found: dict[str, Any] = described(made)["paths"]["/v1/a"]["get"]["responses"]
    return found


def test_an_answer_of_another_status_is_described_too():
    responses = showing(either, also={202: Waiting})

    shown = {
        status: responses[status]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[
            2
        ]
        for status in ("200", "202")
    }
    assert shown == {"200": "Said", "202": "Waiting"}


def test_a_file_is_described_by_its_kinds():
    """One of JSON may be anything."""
    responses = showing(file, media=("text/csv; header=present", "application/json"))

    assert responses["200"]["content"] == {
        "text/csv": {"schema": {"type": "string"}, "example": ""},
        "application/json": {"example": ""},
    }


def test_a_refusal_shows_the_first_of_its_codes():
    responses = described(route(path="/a"))["paths"]["/v1/a"]["get"]["responses"]

    example = responses["502"]["content"]["application/json"]["example"]
    assert example["code"] == errors.BALANCE_UNAVAILABLE.code
    assert example["message"] == errors.BALANCE_UNAVAILABLE.message
    assert set(example) == {"code", "message", "trace_id"}
