"""Passwords forgotten, reset and changed."""

import pytest

from gateway.domain.errors import ServiceError
from gateway.domain.rights import Role
from gateway.operations.identity.answers import FactorAsked, SignedIn, Visitor
from gateway.operations.identity.users import UserOrder
from tests.unit.door import EMAIL, HOME, PASSWORD, refusal

NEW = "outra frase bem comprida"


def at(number: int) -> Visitor:
    return Visitor(address=f"203.0.113.{number}")


async def test_a_link_sets_a_new_password_and_signs_nobody_in(door, maria):
    came = await door.comes_in()
    door.clock.passes(1)
    await door.forgets(" Maria@Example.com", HOME)

    await door.desk.passwords.reset(await door.link(), NEW, HOME)

    with pytest.raises(ServiceError) as refused:
        await door.who(came)
    assert refusal(refused.value) == ("token_invalid", "session_over")
    assert await door.desk.sessions.list(came.person) == []
    with pytest.raises(ServiceError):
        await door.desk.signing_in.login(EMAIL, PASSWORD, HOME)
    assert isinstance(await door.desk.signing_in.login(EMAIL, NEW, HOME), SignedIn)
    assert ("authn_password_change", maria.id) in door.noticed


async def test_after_a_reset_the_factor_is_asked_for_still(door, maria):
    await door.enrols()
    await door.forgets(EMAIL, HOME)
    await door.desk.passwords.reset(await door.link(), NEW, HOME)

    assert isinstance(await door.desk.signing_in.login(EMAIL, NEW, HOME), FactorAsked)


async def test_the_link_begins_with_the_configured_origin(door, maria):
    await door.forgets(EMAIL, HOME)

    assert "https://pix.example/panel/reset?token=" in (await door.mails())[0]


async def test_a_link_works_once(door, maria):
    await door.forgets(EMAIL, HOME)
    link = await door.link()
    await door.desk.passwords.reset(link, NEW, HOME)

    with pytest.raises(ServiceError) as refused:
        await door.desk.passwords.reset(link, PASSWORD, HOME)

    assert refusal(refused.value) == ("not_possible", "link_over")


async def test_a_wish_voids_no_link_and_using_one_ends_all(door, maria):
    """Anybody may wish in a person's name: the link in their hand works all the same."""
    links = []
    for number in range(3):
        await door.forgets(EMAIL, at(number))
        links.append(await door.link())
        door.clock.passes(1)

    assert await door.desk.passwords.reset(links[0], NEW, HOME) == maria.id
    for link in links:
        with pytest.raises(ServiceError) as refused:
            await door.desk.passwords.reset(link, PASSWORD, HOME)
        assert refusal(refused.value) == ("not_possible", "link_over")


async def test_a_link_is_over_after_half_an_hour(door, maria):
    await door.forgets(EMAIL, HOME)
    door.clock.passes(1800)

    with pytest.raises(ServiceError) as refused:
        await door.desk.passwords.reset(await door.link(), NEW, HOME)

    assert refusal(refused.value) == ("not_possible", "link_over")


async def test_who_was_disabled_meanwhile_resets_nothing(door, maria):
    await door.forgets(EMAIL, HOME)
    await door.desk.users.disable("cli", maria.id)

    with pytest.raises(ServiceError) as refused:
        await door.desk.passwords.reset(await door.link(), NEW, HOME)

    assert refusal(refused.value) == ("not_possible", "link_over")
    assert not (await door.store.identity.users.find(maria.id)).active


@pytest.mark.parametrize("who", ["nobody@example.com", "gone@example.com", "invited@example.com"])
async def test_who_cannot_sign_in_gets_no_link_and_nothing_shows_it(door, maria, who: str):
    await door.person("gone@example.com")
    await door.desk.users.disable("cli", "gone@example.com")
    order = UserOrder(email="invited@example.com", name="I", roles=frozenset({Role.VIEWER}))
    await door.desk.users.create("cli", order)

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
    await door.desk.passwords.reset(await door.link(), NEW, HOME)
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

    await door.desk.passwords.change(came.person, PASSWORD, NEW, HOME)

    with pytest.raises(ServiceError):
        await door.who(came)
    assert isinstance(await door.desk.signing_in.login(EMAIL, NEW, HOME), SignedIn)
    assert "senha" in (await door.mails())[0]


async def test_a_stolen_session_alone_changes_no_password(door, maria):
    came = await door.comes_in()

    with pytest.raises(ServiceError) as refused:
        await door.desk.passwords.change(came.person, "guess", NEW, HOME)

    assert refusal(refused.value) == ("password_wrong", "password")
    assert await door.who(came)


async def test_guesses_from_within_are_throttled_too(door, maria):
    """Ten in a session of the person's own, then as those from without."""
    came = await door.comes_in()
    for _ in range(15):
        with pytest.raises(ServiceError):
            await door.desk.passwords.change(came.person, "guess", NEW, HOME)

    with pytest.raises(ServiceError) as refused:
        await door.desk.passwords.change(came.person, PASSWORD, NEW, HOME)

    assert refusal(refused.value) == ("too_many_attempts", "account_ip")
