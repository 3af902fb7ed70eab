"""A route as an operation; the rest is tested with the document."""

from __future__ import annotations

import pytest

from gateway.http.openapi.operations import ERROR, Shapes, bodies_of, operation, shapes_of
from gateway.http.openapi.schemas import described
from tests.world.gateway.listener_client import route, surface


def shown(**cells: object) -> dict:  # type: ignore[type-arg]
    made = route(**cells)  # type: ignore[arg-type]
    (gate,) = surface(made).gates
    by_type, components = described(shapes_of(made), bodies_of(made))
    return operation(gate, made, Shapes(by_type, {**components, ERROR: {"required": []}}))


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/account/{account_id}", {"format": "uuid"}),
        ("/users/{user_id}", {"format": "uuid"}),
        ("/sessions/{session_id}", {"pattern": "^[0-9a-f]{12}$"}),
        ("/withdraw/{reference}", {"minLength": 1, "maxLength": 1024}),
    ],
)
def test_a_path_parameter_has_its_format(path: str, form: dict[str, object]):
    schema = shown(path=path)["parameters"][0]["schema"]

    assert form.items() <= schema.items()
    assert schema["examples"]
