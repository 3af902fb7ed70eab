"""The document of a surface, from routes of the test; the real one is proven as a contract."""

from __future__ import annotations

from typing import Any

from gateway.core import errors
from gateway.core.priority import Priority
from gateway.http.openapi.document import document
from gateway.http.route import Answer, RouteLimits
from tests.world.gateway.listener_client import TAKES, declared, echo, route, surface


def described(*routes: object, **parts: object) -> dict:  # type: ignore[type-arg]
    return document(surface(*routes, **parts), "Tests")  # type: ignore[arg-type]


def file(said: str, _who: object) -> Answer[bytes]:
    return Answer(content=said.encode())


def showing(shows: Any, **cells: Any) -> dict[str, Any]:
    made = declared(
        method="GET",
        path="/a",
        name="tests.a",
        summary="A.",
        needs=None,
        priority=Priority.PARTNERS,
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


def test_a_file_is_described_by_its_media_types():
    """A JSON file may have any schema."""
    responses = showing(file, media=("text/csv; header=present", "application/json"))

    assert responses["200"]["content"] == {
        "text/csv": {"schema": {"type": "string"}, "example": ""},
        "application/json": {"example": ""},
    }


def test_the_example_of_an_error_is_its_first_code():
    responses = described(route(path="/a"))["paths"]["/v1/a"]["get"]["responses"]

    example = responses["502"]["content"]["application/json"]["example"]
    assert example["code"] == errors.BALANCE_UNAVAILABLE.code
    assert example["message"] == errors.BALANCE_UNAVAILABLE.message
    assert set(example) == {"code", "message", "trace_id"}
