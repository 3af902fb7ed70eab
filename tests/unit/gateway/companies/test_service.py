"""Companies: added once, and seen by who may see them."""

import pytest

from gateway.app.build_identity import build_identity
from gateway.companies.model import CompanyRequest, ContactRequest
from gateway.companies.service import known_company
from gateway.core.access import Staff, StaffOf
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.windows import Paging
from tests.world.people import somebody
from tests.world.registers import NOON, TAX, Registers

CHOSEN = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
FIRST = Paging(page=1, limit=20)


async def test_a_company_is_added_once_and_audited(office: Registers):
    made = await office.company("Padaria", CHOSEN.upper())

    with pytest.raises(RuleViolation, match="exists already"):
        await office.company("Outra", CHOSEN)
    assert (made.id, made.name, made.created_at) == (CHOSEN, "Padaria", NOON)
    assert await office.companies.every(Staff(office.acting)) == [made]
    assert [
        (each.actor, each.action, each.subject, each.details) for each in await office.acts()
    ] == [("cli:test", "company.created", f"company:{CHOSEN}", {"name": "Padaria"})]


@pytest.mark.parametrize(("name", "company_id"), [("", ""), ("A", "no-uuid")])
async def test_an_unusable_name_or_id_is_refused(office: Registers, name: str, company_id: str):
    with pytest.raises(RuleViolation):
        await office.company(name, company_id)

    assert await office.acts() == []


async def test_a_summary_shows_accounts_and_their_common_tax_number(office: Registers):
    shared, mixed, empty = [await office.company(each) for each in ("A", "B", "C")]
    who = Staff(office.acting)
    for company, numbers in ((shared, [TAX, TAX]), (mixed, [TAX, "11.222.333/0001-81"])):
        for each in numbers:
            await office.account(company.id, tax_number=each)

    found = await office.companies.summaries(who, FIRST)

    told = {each.id: (each.accounts, each.tax_number) for each in found.items}
    assert told == {shared.id: (2, TAX), mixed.id: (2, ""), empty.id: (0, "")}
    limited = Staff(office.acting, CompanyScope(frozenset({empty.id})))
    assert [each.id for each in (await office.companies.summaries(limited, FIRST)).items] == [
        empty.id
    ]


async def test_a_limited_user_cannot_add_a_company(office: Registers):
    """Adding companies requires access to every company."""
    mine = await office.company("Padaria")
    factor = {"has_factor": True, "factor_at": NOON}
    may = StaffOf(office.clock, ())
    free, limited = (
        may(somebody(Role.ADMIN, companies=frozenset(seen), **factor)) for seen in ((), (mine.id,))
    )

    await office.companies.create(free, CompanyRequest(name="Nova"))
    with pytest.raises(ServiceError) as refused:
        await office.companies.create(limited, CompanyRequest(name="Nova"))

    assert refused.value.error.code == "FORBIDDEN"


async def test_an_unknown_company_is_named(office: Registers):
    with pytest.raises(RuleViolation, match=CHOSEN) as refused:
        await known_company(office.store.database, CHOSEN, "companies")

    assert (refused.value.reason, refused.value.field) == ("company_unknown", "companies")


async def test_a_changed_contact_is_mailed_to_the_former_contact(office: Registers):
    """Whoever would take an endpoint over cannot silence the company first."""
    made = await office.companies.create(
        Staff(office.acting), CompanyRequest(name="Padaria", contact="Ana@Padaria.example")
    )

    for contact in ("bia@padaria.example", "bia@padaria.example", ""):
        wanted = ContactRequest(contact=contact)
        changed = await office.companies.set_contact(Staff(office.acting), made.id, wanted)

    sent = await build_identity(office.kernel).context.stores.mailbox.latest(9, EVERY_COMPANY)
    assert sorted(each.to for each in sent) == ["ana@padaria.example", "bia@padaria.example"]
    assert changed == await office.companies.get(Staff(office.acting), made.id)
    acts = [each.details for each in await office.acts() if each.action == "company.contact_set"]
    assert acts == [
        {"contact": "bia@padaria.example", "before": "ana@padaria.example"},
        {"contact": "none", "before": "bia@padaria.example"},
    ]


@pytest.mark.parametrize("contact", ["ana", "ana@padaria", "a@b.example\nBcc: c@d.example"])
async def test_a_contact_that_is_no_address_is_refused(office: Registers, contact: str):
    made = await office.company("Padaria")

    with pytest.raises(RuleViolation) as refused:
        await office.companies.set_contact(
            Staff(office.acting), made.id, ContactRequest(contact=contact)
        )

    assert (refused.value.reason, refused.value.field) == ("email_form", "contact")
    assert await office.companies.get(Staff(office.acting), made.id) == made
