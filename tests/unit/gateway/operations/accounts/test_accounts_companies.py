"""Companies: made and listed."""

import pytest

from gateway.operations.accounts.accounts import existing
from gateway.operations.kernel.audit_context import RuleViolation
from tests.world.registers import NOON

CHOSEN = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"


async def test_a_company_is_made_and_found_again(office):
    made = await office.companies.create("Padaria")

    assert await office.companies.list() == [made]
    assert (made.name, made.created_at) == ("Padaria", NOON)


async def test_its_making_is_on_record(office):
    made = await office.companies.create("Padaria")

    (act,) = await office.acts()
    assert (act.actor, act.action, act.subject) == (
        "cli:test",
        "company.created",
        f"company:{made.id}",
    )


async def test_an_id_may_be_chosen(office):
    made = await office.companies.create("Padaria", CHOSEN.upper())

    assert made.id == CHOSEN


async def test_an_id_is_taken_once(office):
    await office.companies.create("Padaria", CHOSEN)

    with pytest.raises(RuleViolation, match="exists already"):
        await office.companies.create("Outra", CHOSEN)

    assert [each.name for each in await office.companies.list()] == ["Padaria"]
    assert len(await office.acts()) == 1


@pytest.mark.parametrize(("name", "company_id"), [("", ""), ("A", "no-uuid")])
async def test_what_does_not_fit_is_refused(office, name: str, company_id: str):
    with pytest.raises(RuleViolation):
        await office.companies.create(name, company_id)

    assert await office.acts() == []


async def test_a_company_that_is_not_there_is_named(office):
    with pytest.raises(RuleViolation, match=CHOSEN):
        await existing(office.store.companies, CHOSEN)
