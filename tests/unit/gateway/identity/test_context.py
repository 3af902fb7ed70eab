"""What identity works with: its settings, changes of users, their audit events."""

from dataclasses import replace
from datetime import timedelta

from gateway.core import trace
from gateway.identity.context import IdentitySettings, is_valid
from tests.world.identity import refusal_of


def unheard(user):
    """No act is reported."""


async def test_a_concurrent_change_is_not_overwritten(identity_world, maria):
    """Both changes are kept, whichever was first."""
    between = ["disable once"]

    async def disable() -> None:
        await identity_world.store.identity.users.replace(
            replace(maria, active=False, updated_at=maria.updated_at + timedelta(seconds=1)), None
        )

    find = identity_world.store.identity.users.find

    async def found(user_id):
        user = await find(user_id)
        if between:
            between.clear()
            await disable()
        return user

    identity_world.store.identity.users.find = found

    changed = await identity_world.context.change_user(
        maria.id, lambda user: replace(user, name="Ana"), unheard
    )

    assert changed is not None
    assert (changed.name, changed.active) == ("Ana", False)


async def test_a_disabled_user_is_no_active_user(identity_world, maria):
    context = identity_world.context
    assert await context.active_user(maria.id) == maria
    await identity_world.store.identity.users.replace(replace(maria, active=False), None)

    for user_id in (maria.id, "nobody"):
        refused = await refusal_of(context.active_user(user_id))
        assert refused == ("token_invalid", "person_disabled")


async def test_each_change_has_a_later_time_than_the_one_before(identity_world, maria):
    identity_world.clock.passes(-60)

    changed = await identity_world.context.change_user(maria.id, lambda user: user, unheard)

    assert changed is not None
    assert changed.updated_at > maria.updated_at


async def test_a_session_older_than_the_user_s_latest_change_is_invalid(identity_world, maria):
    came = await identity_world.sign_in()
    session, user = await identity_world.store.identity.sessions.find(came.tokens.session_id)

    assert is_valid(session, user)
    assert not is_valid(session, replace(user, active=False))
    assert not is_valid(
        session, replace(user, updated_at=session.created_at + timedelta(seconds=1))
    )


async def test_an_event_has_actor_subject_details_and_trace_id(identity_world, maria):
    event = identity_world.context.own_audit_event(maria, "password.changed", why="asked")

    assert (event.actor, event.subject) == (f"user:{maria.email}", f"user:{maria.id}")
    assert (event.action, event.details) == ("password.changed", {"why": "asked"})
    assert identity_world.context.audit_event("cli", "x", "y").trace_id == trace.current_trace_id()


def test_the_documented_rules_are_the_defaults():
    settings = IdentitySettings(origin="https://pix.example", issuer="pixgate")

    assert (settings.access, settings.refresh) == (timedelta(minutes=10), timedelta(hours=8))
    assert (settings.grace, settings.sessions) == (timedelta(seconds=10), 5)
    assert (settings.challenge, settings.tries) == (timedelta(minutes=5), 5)
    assert settings.reset == timedelta(minutes=30)
    throttles = settings.throttles
    assert (throttles.account_ip, throttles.address, throttles.account) == (5, 20, 50)
    assert (throttles.consecutive, throttles.factor, throttles.device) == (100, 10, 10)
    assert (throttles.resets, throttles.address_resets) == (3, 10)
