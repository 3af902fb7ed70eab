"""Passwords: forgotten, reset and changed."""

import pytest

from gateway.core import trace
from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.schemas import ReasonBody
from gateway.core.storage import StoreUnavailable
from gateway.identity import password_changes as module
from gateway.identity.model import InvitationBody, Purpose
from gateway.identity.password_changes import LONGEST, SHORTEST, NewPasswords
from gateway.identity.sessions import SignedIn
from gateway.identity.sign_in import SecondFactorRequired
from tests.world.acts import acts_of
from tests.world.identity import EMAIL, HOME, PASSWORD, refusal, refusal_of
from tests.world.people import CLI


@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("Tr0ub4dor&3", "password_short"),
        ("x1" * 64 + "y", "password_form"),
        ("uma frase\nbem comprida", "password_form"),
        ("\ud800" * 12, "password_form"),
        ("password1234", "password_common"),
        ("aaaaaaaaaaaa", "password_common"),
    ],
)
async def test_a_weak_password_is_refused_with_the_violated_rule(
    identity_world, password: str, reason: str
):
    with pytest.raises(ServiceError) as refused:
        NewPasswords(identity_world.context).refuse_weak(password)

    assert refusal(refused.value) == ("not_possible", reason)
    assert refused.value.detail
    assert password not in refused.value.detail


@pytest.mark.parametrize("password", ["lua azul 12x", "uma frase: " + "é" * (LONGEST - 11)])
async def test_passwords_of_twelve_to_128_characters_are_accepted(identity_world, password: str):
    assert SHORTEST <= len(password) <= LONGEST

    NewPasswords(identity_world.context).refuse_weak(password)


async def test_a_weak_password_does_not_use_up_the_link(identity_world, maria):
    await identity_world.request_reset(maria.email, HOME)
    link = await identity_world.link()
    with pytest.raises(ServiceError):
        await NewPasswords(identity_world.context).by_link(link, Purpose.RESET, "short", HOME)

    user = await NewPasswords(identity_world.context).by_link(
        link, Purpose.RESET, PASSWORD + "!", HOME
    )

    assert user.id == maria.id


async def test_a_link_is_refused_for_another_purpose(identity_world, maria):
    await identity_world.request_reset(maria.email, HOME)

    assert await refusal_of(
        NewPasswords(identity_world.context).by_link(
            await identity_world.link(), Purpose.INVITATION, PASSWORD, HOME
        )
    ) == ("not_possible", "link_over")


async def test_tries_of_links_are_limited(identity_world):
    """Each attempt costs a slow digest."""
    for _ in range(20):
        assert await refusal_of(
            NewPasswords(identity_world.context).by_link("made up", Purpose.RESET, PASSWORD, HOME)
        ) == ("not_possible", "link_over")

    assert await refusal_of(
        NewPasswords(identity_world.context).by_link("made up", Purpose.RESET, PASSWORD, HOME)
    ) == ("too_many_attempts", "link")


NOBODY = "nobody@example.com"


async def test_the_user_is_looked_up_after_the_answer(identity_world, maria, monkeypatch):
    """Sending a link costs three durable writes, whose duration would be noticeable."""
    looked_up = []
    find = identity_world.store.identity.users.find_by_email

    async def finding(email):
        looked_up.append(email)
        return await find(email)

    monkeypatch.setattr(identity_world.store.identity.users, "find_by_email", finding)
    for email in (EMAIL, NOBODY):
        await identity_world.services.passwords.forgot(email, HOME)
    before = list(looked_up)

    assert await identity_world.services.reset_requests.answer() == 1
    assert (before, looked_up) == ([], [EMAIL, NOBODY])


async def test_a_sent_link_is_audited_under_its_request_s_trace_id(identity_world, maria):
    trace.begin("the-wish")
    await identity_world.services.passwords.forgot(EMAIL, HOME)
    trace.begin("another")

    await identity_world.services.reset_requests.answer()

    entries = await acts_of(identity_world.store)
    told = next(each.event for each in entries if each.event.action == "password.forgotten")
    assert (told.trace_id, told.details["address"]) == ("the-wish", HOME.address)


async def test_a_reset_request_waits_while_the_store_is_unavailable(
    identity_world, maria, monkeypatch
):
    await identity_world.services.passwords.forgot(EMAIL, HOME)

    async def away(_email):
        raise StoreUnavailable

    with monkeypatch.context() as patched:
        patched.setattr(identity_world.store.identity.users, "find_by_email", away)
        try:
            await identity_world.services.reset_requests.answer()
        except StoreUnavailable:
            sent = len(await identity_world.mails())

    assert (
        sent,
        await identity_world.services.reset_requests.answer(),
        len(await identity_world.mails()),
    ) == (0, 1, 1)


async def test_waiting_requests_are_bounded(identity_world, maria, monkeypatch, caplog):
    monkeypatch.setattr(module, "_MOST_WAITING", 2)

    for _ in range(3):
        identity_world.services.reset_requests.add(EMAIL, HOME.address)

    assert await identity_world.services.reset_requests.answer() == 2
    assert "dropped" in caplog.text
    assert EMAIL not in caplog.text


NEW = "outra frase bem comprida"


