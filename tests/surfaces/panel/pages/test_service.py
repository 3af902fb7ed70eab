"""The pages of configuration, error codes and audit."""

from __future__ import annotations

import json

import pytest
import pytest_asyncio
from msgspec import structs
from sqlalchemy import text

from gateway.app.rooms import described_surfaces
from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Environment
from gateway.operations.kernel.audit_context import AuditContext
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def security(world: World) -> Person:
    person = Person(world)
    await person.sign_in("security@panel.example")
    return person


async def test_the_configuration_is_shown_with_version_and_migrations(security: Person):
    page = await security.open("/panel/config")

    assert page.status == 200
    assert "em dia" in page.text
    assert "failed_credentials.per_address" in page.text


async def test_error_codes_are_found_by_a_part_of_them(viewer: Person):
    every = await viewer.open("/panel/errors")
    some = await viewer.open("/panel/errors?q=PIX.018")
    none = await viewer.open("/panel/errors?q=nothing+like+that")

    assert "SVC.AUT.001" in every.text
    assert "SVC.PIX.018" in some.text
    assert "SVC.AUT.001" not in some.text
    assert "Nenhum código é assim" in none.text


async def test_the_reference_is_that_of_the_rows_which_are_served(viewer: Person):
    page = await viewer.open("/panel/reference")

    assert "/baas/v1/account/{account_id}/withdraw" in page.text
    assert "/panel/errors?q=SVC.PIX.018" in page.text
    assert len(page.text) < 60 * 1024


async def test_acts_are_filtered_proven_and_exported(security: Person):
    every = await security.open("/panel/audit")
    none = await security.open("/panel/audit?action=nothing")
    far = await security.open("/panel/audit?page=99999")
    wrong = await security.open("/panel/audit?page=x")
    proof = await security.open("/panel/audit/proof")
    export = await security.open("/panel/audit/export")

    assert "Pessoa incluída" in every.text
    assert "user.created" in every.text
    assert ">user:" not in every.text
    assert "pessoa: Security" in every.text
    assert "Nenhum registro encontrado" in none.text
    assert {far.status, wrong.status} == {200}
    assert "O registro está íntegro" in proof.text
    assert json.loads(export.text.splitlines()[0])["number"] == 1


async def test_an_accepted_break_is_named_in_the_proof_for_good(security: Person, world: World):
    store = world.gateway.kernel.store
    async with store.database.writing() as connection:
        await connection.execute(text("DROP TRIGGER audit_no_update"))
        await connection.execute(text("UPDATE audit SET trace_id = 'x' WHERE number = 2"))
    broken = await security.open("/panel/audit/proof")
    found = await store.audit.find_break()
    assert found is not None
    details = {"proposed_by": "user:ana", "proposed_at": "", "reason": "o disco queimou"}
    accepting = AuditContext("user:bia", world.gateway.kernel.now)
    await store.audit.accept(found, accepting.event("", "", details))

    proof = await security.open("/panel/audit/proof")

    assert "O registro não está íntegro" in broken.text
    assert "O registro está íntegro, exceto os números 2 a 2" in proof.text
    assert "proposta por user:ana, aprovada por user:bia" in proof.text
    assert "o disco queimou" in proof.text


@pytest.mark.parametrize(
    "path", ["/panel/config", "/panel/audit", "/panel/audit/proof", "/panel/audit/export"]
)
async def test_who_may_not_is_told_so(viewer: Person, path: str):
    assert (await viewer.open(path)).status == 403


async def test_calls_are_tried_in_the_sandbox(viewer: Person):
    """By somebody else's script, under our policy as it is; no credential stands in the page."""
    seen = await viewer.open("/panel/reference/try")

    assert seen.status == 200
    assert 'data-document="/openapi.json"' in seen.text
    assert "unsafe" not in seen.headers["Content-Security-Policy"]
    assert 'href="/panel/reference/try"' in (await viewer.open("/panel/reference")).text


async def test_in_production_there_is_nothing_to_try():
    surfaces = described_surfaces(structs.replace(Settings(), environment=Environment.PRODUCTION))
    names = {row.name for each in surfaces for gate in each.gates for row in gate.rows}

    assert "panel_pages.reference" in names
    assert "panel_pages.reference_try" not in names
