"""Only an active and verified account is banked on (contract 5.1)."""

import pytest

from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from policies.authorization.credential import AccountState
from tests.unit.refusals import refused
from tests.world.people import account, call


def test_an_active_and_verified_account_is_accepted():
    AccountState()(call(account=account()))


@pytest.mark.parametrize(
    ("active", "verified", "error"),
    [
        (False, True, errors.ACCOUNT_INACTIVE),
        (True, False, errors.ACCOUNT_UNVERIFIED),
        (False, False, errors.ACCOUNT_INACTIVE),
    ],
)
def test_an_inactive_account_is_reported_before_an_unverified_one(
    active: bool, verified: bool, error: ErrorCode
):
    with refused(error) as refusal:
        AccountState()(call(account=account(active=active, verified=verified)))
    assert refusal.value.error.status == 400


def test_a_call_without_an_account_is_refused_as_inactive():
    """A route whose chain forgot the scope must not be open."""
    with refused(errors.ACCOUNT_INACTIVE):
        AccountState()(call())


def test_the_account_state_declares_its_refusals():
    assert set(AccountState().refuses) == {errors.ACCOUNT_INACTIVE, errors.ACCOUNT_UNVERIFIED}