def at(number: int) -> ClientInfo:
    return ClientInfo(address=f"203.0.113.{number}")


async def test_a_reset_link_sets_a_new_password_without_a_session(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.clock.passes(1)
    await identity_world.request_reset(" Maria@Example.com", HOME)

    await identity_world.services.passwords.reset(await identity_world.link(), NEW, HOME)

    assert await refusal_of(identity_world.who(came)) == ("token_invalid", "session_over")
    assert await identity_world.services.sessions.list(came.person) == []
    with pytest.raises(ServiceError):
        await identity_world.services.sign_in.login(EMAIL, PASSWORD, HOME)
    assert isinstance(await identity_world.services.sign_in.login(EMAIL, NEW, HOME), SignedIn)
    assert ("authn_password_change", maria.id) in identity_world.security_events


async def test_after_a_reset_the_second_factor_is_still_required(identity_world, maria):
    await identity_world.enrol()
    await identity_world.request_reset(EMAIL, HOME)
    await identity_world.services.passwords.reset(await identity_world.link(), NEW, HOME)

    assert isinstance(
        await identity_world.services.sign_in.login(EMAIL, NEW, HOME), SecondFactorRequired
    )


async def test_the_link_begins_with_the_configured_origin(identity_world, maria):
    await identity_world.request_reset(EMAIL, HOME)

    assert "https://pix.example/panel/reset?token=" in (await identity_world.mails())[0]


async def test_a_link_expires_after_thirty_minutes(identity_world, maria):
    await identity_world.request_reset(EMAIL, HOME)
    identity_world.clock.passes(1800)

    assert await refusal_of(
        identity_world.services.passwords.reset(await identity_world.link(), NEW, HOME)
    ) == ("not_possible", "link_over")


async def test_a_user_disabled_after_the_request_cannot_reset(identity_world, maria):
    await identity_world.request_reset(EMAIL, HOME)
    await identity_world.services.users.disable(CLI, maria.id, ReasonBody())

    assert await refusal_of(
        identity_world.services.passwords.reset(await identity_world.link(), NEW, HOME)
    ) == ("not_possible", "link_over")
    assert not (await identity_world.store.identity.users.find(maria.id)).active


@pytest.mark.parametrize("who", ["nobody@example.com", "gone@example.com", "invited@example.com"])
async def test_a_user_who_cannot_sign_in_gets_no_link_and_the_same_answer(
    identity_world, maria, who: str
):
    await identity_world.person("gone@example.com")
    await identity_world.services.users.disable(CLI, "gone@example.com", ReasonBody())
    order = InvitationBody(email="invited@example.com", name="I", roles=[Role.VIEWER])
    await identity_world.services.users.create(CLI, order)

    assert await identity_world.request_reset(who, HOME) is None

    assert await identity_world.mails(who) == []


async def test_at_most_three_links_are_valid_at_a_time(identity_world, maria):
    """However many are requested: the three newest work."""
    for number in range(5):
        assert await identity_world.request_reset(EMAIL, at(number)) is None
        identity_world.clock.passes(60)

    assert len(await identity_world.mails()) == 3
    identity_world.clock.passes(1800 - 5 * 60)
    await identity_world.request_reset(EMAIL, HOME)
    await identity_world.request_reset(EMAIL, HOME)
    assert len(await identity_world.mails()) == 4


async def test_a_used_link_makes_room_for_another(identity_world, maria):
    for number in range(4):
        await identity_world.request_reset(EMAIL, at(number))
    await identity_world.services.passwords.reset(await identity_world.link(), NEW, HOME)
    before = len(await identity_world.mails())

    await identity_world.request_reset(EMAIL, HOME)

    assert len(await identity_world.mails()) == before + 1


async def test_the_eleventh_reset_request_of_an_address_within_an_hour_is_refused(
    identity_world, maria
):
    for number in range(10):
        await identity_world.request_reset(f"p{number}@example.com", HOME)

    assert await refusal_of(identity_world.request_reset(EMAIL, HOME)) == (
        "too_many_attempts",
        "reset_ip",
    )


async def test_changing_the_password_ends_every_session(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.clock.passes(1)

    await identity_world.services.passwords.change(came.person, PASSWORD, NEW, "", HOME)

    with pytest.raises(ServiceError):
        await identity_world.who(came)
    assert isinstance(await identity_world.services.sign_in.login(EMAIL, NEW, HOME), SignedIn)
    assert "senha" in (await identity_world.mails())[0]


async def test_a_wrong_current_password_changes_nothing(identity_world, maria):
    came = await identity_world.sign_in()

    assert await refusal_of(
        identity_world.services.passwords.change(came.person, "guess", NEW, "", HOME)
    ) == ("password_wrong", "password")
    assert await identity_world.who(came)


async def test_wrong_current_passwords_are_throttled(identity_world, maria):
    """Ten in the user's own session, then like those from outside."""
    came = await identity_world.sign_in()
    for _ in range(15):
        with pytest.raises(ServiceError):
            await identity_world.services.passwords.change(came.person, "guess", NEW, "", HOME)

    assert await refusal_of(
        identity_world.services.passwords.change(came.person, PASSWORD, NEW, "", HOME)
    ) == ("too_many_attempts", "account_ip")
