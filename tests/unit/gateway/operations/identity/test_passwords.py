"""Passwords: checked, forgotten, reset and changed."""

import uuid
from contextlib import suppress
from dataclasses import replace

import pytest

from gateway.domain.identity.browsers import KnownBrowser
from gateway.domain.identity.challenges import Purpose
from gateway.domain.identity.rights import Role
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.operations.identity import passwords as module
from gateway.operations.identity.passwords import (
    LONGEST,
    SHORTEST,
    NewPasswords,
    PasswordCheck,
    normalized_email,
)
from gateway.operations.identity.ports import ClientInfo
from gateway.operations.identity.sign_in import SecondFactorRequired
from gateway.operations.identity.tokens import SignedIn
from gateway.operations.identity.users import NewUser
from gateway.telemetry import trace
from tests.unit.door import EMAIL, HOME, PASSWORD, refusal


def test_what_is_typed_at_the_door_is_read_as_it_is_kept():
    assert normalized_email(" Maria@Example.COM ") == "maria@example.com"


async def test_whose_address_and_password_they_are(door, maria):
    proving = PasswordCheck(door.context)

    assert await proving.by_email(EMAIL, PASSWORD, HOME) == maria
    assert await proving.by_email(EMAIL, "wrong", HOME) is None
    assert await proving.by_email("nobody@example.com", PASSWORD, HOME) is None


async def test_the_same_work_is_done_for_nobody(door, maria, monkeypatch):
    """One look-up and one digest, whoever is asked for."""
    asked: list[str] = []
    matches, find = door.hasher.matches, door.store.identity.users.find_by_email

    async def noting(password, stored):
        asked.append("digest")
        return await matches(password, stored)

    async def finding(email):
        asked.append("find")
        return await find(email)

    monkeypatch.setattr(door.hasher, "matches", noting)
    monkeypatch.setattr(door.store.identity.users, "find_by_email", finding)
    for email in (EMAIL, "nobody@example.com"):
        await PasswordCheck(door.context).by_email(email, "wrong", HOME)

    assert asked == ["find", "digest"] * 2


async def test_a_browser_known_for_somebody_else_is_any_browser(door, maria):
    """What is tried there counts as a stranger's."""
    foreign = replace(HOME, known=KnownBrowser(user_id=str(uuid.uuid4()), id="ab"))
    for _ in range(5):
        await PasswordCheck(door.context).by_email(EMAIL, "wrong", foreign)

    with pytest.raises(ServiceError) as refused:
        await PasswordCheck(door.context).by_email(EMAIL, PASSWORD, foreign)

    assert refused.value.reason == "account_ip"


async def test_who_is_signed_in_is_not_shut_out_of_their_own_account_by_strangers(door, maria):
    """A new password takes the old one, whoever has guessed at it elsewhere."""
    caller = (await door.comes_in()).person
    for _ in range(6):
        with suppress(ServiceError):
            await PasswordCheck(door.context).by_email(EMAIL, "wrong", HOME)

    assert await PasswordCheck(door.context).by_caller(caller, PASSWORD, HOME) == maria
    assert await PasswordCheck(door.context).by_caller(caller, "wrong", HOME) is None


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
async def test_a_weak_password_is_refused_with_the_rule_it_breaks(door, password: str, reason: str):
    with pytest.raises(ServiceError) as refused:
        NewPasswords(door.context).refuse_weak(password)

    assert refusal(refused.value) == ("not_possible", reason)
    assert refused.value.detail
    assert password not in refused.value.detail


@pytest.mark.parametrize("password", ["lua azul 12x", "uma frase: " + "é" * (LONGEST - 11)])
async def test_twelve_to_128_characters_of_any_kind_are_taken(door, password: str):
    assert SHORTEST <= len(password) <= LONGEST

    NewPasswords(door.context).refuse_weak(password)


async def test_a_weak_password_does_not_use_the_link_up(door, maria):
    await door.forgets(maria.email, HOME)
    link = await door.link()
    with pytest.raises(ServiceError):
        await NewPasswords(door.context).by_link(link, Purpose.RESET, "short", HOME)

    user = await NewPasswords(door.context).by_link(link, Purpose.RESET, PASSWORD + "!", HOME)

    assert user.id == maria.id


async def test_a_link_of_one_purpose_serves_no_other(door, maria):
    await door.forgets(maria.email, HOME)

    with pytest.raises(ServiceError) as refused:
        await NewPasswords(door.context).by_link(
            await door.link(), Purpose.INVITATION, PASSWORD, HOME
        )

    assert refusal(refused.value) == ("not_possible", "link_over")


