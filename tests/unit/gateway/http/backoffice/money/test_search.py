"""The rows that find everything and count what waits."""

from __future__ import annotations

import pytest

from gateway.domain.backoffice.payout_search import OpenWork
from gateway.domain.identity.rights import Role
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.money.search import SearchBody, _counts, _Finding, _found
from gateway.operations.backoffice.payout_finder import Found
from tests.unit.gateway.http.backoffice.surface import STAFF, line
from tests.world.people import account, somebody


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("search", ("POST", "/search", "payout:read", 200)),
        ("counts", ("GET", "/counts", "review:read", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


def test_what_was_found_is_told_by_kind():
    shown = _found(Found(account=account()), STAFF)

    assert [each["id"] for each in shown["accounts"]] == [account().id]
    assert (shown["payouts"], shown["credentials"]) == ([], [])


def test_what_waits_is_told():
    found = OpenWork(unresolved=3, review=2, approvals=1, stops=0)

    assert _counts(found, STAFF) == {"unresolved": 3, "review": 2, "approvals": 1, "stops": 0}


class _Knows:
    """Finds an account and a credential, whatever is asked."""

    async def find(self, _scope: object, _text: str) -> Found:
        return Found(account=account(), credential="a credential")  # type: ignore[arg-type]


@pytest.mark.parametrize(("role", "sees"), [(Role.VIEWER, False), (Role.SECURITY, True)])
async def test_a_credential_is_shown_to_who_may_read_credentials(role: Role, sees: bool):
    who = BackOfficeCaller(somebody(role), STAFF.acting, STAFF.scope)

    found = await _Finding(_Knows()).find(who, SearchBody(text="cli_x"))  # type: ignore[arg-type]

    assert (found.credential is not None) is sees
    assert found.account is not None
