"""What is served, against the documents that describe it."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping
from typing import Any

import pytest
import requests
import schemathesis
import yaml
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator
from schemathesis import Case, GenerationMode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gateway.core.rights import Role
from gateway.http.openapi.document import document
from gateway.http.openapi.examples import DAY, ORIGIN
from gateway.http.table import PlacedRoute
from tests.contract.openapi.described import DOCUMENT, operation, resolved, schema_of
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.fixtures import backoffice_client
from tests.world.documents import SURFACES
from tests.world.gateway import routes
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import NOBODY, World, basic
from tests.world.generated import examples
from tests.world.surfaces import surface_named

__all__ = ["backoffice_client"]

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("prepared")]

CONFORMS = [
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
EXPLORED = {
    **dict.fromkeys(("banking", "events", "sandbox", "identity"), "/"),
    "backoffice": "/backoffice/v1/accounts/{account_id}/",
}
"""The paths that are tried of each document."""
OPERATIONS: dict[tuple[str, str], APIOperation] = {
    (surface, each.ok().label): each.ok()
    for surface, below in EXPLORED.items()
    for each in schemathesis.openapi.from_dict(SURFACES[surface].document).get_all_operations()
    if each.ok().path.startswith(below)
}
EXAMPLES = examples(3)
YAML = "application/yaml; charset=utf-8"


@pytest.fixture(scope="module")
def world(described_world: World) -> World:
    return described_world


async def test_the_generated_documents_are_served(world: World):
    """
    Without a credential; the one for partners as YAML too.

    Example dates are today's, as a payout requires. The server is the gateway's own address: with a
    path alone, a generated client would call a port of its own machine and send the secret there.
    """
    as_yaml = await world.ask("GET", "/openapi.yaml", by=NOBODY, content_type=YAML)
    served = {
        surface: (await world.ask("GET", f"{prefix}/openapi.json", by=NOBODY)).document
        for surface, prefix in (
            ("events", "/events/v1"),
            ("sandbox", "/sandbox/v1"),
            ("identity", "/iam/v1"),
            ("backoffice", "/backoffice/v1"),
        )
    }
    titles = {
        "events": "pixgate events",
        "sandbox": "pixgate sandbox",
        "identity": "pixgate identity",
        "backoffice": "pixgate back office",
    }

    def of_today(document: Mapping[str, Any]) -> Any:
        own = f"http://127.0.0.1:{world.port}"
        return json.loads(json.dumps(document).replace(DAY, world.today()).replace(ORIGIN, own))

    assert yaml.safe_load(as_yaml.body) == of_today(DOCUMENT)
    assert (await world.ask("GET", "/openapi.json", by=NOBODY)).document == of_today(DOCUMENT)
    for surface, found in served.items():
        assert found == of_today(document(surface_named(surface), titles[surface])), surface


async def test_a_forged_host_does_not_change_the_servers_in_the_document(world: World):
    """It would otherwise send the next reader's client, and its secret, to another server."""
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    forged = await world.ask("GET", "/openapi.json", by=NOBODY, headers=headers)

    assert b"evil.example" not in forged.body
    assert forged.document["servers"][0]["url"] == f"http://127.0.0.1:{world.port}"


async def test_the_document_accepts_get_and_head_alone(world: World):
    head = await world.ask("HEAD", "/openapi.json", by=NOBODY)
    posted = await world.ask("POST", "/openapi.json", by=NOBODY)

    assert (head.status, head.body) == (200, b"")
    assert posted.verdict == (405, "SVC.GTW.002")
    assert posted.headers["Allow"] == "GET, HEAD"


async def test_every_answer_matches_its_schema(world: World):
    """And has no additional field."""
    wrong = {}
    for place in routes.PLACES:
        answer = await routes.ask(world, place, by="full" if place.route.needs else NOBODY)
        wrong[place.route.name] = unlike(answer, place)

    assert {name: found for name, found in wrong.items() if found} == {}


ROLES = ["pending", "paid", "anonymous", "canceled", "reusable"]


async def test_an_answer_with_a_charge_of_any_kind_matches_its_schema(world: World):
    wrong = {}
    for name in ("banking.qrcode", "banking.pix_transaction"):
        place = next(each for each in routes.PLACES if each.route.name == name)
        for role in ROLES:
            steps = {"reference": world.demo["charges"][role]}
            answer = await routes.ask(world, place, steps=steps)
            wrong[name, role] = [*unlike(answer, place), *([answer] * (answer.status != 200))]

    assert {case: found for case, found in wrong.items() if found} == {}


