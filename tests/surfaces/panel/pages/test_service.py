"""The pages of configuration, error codes and audit."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from gateway.core.audit_context import AuditContext
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_configuration_is_shown_with_version_and_migrations(keeper: Person):
    page = await keeper.open("/panel/config")

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
    assert "Nenhum código encontrado" in none.text


async def test_the_reference_lists_the_served_routes(viewer: Person):
    page = await viewer.open("/panel/reference")

    assert "/baas/v1/account/{account_id}/withdraw" in page.text
    assert "/panel/errors?q=SVC.PIX.018" in page.text
    assert len(page.text) < 60 * 1024


async def test_acts_are_filtered_verified_and_exported(keeper: Person):
    every = await keeper.open("/panel/audit")
    none = await keeper.open("/panel/audit?action=nothing")
    far = await keeper.open("/panel/audit?page=99999")
    wrong = await keeper.open("/panel/audit?page=x")
    proof = await keeper.open("/panel/audit/proof")
    export = await keeper.open("/panel/audit/export")

    assert "Pessoa incluída" in every.text
    assert "user.created" in every.text
    assert ">user:" not in every.text
    assert "pessoa: <bdi>Security</bdi>" in every.text
    assert "Nenhum registro encontrado" in none.text
    assert {far.status, wrong.status} == {200}
    assert "A auditoria está íntegra" in proof.text
    assert json.loads(export.text.splitlines()[0])["number"] == 1


async def test_an_accepted_break_is_named_in_the_proof_for_good(keeper: Person, world: World):
    store = world.gateway.kernel.store
    async with store.database.writing() as connection:
        await connection.execute(text("DROP TRIGGER audit_no_update"))
        await connection.execute(text("UPDATE audit SET trace_id = 'x' WHERE number = 2"))
    broken = await keeper.open("/panel/audit/proof")
    found = await store.audit.find_break()
    assert found is not None
    details = {"proposed_by": "user:ana", "proposed_at": "", "reason": "o disco queimou"}
    accepting = AuditContext("user:bia", world.gateway.kernel.now)
    await store.audit.accept(found, accepting.event("", "", details))

    proof = await keeper.open("/panel/audit/proof")

    assert "A auditoria não está íntegra" in broken.text
    assert "A auditoria está íntegra, exceto os registros nº 2 a 2" in proof.text
    assert "proposta por <bdi>user:ana</bdi>, aprovada por <bdi>user:bia</bdi>" in proof.text
    assert "o disco queimou" in proof.text
