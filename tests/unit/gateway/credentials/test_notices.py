"""Mail about credentials: to whom, what it says, and what it never says."""

from __future__ import annotations

from dataclasses import replace

from gateway.app.build_identity import build_identity
from gateway.core.approvals import Approval
from gateway.core.caller_rules import ANYWHERE, CallerRule
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from gateway.core.storage import StoreUnavailable
from gateway.credentials.model import Issued
from gateway.credentials.notices import CredentialNotices
from gateway.identity.mail import Mailer
from gateway.identity.model import Mail
from gateway.identity.services import IdentityServices
from tests.unit.gateway.credentials.two_people import TwoPeople

OFFICE = CallerRule(networks=("192.0.2.0/24",))


def identity_of(people: TwoPeople) -> IdentityServices:
    return build_identity(people.office.kernel)


async def mails(people: TwoPeople) -> list[Mail]:
    """Read the outbox, newest first."""
    outbox = identity_of(people).context.stores.outbox
    return list(await outbox.latest(50, EVERY_COMPANY))


async def test_security_and_admins_are_notified_of_a_new_read_only_credential(
    people: TwoPeople,
):
    """Those of its company or of all companies; no other users, and none who is disabled."""
    told = {
        "maria@example.com",
        await people.add("admin", Role.ADMIN, companies=frozenset({people.company})),
    }
    other = (await people.office.company("Outra")).id
    await people.add("elsewhere", Role.SECURITY, companies=frozenset({other}))
    await people.add("gone", Role.SECURITY, active=False)
    await people.add("operator", Role.OPERATOR, Role.APPROVER, Role.VIEWER)

    made = await people.office.issue(people.company, permissions=["balance:read"])

    sent = await mails(people)
    assert {each.to for each in sent} == told
    for each in sent:
        assert each.subject == "[pixgate] Nova credencial"
        assert made.credential.client_id in each.text
        assert "balance:read" in each.text
        assert made.client_secret not in each.text
        assert "ERP" not in each.text


async def test_a_notice_of_a_wider_rule_names_orderer_approver_and_networks(people: TwoPeople):
    made = await people.issue(callers=OFFICE)
    before = len(await mails(people))
    order = await people.credentials.set_callers(
        people.staff("maria"), made.client_id, CallerRule(networks=("198.51.100.0/24",))
    )
    assert isinstance(order, Approval)
    assert len(await mails(people)) == before

    await people.approve(order)

    subject = "[pixgate] Uma credencial pode ser usada em mais lugares"
    (mail,) = [each for each in await mails(people) if each.subject == subject]
    assert "Onde pode ser usada: 198.51.100.0/24" in mail.text
    assert "Pedido por: user:maria@example.com" in mail.text
    assert "Aprovado por: user:joao@example.com" in mail.text


async def test_a_stricter_rule_sends_no_mail(people: TwoPeople):
    made = await people.issue(callers=ANYWHERE)
    before = len(await mails(people))

    await people.credentials.set_callers(people.staff("maria"), made.client_id, OFFICE)

    assert len(await mails(people)) == before


async def test_a_new_secret_is_returned_when_the_notice_fails(people: TwoPeople):
    """The secret exists and can only be shown once, so it is returned."""

    class Silent:
        async def list(self) -> list[object]:
            raise StoreUnavailable

    context = identity_of(people).context
    stores = replace(context.stores, users=Silent())  # type: ignore[arg-type]
    mailer = CredentialNotices(Mailer(replace(context, stores=stores)))
    service = replace(people.office.credentials, tell=mailer.tell)

    made = await service.issue(people.office.staff, people.wanted(permissions=["balance:read"]))

    assert isinstance(made, Issued)
    assert made.client_secret
