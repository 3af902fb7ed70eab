"""The query of the list of accounts."""

import pytest

from gateway.accounts.model import AccountSearch
from gateway.accounts.searches import ACCOUNTS
from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.windows import Paging
from tests.unit.refusals import refusal_of
from tests.world.people import COMPANY


def asked(**query: list[str]) -> RawRequest:
    return RawRequest(path={}, query=query)


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ({}, AccountSearch(Paging(1, 25), None)),
        ({"company_id": [""]}, AccountSearch(Paging(1, 25), None)),
        ({"page": ["2"], "limit": ["500"]}, AccountSearch(Paging(2, 100), None)),
        ({"company_id": [COMPANY.upper()]}, AccountSearch(Paging(1, 25), COMPANY)),
    ],
)
def test_everything_may_be_left_out(query: dict[str, list[str]], read: AccountSearch):
    assert ACCOUNTS.read(asked(**query)) == read


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"page": ["0"]}, errors.NUMBER_INVALID),
        ({"limit": ["x"]}, errors.NUMBER_INVALID),
        ({"company_id": ["1"]}, errors.PAYLOAD_INVALID),
        ({"company_id": [COMPANY, COMPANY]}, errors.PAYLOAD_INVALID),
    ],
)
def test_what_is_given_has_its_form(query: dict[str, list[str]], error: ErrorCode):
    assert refusal_of(lambda: ACCOUNTS.read(asked(**query))) is error
    assert error in ACCOUNTS.refuses
