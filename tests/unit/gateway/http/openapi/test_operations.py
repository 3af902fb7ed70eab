"""A row as an operation; the rest stands with the document."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest

from gateway.core.calls import Input
from gateway.http.openapi.operations import ERROR, Shapes, bodies_of, operation, shapes_of
from gateway.http.openapi.schemas import described
from tests.world.gateway.listener_client import Said, route, surface, text


class EchoBody(msgspec.Struct):
    """What is to be said."""

    reference: Annotated[str, msgspec.Meta(examples=["order-1042"])]


TAKES: Input[str] = Input(read=text, body=EchoBody, may_be_absent=True)


def shown(**cells: object) -> dict:  # type: ignore[type-arg]
    made = route(**cells)  # type: ignore[arg-type]
    (gate,) = surface(made).gates
    by_type, components = described(shapes_of(made), bodies_of(made))
    return operation(gate, made, Shapes(by_type, {**components, ERROR: {"required": []}}))


def test_the_shapes_of_a_row_are_those_of_its_request_and_answers():
    made = route(takes=TAKES)

    assert (shapes_of(made), bodies_of(made)) == ([Said], [EchoBody])
    assert bodies_of(route()) == []


def test_a_body_is_described_with_an_example():
    body = shown(takes=TAKES)["requestBody"]

    assert body["required"] is False
    assert body["content"]["application/json"] == {
        "schema": {"$ref": "#/components/schemas/EchoRequest"},
        "example": {"reference": "order-1042"},
    }


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/account/{account_id}", {"format": "uuid"}),
        ("/users/{user_id}", {"format": "uuid"}),
        ("/sessions/{session_id}", {"pattern": "^[0-9a-f]{12}$"}),
        ("/withdraw/{reference}", {"minLength": 1, "maxLength": 1024}),
    ],
)
def test_what_stands_in_a_path_has_its_form(path: str, form: dict[str, object]):
    schema = shown(path=path)["parameters"][0]["schema"]

    assert form.items() <= schema.items()
    assert schema["examples"]
