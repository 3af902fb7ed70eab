"""Requests made of a document alone: its example, and what its schemas let through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case
from schemathesis.core import NOT_SET

from gateway.http.table import PlacedRoute
from tests.world.documents import SURFACES, described
from tests.world.generated import examples

EXAMPLES = examples(3)
"""Made of the schemas, for each route."""

ABSENT = object()
"""No body at all."""

OPERATIONS = {
    name: {
        each.ok().label: each.ok()
        for each in schemathesis.openapi.from_dict(dict(one.document)).get_all_operations()
    }
    for name, one in SURFACES.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The input of a call, before values that no schema contains are added."""

    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = ABSENT


def example(place: PlacedRoute) -> Made:
    about = described(place)
    body = about.operation(place).get("requestBody")
    return Made(
        path={each["name"]: _shown(each) for each in about.parameters(place, "path")},
        query={
            each["name"]: _shown(each)
            for each in about.parameters(place, "query")
            if each["required"]
        },
        headers={
            each["name"]: each["example"]
            for each in about.parameters(place, "header")
            if "example" in each
        },
        body=_sent(body["content"]["application/json"]) if body else ABSENT,
    )


def _sent(content: Mapping[str, Any]) -> object:
    """Return the example of a body; of a choice, the first."""
    forms = content.get("examples")
    return next(iter(forms.values()))["value"] if forms else content["example"]


def generated(place: PlacedRoute) -> list[Made]:
    """Return requests that the schemas let through; the same ones each time."""
    operation = OPERATIONS[place.surface.name][f"{place.route.method} {place.template}"]
    found: list[Made] = []

    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def draw(case: Case) -> None:
        found.append(
            Made(
                path=dict(case.path_parameters or {}),
                query=dict(case.query or {}),
                headers=dict(case.headers or {}),
                body=ABSENT if case.body is NOT_SET else case.body,
            )
        )

    draw()
    return found


def _shown(parameter: Any) -> str:
    schema = parameter["schema"]
    return str(schema["examples"][0] if "examples" in schema else schema["enum"][0])
