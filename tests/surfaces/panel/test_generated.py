"""What the panel's pages may call, as it is described: good input and bad, from a browser."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gateway.domain.identity.rights import Role
from gateway.http.openapi.document import document
from gateway.operations.identity.users import NewUser
from tests.surfaces.panel.api import Page, world
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.identity_api import COOKIE
from tests.world.gateway.world import World
from tests.world.generated import examples
from tests.world.surfaces import surface_named

__all__ = ["world"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

API = surface_named("panel_api")
DOCUMENT: dict[str, Any] = document(API, "pixgate panel")
CONFORMS = [
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
OPERATIONS = {
    each.ok().label: each.ok()
    for each in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()
}
EXAMPLES = examples(4)
BANK_S = frozenset({501, 502})
"""Of 5xx: what is never offered, and a bank that would not."""

STOP = {"scope": "company", "reason": "a test", "minutes": 5}
WHO = "everything@panel.example"


@dataclass(frozen=True, slots=True)
class Visit:
    """
    A page of somebody's, and what is there to be named in its paths.

    Attributes:
        known: Values by the parameter that they may stand for.
    """

    page: Page
    known: Mapping[str, Sequence[str]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def visit(world: World) -> Visit:
    """A page, and one of everything that a path names; none of it is the page's own person."""
    opened, demo = await page(world), world.demo
    other = NewUser(email="other@panel.example", name="Other", roles=frozenset({Role.VIEWER}))
    victim = await world.gateway.rooms.identity.services.users.create("test", other, PASSWORD)
    account = demo["accounts"]["main"]["id"]
    approval = await opened.ask(
        "POST", f"/panel/api/accounts/{account}/withdraw/pix", paying(world)
    )
    stop = await opened.ask(
        "POST", "/panel/api/stops", {**STOP, "subject": demo["companies"]["other"]["id"]}
    )
    others = [each["id"] for each in demo["accounts"].values()]
    return Visit(
        opened,
        {
            "account_id": [each for other in others for each in (account, other)],
            "company_id": [each["id"] for each in demo["companies"].values()],
            "user_id": [victim.id],
            "client_id": [demo["credentials"]["balance:read"]["client_id"]],
            "approval_id": [approval.document["id"]],
            "stop_id": [stop.document["id"]],
            "key_id": demo["pix_keys"]["main"],
            "reference": list(demo["charges"].values()),
        },
    )


def paying(world: World) -> dict[str, object]:
    """An order that waits for another person."""
    destination = {
        "tax_number": "529.982.247-25",
        "key_type": "email",
        "key": "maria@example.com",
    }
    return {"reference": "waits", "value": 1, "date": world.today(), "destination": destination}


async def page(world: World) -> Page:
    """A browser of somebody with every role, whose second factor was just given."""
    order = NewUser(email=WHO, name="Everything", roles=frozenset(Role))
    await world.gateway.rooms.identity.services.users.create("test", order, PASSWORD)
    opened = Page(world)
    await opened.sign_in(WHO)
    await opened.enrol(WHO)
    return opened


async def test_the_document_is_openapi_3_1_of_every_row():
    validate(DOCUMENT, cls=OpenAPIV31SpecValidator)
    rows = {f"{row.method} {API.prefix}{row.path}" for gate in API.gates for row in gate.rows}

    assert OPERATIONS.keys() == rows


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("label", OPERATIONS)
async def test_nothing_generated_from_the_document_surprises(
    visit: Visit, label: str, mode: GenerationMode
):
    """Never a 500, always what is described; and the session outlives it all."""
    said = await asyncio.to_thread(explore, visit, label, mode)

    assert said.total() >= 1
    assert not said.keys() & {(401, "SESSION_REQUIRED"), (403, "CSRF_FAILED")}


def explore(visit: Visit, label: str, mode: GenerationMode) -> Counter[tuple[int, str]]:
    """Send what schemathesis thinks of; every second request names what exists."""
    address = f"http://127.0.0.1:{visit.page.world.port}"
    verdicts: Counter[tuple[int, str]] = Counter()

    with requests.Session() as session:

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
        def send(case: Case) -> None:
            if verdicts.total() % 2:
                name_what_exists(case, visit.known, verdicts.total() // 2)
            # it would think of a session of its own
            case.cookies = {}
            said = case.call(base_url=address, headers=sent_by(visit.page), session=session)
            verdicts[said.status_code, code_of(said)] += 1
            assert said.status_code < 500 or said.status_code in BANK_S, said.content
            assert len(said.headers["x-trace-id"]) == 1
            assert "set-cookie" not in said.headers
            # A generated step may make it another path.
            if not (said.status_code in {404, 405} and b"SVC.GTW" in said.content):
                case.validate_response(said, checks=CONFORMS)

        send()
    return verdicts


def name_what_exists(case: Case, known: Mapping[str, Sequence[str]], turn: int) -> None:
    """Put what exists into the path, in turn."""
    for name in case.path_parameters.keys() & known.keys():
        case.path_parameters[name] = known[name][turn % len(known[name])]


def sent_by(page: Page) -> dict[str, str]:
    """Return what a script of the page sends, for reads and writes alike."""
    return {
        "Cookie": f"{COOKIE}={page.cookie}",
        "Sec-Fetch-Site": "same-origin",
        "X-Requested-With": "panel",
        "X-CSRF-Token": page.csrf,
    }


def code_of(said: Any) -> str:
    """Return the code of a refusal."""
    return str(said.json()["code"]) if said.status_code >= 400 else ""
