"""A form that is shown again: what it keeps, what it asks for anew, what it marks."""

from __future__ import annotations

import re

import pytest

from gateway.core.rights import Role
from tests.surfaces.panel.pages.accounts import at
from tests.surfaces.panel.pages.payouts import ordered
from tests.surfaces.panel.pages.person import Person, Seen, signed_in
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "canary-of-a-secret"
STOP = "/panel/stops/new"
PAYOUT = "/panel/payouts/new"


def field(seen: Seen, name: str) -> str:
    return next(
        tag
        for tag in re.findall(r"<(?:input|select|textarea)\b[^>]*>", seen.text)
        if f'name="{name}"' in tag
    )


async def moving(world: World, person: Person) -> dict[str, str]:
    page = await person.open(at(world, "/bank"))
    name = re.search(r'data-words="([^"]+)"', page.text)[1]
    there = re.search(r'name="provider_account" value="([^"]*)"', page.text)[1]
    return {"words": name, "provider": "sandbox", "provider_account": there}


async def test_a_form_that_requires_a_code_asks_for_bank_credentials_again(world: World):
    """An empty field keeps the old ones, so a rotation would only seem done."""
    late = await signed_in(world, Role.ADMIN, fresh=False)
    fields = await moving(world, late)
    stored = world.gateway.kernel.store.accounts
    before = await stored.find(world.demo["accounts"]["main"]["id"])

    asked = await late.send(at(world, "/bank"), {**fields, "credentials": SECRET})
    marker = {"had_credentials": "yes", "code": late.code()}
    empty = await late.send(at(world, "/bank"), {**fields, **marker})
    again = await late.send(at(world, "/bank"), {**fields, "had_credentials": "yes"})

    assert asked.status == 403
    assert 'name="had_credentials" value="yes"' in asked.text
    assert "required" in field(asked, "credentials")
    assert (empty.status, again.status) == (400, 400)
    assert "<b>Credenciais: digite outra vez" in empty.text
    assert 'aria-invalid="true"' in field(empty, "credentials")
    assert SECRET not in asked.text + empty.text + again.text
    assert await stored.find(world.demo["accounts"]["main"]["id"]) == before


async def test_requiring_a_code_is_not_shown_as_an_error(world: World):
    """No alert, no error code, and no link to a payout."""
    late = await signed_in(world, Role.OPERATOR, fresh=False)
    await late.open(PAYOUT)
    fields = ordered(world, key_type="cpf", key="529.982.247-25", step="send")

    asked = await late.send(PAYOUT, {**fields, "owner_name": "Maria", "owner_tax_number": "***"})

    assert asked.status == 403
    assert "Confirme com um código" in asked.text
    assert 'role="alert"' not in asked.text
    assert "STEP_UP_REQUIRED" not in asked.text
    assert f"/payouts/{fields['reference']}" not in asked.text


async def test_a_form_with_an_old_token_is_offered_again_filled_in(world: World):
    """The code's answer sets a new token; the emergency stop is filled in already."""
    late = await signed_in(world, Role.OPERATOR, fresh=False)
    await late.open(STOP)
    subject = world.demo["companies"]["other"]["id"]
    form = {"subject": f"company:{subject}", "minutes": "60", "words": "bloquear"}
    old, form = late.token, {**form, "reason": "suspected fraud"}
    await late.open("/panel/me")
    await late.send("/panel/me/factor/remove", {"words": "no", "code": late.code()})

    asked = await late.send(STOP, {**form, "csrf_token": old})
    done = await late.send(STOP, form)

    assert (asked.status, done.status) == (403, 303)
    assert "envie de novo" in asked.text
    assert 'role="alert"' not in asked.text
    assert "suspected fraud" in asked.text


async def test_a_form_of_an_ended_session_is_restored_to_its_user_alone(world: World):
    late, other = [await signed_in(world, Role.OPERATOR) for _ in range(2)]
    email = re.search(r"operator-\w+@panel\.example", (await late.open("/panel/me")).text)[0]
    await late.open(STOP)
    reason = "typed before the session ended"
    late.cookies["__Host-pixgate"] = ""

    said = await late.send(STOP, {"scope": "provider", "reason": reason, "code": SECRET})
    other.cookies["pixgate-typed"] = late.cookies["pixgate-typed"]
    hidden = await other.open(STOP)
    told = await late.open(said.location)
    await late.sign_in(email)
    elsewhere, shown = await late.open(PAYOUT), await late.open(STOP)
    again = await late.open(STOP)

    assert said.location == "/panel/login?next=%2Fpanel%2Fstops%2Fnew&done=kept"
    assert "nada foi feito" in told.text
    assert (shown.status, reason in shown.text, "envie de novo" in shown.text) == (200, True, True)
    assert SECRET not in shown.text
    assert not [each for each in (hidden, elsewhere, again) if reason in each.text]


async def test_signing_out_deletes_a_saved_form(world: World):
    person = await signed_in(world, Role.OPERATOR)
    await person.open(STOP)
    person.cookies["pixgate-typed"] = "x"

    seen = await person.send("/panel/logout")
    told = await person.open(seen.location)

    assert "Você saiu." in told.text
    assert person.cookies["pixgate-typed"] == ""


