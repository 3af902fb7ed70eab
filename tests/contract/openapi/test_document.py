"""The OpenAPI document: valid, complete, and of the routes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from gateway.core.errors import CATALOGUE, ELSEWHERE
from gateway.http.openapi.document import as_json
from gateway.http.openapi.operations import codes_of
from tests.contract.openapi.conformity import problems
from tests.contract.openapi.described import DOCUMENT, operation, resolved
from tests.world.gateway import routes


def test_a_broken_document_is_found():
    """The validator is able to refuse."""
    broken = json.loads(as_json(DOCUMENT))
    broken["paths"]["/baas/v1/info"]["get"]["responses"]["200"].pop("description")

    with pytest.raises(Exception, match="description"):
        validate(broken, cls=OpenAPIV31SpecValidator)


def parameters(described: Mapping[str, Any], where: str) -> set[str]:
    """Name the parameters in ``path``, ``query`` or ``header``."""
    found = (resolved(each) for each in described["parameters"])
    return {each["name"] for each in found if each["in"] == where}


def test_cancelling_a_payout_documents_no_success():
    """Contract 4.1: always 501."""
    described = operation("DELETE", "/baas/v1/account/{account_id}/withdraw/{reference}")

    assert not [status for status in described["responses"] if status.startswith("2")]
    assert "Always answers 501 `SVC.PIX.018`" in described["description"]


def test_every_code_of_the_surface_belongs_to_a_route():
    """Except for the two codes of the route table, which apply before any route."""
    told = {error for place in routes.PLACES for error in codes_of(place.gate, place.route)}
    in_front = {"route_unknown", "method_not_allowed"}

    silent = {error.name for error in set(CATALOGUE) - set(ELSEWHERE) - told}
    assert silent == in_front


def test_a_validator_accepts_every_valid_order():
    """The guide's own order, and amounts that are not multiples of 0.01 in binary."""
    guide = (Path(__file__).parents[3] / "docs/partner-guide.md").read_text("utf-8")
    orders = [json.loads(each) for each in re.findall(r"```json\n(.*?)```", guide, re.DOTALL)]
    amounts = [*(centavos / 100 for centavos in range(1, 1000)), 9_999_999_999_999.99]
    wanted = [*orders, *({**orders[0], "value": amount} for amount in amounts)]

    schema = {"$ref": "#/components/schemas/PayoutRequest"}
    refused = {
        each["value"]: found for each in wanted if (found := problems("banking", schema, each))
    }

    assert refused == {}
    assert problems("banking", schema, {**orders[0], "value": 0})


@pytest.mark.parametrize("name", ["Payout", "PayoutRequest"])
def test_a_payout_is_reported_by_its_method(name: str):
    shape = DOCUMENT["components"]["schemas"][name]

    mapping = shape["discriminator"]["mapping"]
    assert shape["discriminator"]["propertyName"] == "method"
    assert list(mapping) == ["pix", "bank_account"]
    assert [each["$ref"] for each in shape["oneOf"]] == list(mapping.values())
    for word, reference in mapping.items():
        form = resolved({"$ref": reference})
        assert form["properties"]["method"]["const"] == word
        assert "method" in form["required"]


def test_a_payout_shows_an_order_of_each_method():
    body = operation("POST", "/baas/v1/account/{account_id}/withdraw")["requestBody"]
    shown = body["content"]["application/json"]["examples"]

    assert [(word, each["value"]["method"]) for word, each in shown.items()] == [
        ("pix", "pix"),
        ("bank_account", "bank_account"),
    ]
