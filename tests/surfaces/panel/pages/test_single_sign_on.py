"""Signing in with the company: the way to its provider and back, and who may set it."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import msgspec
import pytest
import pytest_asyncio

from gateway.config.identity import Identity
from gateway.config.settings import Events
from gateway.core.approvals import ApprovalState
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from gateway.single_sign_on.model import IdentityProvider
from gateway.single_sign_on.service import IdentityProviders
from tests.surfaces.panel.pages.person import Person, Seen
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.identity_api import ORIGIN
from tests.world.gateway.world import World, opened, sandbox
from tests.world.issuer import ANA, DOMAIN, SECRET, Issuer, issuing, wanted_of
from tests.world.people import CLI

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASK = "/panel/login/company"
FOREIGN = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
GOES_ON = re.compile(r'http-equiv="refresh" content="0;url=([^"]+)"')
ATTEMPT = "__Host-pixgate-company"
SESSION = "__Host-pixgate"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    settings = msgspec.structs.replace(
        sandbox(tmp_path_factory.mktemp("pages")),
        identity=Identity(origin=ORIGIN),
        events=Events(allow_local=True),
    )
    async with opened(settings) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def issuer(world: World) -> AsyncIterator[Issuer]:
    async with issuing(world.gateway.kernel.now) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def provider(world: World, issuer: Issuer) -> IdentityProvider:
    """The provider of a company, set by the command line."""
    issuer.person = issuer.person | {"sub": "4711", "email": ANA, "groups": ["pix-operators"]}
    office = world.office
    made = await office.service(IdentityProviders).set(
        office.staff, company(world), wanted_of(issuer)
    )
    assert isinstance(made, IdentityProvider)
    return made


def company(world: World) -> str:
    return str(world.demo["companies"]["main"]["id"])


def page_of(world: World) -> str:
    return f"/panel/companies/{company(world)}/single-sign-on"


async def left(person: Person, hint: str = ANA, to: str = "/panel/payouts") -> Seen:
    await person.open(f"{ASK}?{urlencode({'next': to})}")
    return await person.send(ASK, {"company": hint, "next": to})


async def back(person: Person, issuer: Issuer, gone: Seen, world: World) -> tuple[Seen, Seen]:
    """Come back as a browser does: without what is SameSite=Strict, then from a page of ours."""
    answer = issuer.answer(html.unescape(GOES_ON.search(gone.text)[1]))
    path = f"{ASK}/{company(world)}/callback?{urlencode(answer)}"
    kept = person.cookies
    person.cookies = {ATTEMPT: kept[ATTEMPT]}
    came = await person.open(path, **FOREIGN)
    person.cookies = {**kept, **person.cookies}
    onward = html.unescape(GOES_ON.search(came.text)[1])
    return came, await person.open(onward, **{"Sec-Fetch-Site": "same-origin"})


async def test_the_way_to_the_provider_and_back_ends_in_a_session(
    world: World, issuer: Issuer, provider: IdentityProvider
):
    person = Person(world)

    door = await person.open("/panel/login")
    gone = await left(person)
    came, done = await back(person, issuer, gone, world)
    home = await person.open("/panel/payouts")

    assert "Entrar com a empresa" in door.text
    assert gone.status == 200
    assert "form-action 'self'" in gone.headers["Content-Security-Policy"]
    assert came.status == 200
    assert SESSION not in str(came.headers.get("Set-Cookie", ""))
    assert done.status == 303
    assert person.cookies[ATTEMPT] == ""
    assert home.status == 200
    assert "Ana Souza" in home.text
    user = await world.gateway.services.identity.context.stores.users.find_by_email(ANA)
    assert user is not None
    assert (user.roles, user.companies) == ({Role.OPERATOR}, {provider.company_id})


async def test_the_second_sign_in_is_from_a_browser_that_is_known(
    world: World, issuer: Issuer, provider: IdentityProvider
):
    """The cookie of the device is SameSite=Strict: the page that goes on brings it."""
    person = Person(world)
    await back(person, issuer, await left(person), world)
    before = len(await mails(world))
    del person.cookies[SESSION]

    _, done = await back(person, issuer, await left(person), world)

    assert done.status == 303
    assert len(await mails(world)) == before


async def mails(world: World) -> list[str]:
    context = world.gateway.services.identity.context
    found = await context.stores.mailbox.latest(500, EVERY_COMPANY)
    return [each.subject for each in found if each.to == ANA]


async def test_a_person_without_a_password_sets_up_an_app_just_after_the_sign_in(
    world: World, issuer: Issuer, provider: IdentityProvider
):
    issuer.person |= {"sub": "bia", "email": f"bia@{DOMAIN}", "name": "Bia"}
    person = Person(world)
    _, done = await back(person, issuer, await left(person), world)

    asked = await person.open(done.location)
    silent = await person.send("/panel/factor")
    anew = {"company": f"bia@{DOMAIN}", "next": "/panel/factor", "again": "yes"}
    _, done_again = await back(person, issuer, await person.send(ASK, anew), world)
    await person.open(done_again.location)
    scan = await person.send("/panel/factor")

    assert done.location.startswith("/panel/factor?")
    assert 'name="password"' not in asked.text
    assert 'name="again" value="yes"' in asked.text
    assert silent.status == 400
    assert "mais uma vez" in silent.text
    assert "data:image/svg+xml" in scan.text


@pytest.mark.parametrize("forged", ["state", "cookie", "replay"])
async def test_an_answer_of_another_browser_is_refused(
    world: World, issuer: Issuer, provider: IdentityProvider, forged: str
):
    person = Person(world)
    gone = await left(person)
    answer = issuer.answer(html.unescape(GOES_ON.search(gone.text)[1]))
    own = {"Sec-Fetch-Site": "same-origin"}
    if forged == "state":
        answer["state"] = "another"
    if forged == "cookie":
        del person.cookies[ATTEMPT]
    path = f"{ASK}/{company(world)}/callback?{urlencode(answer)}"
    if forged == "replay":
        kept = person.cookies[ATTEMPT]
        await person.open(path, **own)
        person = Person(world)
        person.cookies[ATTEMPT] = kept

    refused = await person.open(path, **own)

    assert refused.status == 403
    assert "comece de novo" in refused.text
    assert answer["code"] not in refused.text
    assert (await person.open("/panel")).status == 303


async def test_an_outage_is_said_plainly_and_break_glass_people_sign_in(
    world: World, issuer: Issuer, provider: IdentityProvider
):
    users, office = world.gateway.services.identity.users, world.office
    email = f"notfall@{DOMAIN}"
    order = InvitationBody(
        email=email, name="Notfall", roles=[Role.VIEWER], companies=[company(world)]
    )
    await users.create(CLI, order, PASSWORD)
    wanted = wanted_of(issuer, break_glass=(email,))
    await office.service(IdentityProviders).set(office.staff, company(world), wanted)
    person, gone = Person(world), await left(Person(world))
    issuer.is_down = True
    world.gateway.services.sign_on.issuers._kept.clear()

    down = await left(person)
    await person.sign_in(email)
    issuer.is_down = False
    issuers = world.gateway.services.sign_on.issuers
    issuers._kept.clear()

    assert gone.status == 200
    assert down.status == 503
    assert "não responde agora" in down.text
    assert (await person.open("/panel")).status == 200


async def test_local_sign_in_of_the_company_s_people_is_refused_in_words(
    world: World, provider: IdentityProvider
):
    email = f"lokal@{DOMAIN}"
    order = InvitationBody(
        email=email, name="Lokal", roles=[Role.VIEWER], companies=[provider.company_id]
    )
    await world.gateway.services.identity.users.create(CLI, order, PASSWORD)
    person = Person(world)
    await person.open("/panel/login")

    refused = await person.send("/panel/login", {"email": email, "password": PASSWORD})

    assert refused.status == 403
    assert "login próprio" in refused.text


async def test_a_company_that_is_not_known_is_said_so(world: World, provider: IdentityProvider):
    refused = await left(Person(world), "ana@elsewhere.example")

    assert refused.status == 400
    assert "Nenhuma empresa" in refused.text


async def test_two_people_set_the_provider_and_remove_it(
    admin: Person, approver: Person, world: World, issuer: Issuer, provider: IdentityProvider
):
    page = page_of(world)
    shown = await admin.open(page)
    fields = {
        "short_name": "loja2",
        "domains": f"{DOMAIN} outra.example.com",
        "issuer": issuer.origin,
        "client_id": "pixgate",
        "claim": "groups",
        "mapping": "pix=ops = operator\r\n\r\npix-viewers=viewer\r\n",
        "factor_amr": "otp hwk",
    }

    ordered = await admin.send(page, fields)
    order = await approver.open(ordered.location)
    own = await admin.send(f"{ordered.location}/approve")
    before = await found(world)
    await approver.send(f"{ordered.location}/approve")
    after = await found(world)
    await admin.open(page)
    removal = await admin.send(f"{page}/remove")
    await approver.open(removal.location)
    await approver.send(f"{removal.location}/approve")

    assert ORIGIN in shown.text
    assert SECRET not in shown.text
    assert (ordered.status, own.status) == (303, 403)
    assert "pix=ops = operator" in order.text
    assert "outra" in order.text
    assert before == provider
    assert after is not None
    assert (after.short_name, after.factor_amr) == ("loja2", ("otp", "hwk"))
    assert [each.value for each in after.mapping] == ["pix=ops", "pix-viewers"]
    assert await found(world) is None
    assert "não tem login próprio" in (await admin.open(page)).text


async def test_the_approver_sees_the_people_named_for_an_outage(
    admin: Person, approver: Person, world: World, provider: IdentityProvider
):
    order = InvitationBody(
        email=f"noite@{DOMAIN}", name="Noite", roles=[Role.VIEWER], companies=[company(world)]
    )
    on_duty = await world.gateway.services.identity.users.create(CLI, order, PASSWORD)
    page = page_of(world)
    await admin.open(page)
    mapping = "pix-viewers = viewer"
    fields = {"short_name": "loja", "domains": DOMAIN, "issuer": provider.issuer}
    fields |= {"client_id": "pixgate", "claim": "groups", "mapping": mapping}

    ordered = await admin.send(page, {**fields, "break_glass": on_duty.id})
    shown = await approver.open(ordered.location)
    await approver.send(f"{ordered.location}/approve")
    act = await admin.open("/panel/audit?action=single_sign_on.set")

    for seen in (shown, act):
        assert "Noite" in seen.text
        assert on_duty.id not in seen.text


async def test_the_approver_sees_that_only_the_secret_changes(
    admin: Person, approver: Person, world: World, provider: IdentityProvider
):
    page = page_of(world)
    await admin.open(page)
    mapping = "pix-operators = operator\r\npix-viewers = viewer"
    fields = {"short_name": "loja", "domains": DOMAIN, "issuer": provider.issuer}
    fields |= {"client_id": "pixgate", "claim": "groups", "mapping": mapping}

    ordered = await admin.send(page, {**fields, "client_secret": "um segredo novo"})
    replaced = await approver.open(ordered.location)
    await approver.send(f"{ordered.location}/reject", {"reason": "não agora"})
    kept = await approver.open((await admin.send(page, fields)).location)

    assert "será trocado" in replaced.text
    assert "um segredo novo" not in replaced.text
    assert "outro</" not in replaced.text
    assert "continua o mesmo" in kept.text


async def found(world: World) -> IdentityProvider | None:
    return await world.gateway.services.sign_on.records.find(company(world))


async def test_a_refused_form_keeps_what_was_typed_but_not_the_secret(admin: Person, world: World):
    page = page_of(world)
    await admin.open(page)

    refused = await admin.send(
        page,
        {
            "short_name": "loja",
            "domains": DOMAIN,
            "issuer": "https://10.0.0.1",
            "client_id": "pixgate",
            "client_secret": SECRET,
            "claim": "groups",
            "mapping": "a = operator",
        },
    )
    unreadable = await admin.send(page, {"mapping": "a = chef"})

    assert refused.status == 400
    assert "Emissor" in refused.text
    assert "https://10.0.0.1" in refused.text
    assert SECRET not in refused.text
    assert unreadable.status == 400


async def test_only_who_manages_users_sees_the_page(operator: Person, world: World):
    assert (await operator.open(page_of(world))).status == 403


async def test_an_order_is_void_once_the_provider_has_changed(
    admin: Person, approver: Person, world: World, issuer: Issuer, provider: IdentityProvider
):
    page = page_of(world)
    await admin.open(page)
    removal = await admin.send(f"{page}/remove")
    office = world.office
    wanted = wanted_of(issuer, short_name="loja3")
    await office.service(IdentityProviders).set(office.staff, company(world), wanted)

    await approver.open(removal.location)
    refused = await approver.send(f"{removal.location}/approve")
    order_id = removal.location.rpartition("/")[2]
    stored = await world.gateway.kernel.store.approvals.find(order_id, EVERY_COMPANY, "")

    assert refused.status == 400
    assert stored is not None
    assert stored.state is ApprovalState.VOID
