"""The end of a user's last second factor."""

from __future__ import annotations

import pytest

from gateway.core.approvals import Approval, ApprovalKind, ApprovalState
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.user import User
from gateway.identity.reauthentication import Proof
from gateway.identity.sessions import SignedIn
from tests.unit.gateway.identity.access_world import AccessWorld
from tests.world.authenticator import Authenticator
from tests.world.identity import HOME, PASSWORD, IdentityWorld, refusal_of
from tests.world.passkeys import register, sign_in, used

REFUSED = ("passkey_invalid", "passkey")


async def proof_of(
    identity_world: IdentityWorld, came: SignedIn, authenticator: Authenticator
) -> Proof:
    return Proof(passkey=await used(identity_world.services, came.person, authenticator))


async def writer(world: AccessWorld, *roles: Role) -> tuple[User, Authenticator, SignedIn]:
    """Make a user with a passkey alone, whose orders to remove it wait, signed in."""
    identity_world = world.identity_world
    identity_world.services.factor_removals.wait = world.approvals.wait
    world.approvals.executors[ApprovalKind.FACTOR_REMOVAL] = identity_world.services.factor_removals
    user = await identity_world.person("rita@example.com", *roles)
    authenticator = Authenticator()
    caller = (await identity_world.sign_in(user.email)).person
    await register(identity_world.services, caller, authenticator)
    identity_world.clock.passes(1)
    return user, authenticator, await sign_in(identity_world.services, authenticator)


async def removal(
    world: AccessWorld, came: SignedIn, authenticator: Authenticator
) -> Approval | None:
    """Remove the only passkey."""
    passkeys = world.identity_world.services.passkeys
    (listed,) = await passkeys.list(came.person)
    proof = await proof_of(world.identity_world, came, authenticator)
    return await passkeys.remove(came.person, listed.id, proof, HOME)


async def test_the_last_factor_of_a_user_who_may_write_waits_for_another(access_world: AccessWorld):
    """Until then everything is as it was."""
    user, authenticator, came = await writer(access_world, Role.OPERATOR)

    waiting = await removal(access_world, came, authenticator)

    assert isinstance(waiting, Approval)
    assert (waiting.kind, waiting.state) == (ApprovalKind.FACTOR_REMOVAL, ApprovalState.WAITING)
    assert (await access_world.found(user)).has_passkey
    assert "outra pessoa aprovar" in (await access_world.identity_world.mails(user.email))[0]
    assert (await refusal_of(removal(access_world, came, authenticator)))[1] == "waiting"
    access_world.identity_world.clock.passes(1)
    await access_world.agreed(waiting)
    assert not (await access_world.found(user)).has_factor
    assert await refusal_of(sign_in(access_world.identity_world.services, authenticator)) == REFUSED
    assert "nem aplicativo" in (await access_world.identity_world.mails(user.email))[0]


async def test_the_app_as_last_factor_waits_as_well(access_world: AccessWorld):
    identity_world = access_world.identity_world
    identity_world.services.factor_removals.wait = access_world.approvals.wait
    user = await identity_world.person("rita@example.com", Role.APPROVER)
    await identity_world.enrol(user.email)
    came = await identity_world.sign_in(user.email)
    identity_world.clock.passes(30)

    waiting = await identity_world.services.second_factors.remove(
        came.person, Proof(PASSWORD, identity_world.code(user.email)), HOME
    )

    assert isinstance(waiting, Approval)
    assert (await access_world.found(user)).has_app


async def test_a_viewer_removes_the_last_factor_alone(access_world: AccessWorld):
    """It lets nobody change anything; an administrator resets it alone, too."""
    user, authenticator, came = await writer(access_world, Role.VIEWER)
    access_world.identity_world.clock.passes(1)

    assert await removal(access_world, came, authenticator) is None

    assert not (await access_world.found(user)).has_factor


async def test_an_order_to_remove_the_last_factor_is_void_after_a_new_one(
    access_world: AccessWorld,
):
    user, authenticator, came = await writer(access_world, Role.OPERATOR)
    waiting = await removal(access_world, came, authenticator)
    assert isinstance(waiting, Approval)
    access_world.identity_world.clock.passes(1)
    proof = await proof_of(access_world.identity_world, came, authenticator)
    await register(access_world.identity_world.services, came.person, Authenticator(), proof)

    with pytest.raises(ServiceError):
        await access_world.approve(waiting.id)

    assert (await access_world.find(waiting.id)).state is ApprovalState.VOID
    assert (await access_world.found(user)).has_passkey


async def test_nobody_agrees_to_the_removal_of_the_own_last_factor(access_world: AccessWorld):
    _, authenticator, came = await writer(access_world, Role.APPROVER)
    waiting = await removal(access_world, came, authenticator)
    assert isinstance(waiting, Approval)

    own = access_world.approvals.approve(access_world.staff(came.person), waiting.id)

    assert (await refusal_of(own))[0] == "forbidden"