async def test_links_cannot_be_tried_for_ever(door):
    """Each try costs us a slow digest."""
    for _ in range(20):
        with pytest.raises(ServiceError) as refused:
            await NewPasswords(door.context).by_link("made up", Purpose.RESET, PASSWORD, HOME)
        assert refusal(refused.value) == ("not_possible", "link_over")

    with pytest.raises(ServiceError) as refused:
        await NewPasswords(door.context).by_link("made up", Purpose.RESET, PASSWORD, HOME)

    assert refusal(refused.value) == ("too_many_attempts", "link")


NOBODY = "nobody@example.com"


async def test_nobody_is_looked_up_while_the_caller_waits(door, maria, monkeypatch):
    """What is done for a person costs three durable writes, and would be felt."""
    looked_up = []
    find = door.store.identity.users.find_by_email

    async def finding(email):
        looked_up.append(email)
        return await find(email)

    monkeypatch.setattr(door.store.identity.users, "find_by_email", finding)
    for email in (EMAIL, NOBODY):
        await door.services.passwords.forgot(email, HOME)
    before = list(looked_up)

    assert await door.services.reset_requests.answer() == 1
    assert (before, looked_up) == ([], [EMAIL, NOBODY])


async def test_a_link_is_told_under_the_trace_of_its_wish(door, maria):
    trace.begin("the-wish")
    await door.services.passwords.forgot(EMAIL, HOME)
    trace.begin("another")

    await door.services.reset_requests.answer()

    entries = await door.store.office.record.after(0, 50)
    told = next(each.event for each in entries if each.event.action == "password.forgotten")
    assert (told.trace_id, told.details["address"]) == ("the-wish", HOME.address)


async def test_a_wish_waits_while_the_store_is_away(door, maria, monkeypatch):
    await door.services.passwords.forgot(EMAIL, HOME)

    async def away(_email):
        raise StoreUnavailable

    with monkeypatch.context() as patched:
        patched.setattr(door.store.identity.users, "find_by_email", away)
        try:
            await door.services.reset_requests.answer()
        except StoreUnavailable:
            sent = len(await door.mails())

    assert (sent, await door.services.reset_requests.answer(), len(await door.mails())) == (0, 1, 1)


async def test_what_waits_is_bounded(door, maria, monkeypatch, caplog):
    monkeypatch.setattr(module, "_MOST_WAITING", 2)

    for _ in range(3):
        door.services.reset_requests.add(EMAIL, HOME.address)

    assert await door.services.reset_requests.answer() == 2
    assert "dropped" in caplog.text
    assert EMAIL not in caplog.text


NEW = "outra frase bem comprida"


def at(number: int) -> ClientInfo:
    return ClientInfo(address=f"203.0.113.{number}")


async def test_a_link_sets_a_new_password_and_signs_nobody_in(door, maria):
    came = await door.comes_in()
    door.clock.passes(1)
    await door.forgets(" Maria@Example.com", HOME)

    await door.services.passwords.reset(await door.link(), NEW, HOME)

    with pytest.raises(ServiceError) as refused:
        await door.who(came)
    assert refusal(refused.value) == ("token_invalid", "session_over")
    assert await door.services.sessions.list(came.person) == []
    with pytest.raises(ServiceError):
        await door.services.sign_in.login(EMAIL, PASSWORD, HOME)
    assert isinstance(await door.services.sign_in.login(EMAIL, NEW, HOME), SignedIn)
    assert ("authn_password_change", maria.id) in door.noticed


async def test_after_a_reset_the_factor_is_asked_for_still(door, maria):
    await door.enrols()
    await door.forgets(EMAIL, HOME)
    await door.services.passwords.reset(await door.link(), NEW, HOME)

    assert isinstance(await door.services.sign_in.login(EMAIL, NEW, HOME), SecondFactorRequired)


async def test_the_link_begins_with_the_configured_origin(door, maria):
    await door.forgets(EMAIL, HOME)

    assert "https://pix.example/panel/reset?token=" in (await door.mails())[0]


async def test_a_link_works_once(door, maria):
    await door.forgets(EMAIL, HOME)
    link = await door.link()
    await door.services.passwords.reset(link, NEW, HOME)

    with pytest.raises(ServiceError) as refused:
        await door.services.passwords.reset(link, PASSWORD, HOME)

    assert refusal(refused.value) == ("not_possible", "link_over")


