"""What is watched over, within a scope; the rows' own tests ask the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import text

from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.operations.backoffice.oversight import Oversight
from tests.world.registers import Registers


def watching(office: Registers) -> Oversight:
    store = office.store
    return Oversight(
        record=store.office.record,
        callbacks=store.office.callbacks,
        requests=store.office.requests,
        outbox=store.identity.outbox,
    )


async def test_a_proof_is_of_the_whole_log_and_counts_what_is_visible(office: Registers):
    mine = await office.company("Padaria")
    await office.company("Outra")

    everything = await watching(office).prove_acts(EVERY_COMPANY, None)
    limited = await watching(office).prove_acts(CompanyScope(frozenset({mine.id})), None)

    assert (everything.events, limited.events) == (2, 1)
    assert everything.problem == limited.problem == ""


async def test_an_accepted_break_is_shown_to_all_and_its_people_to_those_of_all_companies(
    office: Registers,
):
    """The people may be of companies that a limited user does not see."""
    mine = await office.company("Padaria")
    async with office.store.database.writing() as connection:
        await connection.execute(text("DROP TRIGGER audit_no_update"))
        await connection.execute(text("UPDATE audit SET actor = 'x'"))
    found = await office.store.audit.find_break()
    assert found is not None
    details = {"proposed_by": "user:a", "reason": "fire"}
    event = office.acting.event("", "", details)
    await office.store.audit.accept(found, replace(event, actor="user:b"))

    everything = await watching(office).prove_acts(EVERY_COMPANY, None)
    limited = await watching(office).prove_acts(CompanyScope(frozenset({mine.id})), None)

    told = [
        [(each.found, each.number, each.proposed_by, each.approved_by, each.reason)]
        for proof in (everything, limited)
        for each in proof.accepted
    ]
    assert told == [[(found, 2, "user:a", "user:b", "fire")], [(found, 2, "", "", "")]]
    assert everything.problem == limited.problem == ""


async def test_without_an_outbox_there_is_no_mail(office: Registers):
    nothing: Any = None

    assert await replace(watching(office), outbox=nothing).latest_mail(EVERY_COMPANY, None) == []
