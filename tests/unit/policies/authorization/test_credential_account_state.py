"""Only an active and verified account is banked on (contract 5.1)."""

import pytest

from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from policies.authorization.credential import AccountState
from tests.unit.refusals import refused
from tests.world.people import account, call


def test_an_active_and_verified_account_is_let_on():
    AccountState()(call(account=account()))


@pytest.mark.parametrize(
    ("active", "verified", "error"),
    [
        (False, True, errors.ACCOUNT_INACTIVE),
        (True, False, errors.ACCOUNT_UNVERIFIED),
        (False, False, errors.ACCOUNT_INACTIVE),
    ],
)
def test_inactive_comes_before_unverified(active: bool, verified: bool, error: ErrorCode):
    with refused(error) as refusal:
        AccountState()(call(account=account(active=active, verified=verified)))
    assert refusal.value.error.status == 400


def test_no_account_is_no_active_one():
    """A route whose chain forgot the scope must not be open."""
    with refused(errors.ACCOUNT_INACTIVE):
        AccountState()(call())


def test_both_refusals_are_declared():
    assert set(AccountState().refuses) == {errors.ACCOUNT_INACTIVE, errors.ACCOUNT_UNVERIFIED}