async def test_a_wrong_code_is_marked_in_the_same_form(world: World):
    late = await signed_in(world, Role.ADMIN, fresh=False)
    await late.open("/panel/companies")

    wrong = await late.send("/panel/companies", {"name": "Nova Ltda", "code": "000000"})

    assert wrong.status == 401
    assert 'aria-invalid="true"' in field(wrong, "code")
    assert 'role="alert"' in wrong.text
    assert 'value="Nova Ltda"' in wrong.text


async def test_the_summary_shows_the_key_as_typed(world: World):
    operator = await signed_in(world, Role.OPERATOR)
    await operator.open(PAYOUT)

    seen = await operator.send(PAYOUT, ordered(world, key_type="cpf", key="529.982.247-25"))

    assert seen.status == 200
    assert '<span class="id">529.982.247-25</span>' in seen.text


@pytest.mark.parametrize(
    ("path", "fields", "name"),
    [
        (STOP, {"words": "bloquear", "minutes": "60", "reason": "x"}, "subject"),
        (STOP, {"subject": "provider:sandbox", "words": "nada"}, "words"),
        ("/panel/sandbox/top-up", {"value": "10.50"}, "value"),
        ("/panel/sandbox/clock", {"hours": "logo"}, "hours"),
        ("/panel/companies", {"name": ""}, "name"),
        (
            "/panel/people",
            {"email": "ana", "name": "Ana", "role": "viewer", "company": "every"},
            "email",
        ),
    ],
)
async def test_a_wrong_field_is_marked_and_described_by_its_message(
    world: World, path: str, fields: dict[str, str], name: str
):
    admin = await signed_in(world, Role.ADMIN, Role.OPERATOR)
    await admin.open(path.removesuffix("/top-up").removesuffix("/clock"))

    seen = await admin.send(path, fields)

    assert seen.status == 400
    marked = re.findall(r"<[^>]*aria-invalid=[^>]*>", seen.text)
    assert [re.search(r'name="([^"]+)"', tag)[1] for tag in marked] == [name]
    assert re.search(r'aria-describedby="problem\b', marked[0])
    assert seen.text.count('id="problem"') == 1


async def test_of_two_forms_with_one_address_the_sent_one_is_marked(world: World):
    admin = await signed_in(world, Role.ADMIN)
    await admin.open(at(world))

    seen = await admin.send(at(world), {"field": "verified", "to": "no", "words": "x"})

    assert re.findall(r'<input id="([^"]+)"[^>]*aria-invalid', seen.text) == ["words-verified"]


async def test_a_refused_amount_stays_in_its_own_form(world: World):
    operator = await signed_in(world, Role.OPERATOR)
    await operator.open("/panel/sandbox")

    paid = await operator.send("/panel/sandbox/pay", {"reference": "nenhuma", "value": "1.5"})
    topped = await operator.send("/panel/sandbox/top-up", {"value": "2.5"})

    assert re.findall(r'id="([\w-]+)" name="value" value="(\S+?)"', paid.text) == [
        ("pay-value", "1.5")
    ]
    assert re.findall(r'id="([\w-]+)" name="value" value="(\S+?)"', topped.text) == [
        ("top-up-value", "2.5")
    ]


@pytest.mark.parametrize(
    ("scope", "words"), [("provider", "Digite o nome do banco"), ("account", "Digite “bloquear”")]
)
async def test_the_label_of_the_typed_confirmation_follows_the_scope(
    world: World, scope: str, words: str
):
    operator = await signed_in(world, Role.OPERATOR)
    await operator.open(STOP)

    seen = await operator.send(STOP, {"subject": f"{scope}:x", "words": "quase"})

    assert f'<label for="words">{words}</label>' in seen.text
    assert 'value="quase"' in seen.text


async def test_a_failed_look_up_of_an_owner_is_reported(world: World):
    operator = await signed_in(world, Role.OPERATOR)
    await operator.open(PAYOUT)
    fault = {"operation": "*", "fault": "status", "status": 500, "count": 9}
    await world.control.post("faults", body=fault)
    try:
        seen = await operator.send(PAYOUT, ordered(world))
    finally:
        await world.control.delete("faults")

    assert seen.status == 502
    assert "Não foi possível consultar o titular da chave" in seen.text


async def test_a_stop_without_a_choice_is_refused(world: World):
    operator = await signed_in(world, Role.OPERATOR)
    await operator.open(STOP)
    fields = {"reason": "x", "minutes": "60", "words": "bloquear"}

    nothing = await operator.send(STOP, fields)
    name = await operator.send(STOP, {**fields, "subject": "Loja"})

    assert [each.status for each in (nothing, name)] == [400, 400]
    assert all("escolha na lista ou informe um id" in each.text for each in (nothing, name))


async def test_levels_of_a_permission_are_in_the_page_s_language(world: World):
    security = await signed_in(world, Role.SECURITY)

    seen = await security.open("/panel/credentials/new")

    labels = re.findall(r'name="may_balance"[^>]*aria-label="[^:]+: ([^"]+)"', seen.text)
    assert len(labels) == 4
    assert not {"read", "write", "manage"} & set(labels)


async def test_too_many_sign_ins_show_the_waiting_time(world: World):
    """In the page, as the API does in its header."""
    stranger = Person(world)
    fields = {"email": "guessed@panel.example", "password": "wrong"}
    await stranger.open("/panel/login")

    for _ in range(20):
        refused = await stranger.send("/panel/login", fields)
        if refused.status != 401:
            break

    assert refused.status == 429
    assert int(refused.headers["Retry-After"]) > 0
