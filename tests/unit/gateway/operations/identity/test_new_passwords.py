"""New passwords."""

import pytest

from gateway.domain.errors import ServiceError
from gateway.domain.identity import Purpose
from gateway.operations.identity.new_passwords import LONGEST, SHORTEST, NewPasswords
from tests.unit.door import HOME, PASSWORD, refusal


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
        NewPasswords(door.parts).refuse_weak(password)

    assert refusal(refused.value) == ("not_possible", reason)
    assert refused.value.detail
    assert password not in refused.value.detail


@pytest.mark.parametrize("password", ["lua azul 12x", "uma frase: " + "é" * (LONGEST - 11)])
async def test_twelve_to_128_characters_of_any_kind_are_taken(door, password: str):
    assert SHORTEST <= len(password) <= LONGEST

    NewPasswords(door.parts).refuse_weak(password)


async def test_a_weak_password_does_not_use_the_link_up(door, maria):
    await door.forgets(maria.email, HOME)
    link = await door.link()
    with pytest.raises(ServiceError):
        await NewPasswords(door.parts).by_link(link, Purpose.RESET, "short", HOME)

    user = await NewPasswords(door.parts).by_link(link, Purpose.RESET, PASSWORD + "!", HOME)

    assert user.id == maria.id


async def test_a_link_of_one_purpose_serves_no_other(door, maria):
    await door.forgets(maria.email, HOME)

    with pytest.raises(ServiceError) as refused:
        await NewPasswords(door.parts).by_link(
            await door.link(), Purpose.INVITATION, PASSWORD, HOME
        )

    assert refusal(refused.value) == ("not_possible", "link_over")


async def test_links_cannot_be_tried_for_ever(door):
    """Each try costs us a slow digest."""
    for _ in range(20):
        with pytest.raises(ServiceError) as refused:
            await NewPasswords(door.parts).by_link("made up", Purpose.RESET, PASSWORD, HOME)
        assert refusal(refused.value) == ("not_possible", "link_over")

    with pytest.raises(ServiceError) as refused:
        await NewPasswords(door.parts).by_link("made up", Purpose.RESET, PASSWORD, HOME)

    assert refusal(refused.value) == ("too_many_attempts", "link")
