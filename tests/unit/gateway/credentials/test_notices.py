"""Mail about credentials: to whom, what it says, and what it never says."""

from __future__ import annotations

from dataclasses import replace

from gateway.app.build_identity import build_identity
from gateway.core.approvals import Approval
from gateway.core.caller_rules import ANYWHERE, CallerRule
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.core.storage import StoreUnavailable
from gateway.credentials.model import Issued, LimitsBody, PublicKeyBody
from gateway.credentials.notices import CredentialNotices
from gateway.credentials.public_keys import PublicKeys
from gateway.identity.mail import Mailer
from gateway.identity.model import Mail
from gateway.identity.services import IdentityServices
from tests.unit.gateway.credentials.two_people import TwoPeople
from tests.world.signing import Signer

OFFICE = CallerRule(networks=("192.0.2.0/24",))


def identity_of(people: TwoPeople) -> IdentityServices:
    return build_identity(people.office.kernel)


async def mails(people: TwoPeople) -> list[Mail]:
    """Read the mailbox, newest first."""
    mailbox = identity_of(people).context.stores.mailbox
    return list(await mailbox.latest(50, EVERY_COMPANY))


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


async def subjects(people: TwoPeople) -> list[str]:
    """Read what the mail to Maria was about, but for the new credential, in order of subject."""
    sent = [each for each in await mails(people) if each.to == "maria@example.com"]
    found = sorted(each.subject.removeprefix("[pixgate] ") for each in sent)
    return [each for each in found if each != "Nova credencial"]


async def test_a_notice_of_higher_limits_follows_the_approval_and_lower_ones_send_none(
    people: TwoPeople,
):
    made = await people.issue(limit_per_payout=Money(1000), limit_per_day=Money(9000))
    who, service = people.staff("maria"), people.credentials
    await service.set_limits(who, made.client_id, LimitsBody(Money(900), Money(9000)))
    higher = LimitsBody(Money(900), Money(9001))
    order = await service.set_limits(who, made.client_id, higher)
    assert await subjects(people) == []

    await people.approve(order)

    assert await subjects(people) == ["Uma credencial tem limites mais altos"]
    (mail,) = [each for each in await mails(people) if "limites" in each.subject]
    assert "Aprovado por: user:joao@example.com" in mail.text


async def test_rights_widened_by_a_command_are_mailed_too(people: TwoPeople):
    """Limits, rule of use, a new public key, the end of the last one: nobody approves these."""
    first, second = Signer(1), Signer(2)
    made = await people.issue(callers=OFFICE, limit_per_payout=Money(1000))
    who, client_id = people.office.staff, made.client_id
    service, keys = people.credentials, PublicKeys(people.credentials)

    await service.set_limits(who, client_id, LimitsBody(unlimited=True))
    await service.set_callers(who, client_id, ANYWHERE)
    for each in (first, second):
        await keys.add(who, client_id, PublicKeyBody(each.pem))
    for each in (first, second):
        await keys.remove(who, client_id, each.public.key_id)

    assert await subjects(people) == [
        "Nova chave pública de uma credencial",
        "Nova chave pública de uma credencial",
        "Uma credencial paga sem assinatura",
        "Uma credencial pode ser usada em mais lugares",
        "Uma credencial tem limites mais altos",
    ]


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
