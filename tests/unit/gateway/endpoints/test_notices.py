"""Mail about endpoints: to whom, what it says, and what it never says."""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace

from gateway.app.build_identity import build_identity
from gateway.companies.model import ContactRequest
from gateway.core.approvals import Approval
from gateway.core.rights import Role
from gateway.core.storage import StoreUnavailable
from gateway.endpoints.model import EndpointChange, EndpointRotation
from gateway.endpoints.notices import EndpointNews, EndpointNotice, EndpointNotices
from gateway.events.model import EventType
from gateway.identity.mail import Mailer
from gateway.identity.model import Mail
from tests.unit.gateway.endpoints.conftest import CONTACT, URL, Desk

NEW = "https://elsewhere.example.com/pix"


async def to_contact(desk: Desk) -> list[Mail]:
    """Return what the company's people got, newest first."""
    return [each for each in await desk.mails() if each.to == CONTACT]


async def test_a_new_endpoint_is_mailed_to_the_contact_in_both_languages(desk: Desk):
    made = await desk.added(types=(EventType.PAYOUT_PAID,))

    (mail,) = await to_contact(desk)
    assert mail.subject == "[pixgate] Novo endpoint de eventos / New endpoint for events"
    for words in (URL, "Eventos: payout.paid", "Events: payout.paid", "Contas: todas da empresa"):
        assert words in mail.text
    assert made.secret not in mail.text
    assert "cli:test" not in mail.text


async def test_mail_to_security_names_who_ordered_and_approved_the_endpoint(desk: Desk):
    await desk.people.add("elsewhere", Role.SECURITY, companies=frozenset({desk.people.company}))
    before = await desk.active()
    order = await desk.endpoints.change(desk.maria, before.id, EndpointChange(url=NEW))
    assert isinstance(order, Approval)
    told = {each.id for each in await desk.mails()}

    await desk.people.approve(order)

    new = [each for each in await desk.mails() if each.id not in told]
    assert {each.to for each in new} == {CONTACT, "maria@example.com"}
    mail = next(each for each in new if each.to == "maria@example.com")
    assert f"Endpoint: {NEW}\nAntes: {URL}" in mail.text
    assert "user:maria@example.com / user:joao@example.com" in mail.text
    assert f"/panel/endpoints/{before.id}" in mail.text


async def test_an_actor_that_was_typed_is_in_no_mail(desk: Desk):
    await desk.people.add("elsewhere", Role.SECURITY, companies=frozenset({desk.people.company}))
    context = build_identity(desk.office.kernel).context
    notices = EndpointNotices(
        Mailer(dataclasses.replace(context, os_user="ana")), desk.office.store.database
    )
    found = (await desk.added()).endpoint
    told = {each.id for each in await desk.mails()}
    typed = "https://elsewhere.example.com"

    await notices.tell(EndpointNotice(news=EndpointNews.ADDED, endpoint=found, ordered_by=typed))

    new = [each.text for each in await desk.mails() if each.id not in told]
    assert any("por: cli:ana\n" in text for text in new)
    assert not any(typed in text for text in new)


async def test_a_new_secret_and_the_end_are_mailed_to_the_contact(desk: Desk):
    made = await desk.added()

    await desk.endpoints.rotate(desk.shell, made.endpoint.id, EndpointRotation())
    await desk.endpoints.remove(desk.shell, made.endpoint.id)

    subjects = {each.subject.partition(" / ")[2] for each in await to_contact(desk)}
    assert subjects == {
        "New endpoint for events",
        "New secret of an endpoint for events",
        "An endpoint for events was removed",
    }


async def test_mail_about_a_failure_names_its_beginning(desk: Desk):
    found = replace(await desk.active(), failing_since=desk.office.clock())

    await desk.people.endpoints.tell(EndpointNotice(news=EndpointNews.FAILING, endpoint=found))

    (mail,) = [each for each in await to_contact(desk) if "are failing" in each.subject]
    assert "Failing since: 2026-11-20T12:00:00Z" in mail.text
    assert "should have done this" not in mail.text


async def test_a_company_without_a_contact_is_passed_over(desk: Desk):
    await desk.office.companies.set_contact(desk.shell, desk.company, ContactRequest(contact=""))
    before = len(await to_contact(desk))

    await desk.added()

    assert len(await to_contact(desk)) == before


async def test_a_store_that_fails_loses_the_mail_alone(desk: Desk):
    found = await desk.active()

    class Failing:
        def __getattr__(self, _name: str) -> object:
            raise StoreUnavailable

    notices: EndpointNotices = EndpointNotices(Failing(), desk.office.store.database)  # type: ignore[arg-type]
    await notices.tell(EndpointNotice(news=EndpointNews.ADDED, endpoint=found))
