"""Invitations."""

import pytest

from gateway.domain.errors import ServiceError
from gateway.domain.rights import Role
from gateway.operations.administration import NotPossible
from gateway.operations.identity.answers import SignedIn
from gateway.operations.identity.users import UserOrder
from tests.unit.door import HOME, PASSWORD, refusal

ANA = "ana@example.com"
ORDER = UserOrder(email=ANA, name="Ana", roles=frozenset({Role.VIEWER}))


async def test_who_is_invited_chooses_the_password(door):
    await door.desk.invitations.invite("cli", ORDER)

    await door.desk.invitations.accept(await door.link(ANA), PASSWORD, HOME)

    assert isinstance(await door.desk.signing_in.login(ANA, PASSWORD, HOME), SignedIn)


async def test_before_that_nobody_signs_in(door):
    await door.desk.invitations.invite("cli", ORDER)

    for password in ("", PASSWORD):
        with pytest.raises(ServiceError):
            await door.desk.signing_in.login(ANA, password, HOME)


async def test_an_invitation_is_good_for_three_days_once(door):
    await door.desk.invitations.invite("cli", ORDER)
    door.clock.passes(3 * 86_400)

    with pytest.raises(ServiceError) as refused:
        await door.desk.invitations.accept(await door.link(ANA), PASSWORD, HOME)

    assert refusal(refused.value) == ("not_possible", "link_over")
    await door.desk.invitations.invite_again("cli", ANA)
    link = await door.link(ANA)
    await door.desk.invitations.accept(link, PASSWORD, HOME)
    with pytest.raises(ServiceError):
        await door.desk.invitations.accept(link, PASSWORD, HOME)


async def test_who_has_a_password_is_not_invited_again(door, maria):
    with pytest.raises(NotPossible, match="accepted"):
        await door.desk.invitations.invite_again("cli", maria.id)
