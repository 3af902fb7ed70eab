"""The page of one's own account: password, codes, app, sessions, the look."""

from __future__ import annotations

import re

import pytest
import pytest_asyncio

from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from tests.surfaces.panel.pages.payouts import ordered
from tests.surfaces.panel.pages.person import Person, signed_in
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.world import World
from tests.world.people import CLI

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEW = "outra frase bem comprida"
CODE = re.compile(r"\d\d-[0-9A-Z]{5}-[0-9A-Z]{5}")


@pytest_asyncio.fixture(loop_scope="module")
async def person(world: World) -> Person:
    seated = await signed_in(world, Role.OPERATOR)
    await seated.open("/panel/me")
    return seated


def change(**more: str) -> dict[str, str]:
    return {"current_password": PASSWORD, "new_password": NEW, "new_again": NEW, **more}


async def test_the_page_shows_active_sessions(person: Person):
    seen = await person.open("/panel/me")

    assert seen.status == 200
    assert "127.0.0.1" in seen.text
    assert "aqui" in seen.text


async def test_a_new_password_ends_every_session(person: Person):
    seen = await person.send("/panel/me/password", change(app_code=person.code()))

    assert (seen.status, seen.location) == (303, "/panel/login")
    assert (await person.open("/panel/me")).status == 303


@pytest.mark.parametrize(
    ("fields", "status"),
    [(change(new_again="noch eine"), 400), (change(current_password="falsch"), 401)],
)
async def test_a_refused_password_shows_no_password_again(
    person: Person, fields: dict[str, str], status: int
):
    seen = await person.send("/panel/me/password", fields)

    assert seen.status == status
    assert not [word for word in {*fields.values()} if word in seen.text]


def proof(person: Person) -> dict[str, str]:
    return {"password": PASSWORD, "app_code": person.code()}


async def test_recovery_codes_are_shown_once(person: Person):
    seen = await person.send("/panel/me/recovery-codes", proof(person))

    codes = CODE.findall(seen.text)
    assert len(codes) == 10
    assert seen.headers["Cache-Control"] == "no-store"
    assert not CODE.search((await person.open("/panel/me")).text)


async def test_changing_factor_or_password_requires_password_and_app_code(world: World):
    """The sign-in's code is too old, and a step-up code is not accepted instead."""
    person = await signed_in(world, Role.OPERATOR)
    await person.open("/panel/me")
    forms = {
        "/panel/me/recovery-codes": {"password": PASSWORD},
        "/panel/me/factor/remove": {"password": PASSWORD, "words": "remover"},
        "/panel/me/password": change(),
    }

    for path, fields in forms.items():
        wrong = await person.send(path, {**fields, "app_code": "000000"})
        assert (wrong.status, CODE.search(wrong.text)) == (401, None)
        assert re.search(r'name="app_code"[^>]*aria-invalid="true"', wrong.text)
        assert not [word for word in (PASSWORD, NEW, "000000") if word in wrong.text]
    absent = await person.send("/panel/me/recovery-codes", {"code": person.recovery.pop()})
    await person.open("/panel/me")
    removed = await person.send("/panel/me/factor/remove", {"words": "remover", **proof(person)})

    assert (absent.status, CODE.search(absent.text)) == (400, None)
    assert removed.status == 303
    assert removed.location.startswith("/panel/approvals/"), "another person has to agree"


async def test_a_viewer_removes_the_app_alone_and_is_signed_out(world: World):
    person = await signed_in(world, Role.VIEWER)
    await person.open("/panel/me")

    removed = await person.send("/panel/me/factor/remove", {"words": "remover", **proof(person)})

    assert (removed.status, removed.location) == (303, "/panel/login")


async def test_a_passkey_that_is_malformed_is_refused_without_an_echo(person: Person):
    """In every form that takes one."""
    forms = {
        "/panel/me/passkeys": {"name": "Telefone", "registration": "{", **proof(person)},
        "/panel/me/recovery-codes": {"own_passkey": "{"},
        "/panel/me/sessions/end": {"passkey": '{"id": "marca", "response": {}}'},
    }

    for path, fields in forms.items():
        seen = await person.send(path, fields)
        assert (path, seen.status) == (path, 401)
        assert "marca" not in seen.text
        await person.open("/panel/me")


async def test_passkeys_are_offered_with_their_own_script(person: Person):
    """No other page of somebody without one loads it."""
    own = await person.open("/panel/me")
    door = await Person(person.world).open("/panel/login")
    other = await person.open("/panel/payouts")

    assert "data-creates" in own.text
    assert 'data-passkey="/panel/auth/login/passkey/options"' in door.text
    assert all("/passkeys.js" in each.text for each in (own, door))
    assert "/passkeys.js" not in other.text


async def test_a_user_without_an_app_is_directed_to_enrolment(world: World):
    """Every act requires its code, so the sign-in and each act lead to the enrolment."""
    email, new = "new@panel.example", Person(world)
    order = InvitationBody(email=email, name="Nova", roles=[Role.OPERATOR], companies=[])
    await world.gateway.services.identity.users.create(CLI, order, PASSWORD)
    await new.open("/panel/login")

    signed = await new.send("/panel/login", {"email": email, "password": PASSWORD})
    asked = await new.open(signed.location)
    await new.open("/panel/payouts/new")
    refused = await new.send("/panel/payouts/new", ordered(world, step="send", owner_name="Maria"))

    assert signed.location == "/panel/factor?next=%2Fpanel"
    assert '<a class="btn" href="/panel">Agora não</a>' in asked.text
    assert "você ainda não tem nenhum dos dois" in refused.text
    assert 'name="code"' not in refused.text


async def test_ending_other_sessions_keeps_this_one(person: Person):
    seen = await person.send("/panel/me/sessions/end")

    assert (seen.status, seen.location) == (303, "/panel/me")
    assert (await person.open("/panel/me")).status == 200


async def test_wrong_codes_show_the_remaining_attempts(world: World):
    """After five wrong codes the password is required again."""
    person = await signed_in(world, Role.VIEWER)
    email = re.search(r"viewer-[0-9a-f]{8}@panel\.example", (await person.open("/panel/me")).text)
    assert email
    person.cookies = {}
    await person.open("/panel/login")
    seen = await person.send("/panel/login", {"email": email[0], "password": PASSWORD})
    await person.open(seen.location)

    texts = [
        (await person.send("/panel/login/code", {"code": "00-AAAAA-AAAAA"})).text for _ in range(6)
    ]

    assert ["Resta" in text for text in texts] == [True] * 4 + [False] * 2
    assert "Restam 4 tentativas." in texts[0]
    assert "Resta 1 tentativa." in texts[3]
    assert ["Muitos códigos errados." in text for text in texts] == [False] * 4 + [True] * 2
    assert not any("prazo" in text.lower() for text in texts)
