"""Who is calling, by an access token."""

from __future__ import annotations

import pytest

from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.storage import StoreUnavailable
from gateway.core.user_access import CONFIRMING, LEAVING
from gateway.core.user_errors import STEP_UP_REQUIRED, TOKEN_INVALID, TOO_MANY_ATTEMPTS
from policies.authentication.bearer import BearerToken, RefusesBasic, bearer_token
from tests.unit.refusals import refused
from tests.world.people import call, headed, somebody


def finding(outcome: SignedInUser | Exception) -> BearerToken:
    """Answer every token alike."""

    async def authenticate(_token: str) -> SignedInUser:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return BearerToken(authenticate)


async def test_the_user_of_an_access_token_is_filled_in():
    maria = somebody()
    asking = call(headed(("Authorization", "Bearer abc")))

    await finding(maria)(asking)

    assert asking.person is maria


@pytest.mark.parametrize(
    ("has_factor", "error"), [(True, STEP_UP_REQUIRED), (False, TOKEN_INVALID)]
)
async def test_a_new_network_requires_a_second_factor_code_first(
    has_factor: bool, error: ErrorCode
):
    """Without a second factor the user signs in again; a code and signing out are allowed."""
    maria = somebody(networks=("198.51.100.0/24",), has_factor=has_factor)
    sent = headed(("Authorization", "Bearer abc"))
    asking = call(sent)

    with refused(error) as refusal:
        await finding(maria)(asking)

    assert (refusal.value.reason, asking.person) == ("network_new", None)
    for quota in (LEAVING, CONFIRMING):
        leaving = call(sent)
        leaving.quota = quota
        await finding(maria)(leaving)
        assert leaving.person is maria


@pytest.mark.parametrize(
    ("values", "error", "reason"),
    [
        ([], TOKEN_INVALID, "missing"),
        ([""], TOKEN_INVALID, "malformed"),
        (["Bearer"], TOKEN_INVALID, "malformed"),
        (["Bearer "], TOKEN_INVALID, "malformed"),
        (["Bearer a", "Bearer a"], TOKEN_INVALID, "malformed"),
        (["Bearer a", "Basic a"], TOKEN_INVALID, "malformed"),
        (["bearera"], TOKEN_INVALID, "wrong_scheme"),
        (["Digest a"], TOKEN_INVALID, "wrong_scheme"),
        (["Basic YTpi"], errors.USER_CREDENTIALS_INVALID, "wrong_scheme"),
        (["BASIC"], errors.USER_CREDENTIALS_INVALID, "wrong_scheme"),
        ([" Bearer a"], TOKEN_INVALID, "malformed"),
    ],
    ids=str,
)
def test_a_header_other_than_bearer_is_refused(values: list[str], error: ErrorCode, reason: str):
    """The scheme word decides before the syntax of the rest."""
    with refused(error) as refusal:
        bearer_token(values)

    assert refusal.value.reason == reason


@pytest.mark.parametrize("word", ["Bearer", "bearer", "BEARER"])
def test_the_bearer_scheme_is_read_in_any_letter_case(word: str):
    assert bearer_token([f"{word}  a.b.c"]) == "a.b.c"


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("expired", "expired"),
        ("session_over", "revoked"),
        ("person_changed", "revoked"),
        ("kid", "invalid"),
        ("InvalidSignatureError", "invalid"),
    ],
)
async def test_the_reason_for_an_invalid_token_is_one_of_a_fixed_set(why: str, told: str):
    """The words of the metric; the answer is one."""
    asking = call(headed(("Authorization", "Bearer abc")))

    with refused(TOKEN_INVALID) as refusal:
        await finding(ServiceError(TOKEN_INVALID, why))(asking)

    assert refusal.value.reason == told


async def test_a_bearer_token_is_not_accepted_while_the_store_is_unavailable():
    asking = call(headed(("Authorization", "Bearer abc")))

    with refused(errors.AUTH_UNAVAILABLE) as refusal:
        await finding(StoreUnavailable())(asking)

    assert refusal.value.headers == {"Retry-After": "2"}
    assert asking.person is None


async def test_other_refusals_are_passed_on():
    asking = call(headed(("Authorization", "Bearer abc")))

    with refused(TOO_MANY_ATTEMPTS):
        await finding(ServiceError(TOO_MANY_ATTEMPTS))(asking)


def test_a_partner_s_credential_is_refused_at_the_identity_endpoints():
    """Contract part 7: Basic at an identity endpoint. Other headers are ignored."""
    for value in ("Basic YTpi", "basic YTpi", "Basic"):
        with refused(errors.USER_CREDENTIALS_INVALID):
            RefusesBasic()(call(headed(("Authorization", value))))

    for values in ((), ("Bearer abc",), ("Bearer",), ("",), ("\u00e9",)):
        RefusesBasic()(call(headed(*(("Authorization", value) for value in values))))
