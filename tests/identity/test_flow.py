"""From the password to the end, on two nodes, over both databases."""

import pytest

from gateway.core.errors import ServiceError
from gateway.core.schemas import ReasonBody
from gateway.identity.model import RolesBody
from gateway.identity.sign_in import SecondFactorRequired
from tests.identity.races import race
from tests.world.identity import EMAIL, HOME, PASSWORD
from tests.world.people import CLI


async def refused(work) -> str:
    with pytest.raises(ServiceError) as problem:
        await work
    return problem.value.error.code


async def test_a_session_from_login_to_logout_with_a_refresh_race(here, there, maria):
    there.secrets = here.secrets
    await here.enrol()
    challenge = await here.services.sign_in.login(EMAIL, PASSWORD, HOME)
    assert isinstance(challenge, SecondFactorRequired)
    came = await there.services.sign_in.submit_code(challenge.mfa_token, there.code(), HOME)
    assert (await here.who(came)).email == EMAIL

    pair = await race((here, there), came.tokens.refresh_token)
    caller = await there.services.sessions.authenticate(pair.access_token)
    await there.services.sessions.logout(caller)

    assert await refused(here.services.sessions.authenticate(pair.access_token)) == "TOKEN_INVALID"
    assert await refused(here.who(came)) == "TOKEN_INVALID"
    assert await refused(here.services.tokens.refresh(pair.refresh_token)) == "REFRESH_INVALID"


async def test_no_token_can_be_used_as_another_kind(here, maria):
    """Refresh token, challenge and link as access token, and the other way around."""
    await here.enrol()
    came = await here.sign_in()
    challenge = await here.services.sign_in.login(EMAIL, PASSWORD, HOME)
    assert isinstance(challenge, SecondFactorRequired)
    await here.request_reset()
    link, tokens, services = await here.link(), came.tokens, here.services

    for token in (tokens.refresh_token, challenge.mfa_token, link):
        assert await refused(services.sessions.authenticate(token)) == "TOKEN_INVALID"
    for token in (tokens.access_token, challenge.mfa_token, link):
        assert await refused(services.tokens.refresh(token)) == "REFRESH_INVALID"
    for token in (tokens.access_token, tokens.refresh_token, link):
        assert await refused(services.sign_in.submit_code(token, "123456", HOME)) == "MFA_EXPIRED"
    for token in (tokens.access_token, tokens.refresh_token, challenge.mfa_token):
        assert await refused(services.passwords.reset(token, PASSWORD, HOME)) == "VALIDATION_FAILED"


async def test_a_session_ended_on_one_node_ends_on_the_other(here, there, maria):
    """Each act that ends sessions takes effect on the other node with its next call."""
    for act in (
        here.services.sessions.logout,
        lambda _: here.services.users.end_sessions(CLI, maria.id),
        lambda _: here.services.users.set_roles(CLI, maria.id, RolesBody(list(maria.roles))),
        lambda caller: here.services.passwords.change(caller, PASSWORD, PASSWORD, "", HOME),
        lambda _: here.services.users.disable(CLI, maria.id, ReasonBody()),
    ):
        here.clock.passes(1)
        came = await there.sign_in()
        caller = await there.who(came)
        here.clock.passes(1)

        await act(caller)

        assert await refused(there.who(came)) == "TOKEN_INVALID"
        assert (
            await refused(there.services.tokens.refresh(came.tokens.refresh_token))
            == "REFRESH_INVALID"
        )