async def test_a_wish_voids_no_link_and_using_one_ends_all(door, maria):
    """Anybody may wish in a person's name: the link in their hand works all the same."""
    links = []
    for number in range(3):
        await door.forgets(EMAIL, at(number))
        links.append(await door.link())
        door.clock.passes(1)

    assert await door.services.passwords.reset(links[0], NEW, HOME) == maria.id
    for link in links:
        with pytest.raises(ServiceError) as refused:
            await door.services.passwords.reset(link, PASSWORD, HOME)
        assert refusal(refused.value) == ("not_possible", "link_over")


async def test_a_link_is_over_after_half_an_hour(door, maria):
    await door.forgets(EMAIL, HOME)
    door.clock.passes(1800)

    with pytest.raises(ServiceError) as refused:
        await door.services.passwords.reset(await door.link(), NEW, HOME)

    assert refusal(refused.value) == ("not_possible", "link_over")


async def test_who_was_disabled_meanwhile_resets_nothing(door, maria):
    await door.forgets(EMAIL, HOME)
    await door.services.users.disable("cli", maria.id)

    with pytest.raises(ServiceError) as refused:
        await door.services.passwords.reset(await door.link(), NEW, HOME)

    assert refusal(refused.value) == ("not_possible", "link_over")
    assert not (await door.store.identity.users.find(maria.id)).active


@pytest.mark.parametrize("who", ["nobody@example.com", "gone@example.com", "invited@example.com"])
async def test_who_cannot_sign_in_gets_no_link_and_nothing_shows_it(door, maria, who: str):
    await door.person("gone@example.com")
    await door.services.users.disable("cli", "gone@example.com")
    order = NewUser(email="invited@example.com", name="I", roles=frozenset({Role.VIEWER}))
    await door.services.users.create("cli", order)

    assert await door.forgets(who, HOME) is None

    assert await door.mails(who) == []


async def test_a_fourth_link_is_not_sent_until_one_ends_and_nothing_shows_it(door, maria):
    """However many wish: three work at a time, and the newest are not lost by it."""
    for number in range(5):
        assert await door.forgets(EMAIL, at(number)) is None
        door.clock.passes(60)

    assert len(await door.mails()) == 3
    door.clock.passes(1800 - 5 * 60)
    await door.forgets(EMAIL, HOME)
    await door.forgets(EMAIL, HOME)
    assert len(await door.mails()) == 4


async def test_a_link_that_was_used_makes_room_for_another(door, maria):
    for number in range(4):
        await door.forgets(EMAIL, at(number))
    await door.services.passwords.reset(await door.link(), NEW, HOME)
    before = len(await door.mails())

    await door.forgets(EMAIL, HOME)

    assert len(await door.mails()) == before + 1


async def test_an_eleventh_wish_of_one_address_within_the_hour_is_refused(door, maria):
    for number in range(10):
        await door.forgets(f"p{number}@example.com", HOME)

    with pytest.raises(ServiceError) as refused:
        await door.forgets(EMAIL, HOME)

    assert refusal(refused.value) == ("too_many_attempts", "reset_ip")


async def test_the_current_password_sets_a_new_one_and_every_session_ends(door, maria):
    came = await door.comes_in()
    door.clock.passes(1)

    await door.services.passwords.change(came.person, PASSWORD, NEW, HOME)

    with pytest.raises(ServiceError):
        await door.who(came)
    assert isinstance(await door.services.sign_in.login(EMAIL, NEW, HOME), SignedIn)
    assert "senha" in (await door.mails())[0]


async def test_a_stolen_session_alone_changes_no_password(door, maria):
    came = await door.comes_in()

    with pytest.raises(ServiceError) as refused:
        await door.services.passwords.change(came.person, "guess", NEW, HOME)

    assert refusal(refused.value) == ("password_wrong", "password")
    assert await door.who(came)


async def test_guesses_from_within_are_throttled_too(door, maria):
    """Ten in a session of the person's own, then as those from without."""
    came = await door.comes_in()
    for _ in range(15):
        with pytest.raises(ServiceError):
            await door.services.passwords.change(came.person, "guess", NEW, HOME)

    with pytest.raises(ServiceError) as refused:
        await door.services.passwords.change(came.person, PASSWORD, NEW, HOME)

    assert refusal(refused.value) == ("too_many_attempts", "account_ip")