async def test_a_refusal_is_described_with_its_headers(world: World):
    wrong = {}
    for place in routes.PARTNER:
        for by in (NOBODY, "none", "other_company"):
            answer = await routes.ask(world, place, by=by)
            wrong[place.route.name, by] = [*undescribed(answer, place), *unlike(answer, place)]

    assert {case: found for case, found in wrong.items() if found} == {}


def undescribed(answer: Answer, place: PlacedRoute) -> list[str]:
    """Name the code and the headers of a refusal that are not as described."""
    described = operation(place.route.method, place.template)["responses"][str(answer.status)]
    needed = {name for name, each in described["headers"].items() if resolved(each).get("required")}
    absent = sorted(needed - set(answer.headers))
    return absent if answer.code in described["description"] else [answer.code, *absent]


def unlike(answer: Answer, place: PlacedRoute) -> list[str]:
    """Say how an answer differs from its schema, including additional fields."""
    schema = schema_of(place.route.method, place.template, answer.status)
    found = [each.message for each in Draft202012Validator(schema).iter_errors(answer.document)]
    return found or unknown(answer.document, schema)


@pytest.mark.parametrize(("surface", "label"), OPERATIONS)
async def test_generated_requests_get_described_answers(
    backoffice_client: BackofficeClient, surface: str, label: str
):
    """Valid and invalid input, for existing and unknown accounts: never a 500."""
    operation = OPERATIONS[surface, label]
    authorization = await authorized(backoffice_client, surface)
    for mode in modes(surface, operation):
        await asyncio.to_thread(explore, backoffice_client.world, operation, mode, authorization)


async def authorized(backoffice_client: BackofficeClient, surface: str) -> list[dict[str, str]]:
    """Return the headers to send in turns; whoever explores identity may sign itself out."""
    if surface in {"banking", "events", "sandbox"}:
        return [{"Authorization": basic(backoffice_client.world.pair("company"))}]
    if surface == "backoffice":
        return [{"Authorization": f"Bearer {await backoffice_client.token('operator')}"}]
    who = f"{uuid.uuid4().hex}@example.com"
    await backoffice_client.plain(who, Role.ADMIN)
    return [{"Authorization": f"Bearer {await backoffice_client.token(who)}"}, {}]


def modes(surface: str, operation: APIOperation) -> list[GenerationMode]:
    """Where nothing is taken but a trace, nothing can be wrong."""
    raw = SURFACES[surface].document["paths"][operation.path][operation.method]
    takes = "requestBody" in raw or any("$ref" not in each for each in raw["parameters"])
    return [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if takes else [])]


def explore(
    world: World, operation: APIOperation, mode: GenerationMode, authorization: list[dict[str, str]]
) -> None:
    """Send what schemathesis thinks of; every second request goes to an account that exists."""
    address = f"http://127.0.0.1:{world.port}"
    accounts = [each["id"] for each in world.demo["accounts"].values()]
    sent = 0

    with requests.Session() as session:

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def send(case: Case) -> None:
            nonlocal sent
            sent += 1
            if sent % 2 and "account_id" in (case.path_parameters or {}):
                case.path_parameters["account_id"] = accounts[sent // 2 % len(accounts)]
            if "wait" in (case.query or {}) and case.query["wait"] not in {0, "0"}:
                case.query["wait"] = "x" if mode is GenerationMode.NEGATIVE else 0  # no test waits
            # A wrong Host is refused below every surface, with the contract's three fields alone.
            if case.headers is not None:
                case.headers.pop("Host", None)
            headers = authorization[sent % len(authorization)]
            said = case.call(base_url=address, headers=headers, session=session)
            assert said.status_code < 500 or said.status_code in {501, 502}, said.content
            assert len(said.headers["x-trace-id"]) == 1
            # A generated step may make it another path.
            if not (said.status_code in {404, 405} and b"SVC.GTW" in said.content):
                case.validate_response(said, checks=CONFORMS)

        send()
    assert sent >= 1


def unknown(document: Any, schema: dict[str, Any]) -> list[str]:
    """Name the fields of an object, on its first level, that its schema does not."""
    shape = resolved(schema)
    if "discriminator" in shape:
        told = shape["discriminator"]
        shape = resolved({"$ref": told["mapping"][document[told["propertyName"]]]})
    return [name for name in document if name not in shape["properties"]]
