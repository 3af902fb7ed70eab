"""Who ordered a held payout must still be able to order it when the hold ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.core import errors
from gateway.core.account import Account
from gateway.core.company_scope import StopScope
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.credentials.model import Credential
from gateway.payouts.holds import Payers
from gateway.payouts.model import Payout
from gateway.stops.model import Stop
from tests.world.people import OTHER_COMPANY
from tests.world.stops import sample
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    COMPANY,
    NOW,
    SISTER,
    account,
    credential,
    payout,
)

USER = "1d0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a01"
BY_USER = replace(payout(), client_id=f"user:{USER}")


@dataclass(frozen=True)
class Person:
    """What is read of a user."""

    active: bool = True
    roles: frozenset[Role] = frozenset({Role.OPERATOR})
    companies: frozenset[str] = frozenset()


def payers(
    account: Account | None,
    credential: Credential | None = None,
    user: Person | None = None,
    stops: Sequence[Stop] = (),
) -> Payers:
    async def stops_since(at: datetime) -> Sequence[Stop]:
        return [each for each in stops if each.ends_at > at]

    def one(found: object) -> Any:
        async def find(_key: str) -> object:
            return found

        return SimpleNamespace(find=find)

    return Payers(
        accounts=one(account),
        credentials=one(credential),
        users=one(user),
        stops_since=stops_since,
        now=lambda: NOW,
    )


PAYING = credential(permissions="withdraw:write")
OPEN = account(ACCOUNT)


async def test_a_valid_credential_or_active_user_may_still_pay():
    by_credential = await payers(OPEN, PAYING).find(payout())
    by_user = await payers(OPEN, user=Person()).find(BY_USER)

    assert [by_credential.principal.client_id, by_user.principal.client_id] == [
        CLIENT,
        BY_USER.client_id,
    ]
    assert by_credential.account == OPEN


REFUSED: dict[str, Callable[[], tuple[Payers, Payout]]] = {
    "inactive": lambda: (payers(replace(OPEN, active=False), PAYING), payout()),
    "unverified": lambda: (payers(replace(OPEN, verified=False), PAYING), payout()),
    "revoked": lambda: (payers(OPEN, replace(PAYING, revoked_at=NOW)), payout()),
    "expired": lambda: (payers(OPEN, replace(PAYING, expires_at=NOW)), payout()),
    "permission": lambda: (payers(OPEN, credential(permissions="withdraw:read")), payout()),
    "scope": lambda: (payers(OPEN, replace(PAYING, account_id=SISTER)), payout()),
}
USERS = {
    "revoked": [None, Person(active=False)],
    "permission": [
        Person(roles=frozenset({Role.VIEWER})),
        Person(companies=frozenset({OTHER_COMPANY})),
    ],
}


@pytest.mark.parametrize("reason", REFUSED)
async def test_a_held_payout_of_a_changed_payer_is_refused_with_the_reason(reason: str):
    who, about = REFUSED[reason]()

    with pytest.raises(ServiceError) as refused:
        await who.find(about)

    assert refused.value.reason == reason


async def test_a_credential_that_is_valid_for_another_second_may_pay():
    lasting = replace(PAYING, expires_at=NOW + timedelta(seconds=1))

    assert (await payers(OPEN, lasting).find(payout())).principal == lasting.principal


async def test_a_held_payout_older_than_the_credential_s_secrets_is_refused():
    """A secret revoked at once after its theft leaves no payout of the thief."""
    (secret,) = PAYING.secrets
    new = replace(secret, created_at=payout().created_at + timedelta(seconds=1))
    gone = replace(secret, expires_at=NOW)
    overlapping = replace(secret, expires_at=NOW + timedelta(hours=1))

    with pytest.raises(ServiceError) as refused:
        await payers(OPEN, replace(PAYING, secrets=(new, gone))).find(payout())

    assert refused.value.reason == "revoked"
    assert await payers(OPEN, replace(PAYING, secrets=(new, overlapping))).find(payout())


async def test_a_held_payout_older_than_a_change_of_rules_or_keys_is_refused():
    """Whether its caller satisfied the new rule or signed it is unknown."""
    heard_at = payout().created_at - timedelta(seconds=5)
    changed = replace(PAYING, rules_changed_at=heard_at)
    earlier = replace(PAYING, rules_changed_at=heard_at - timedelta(microseconds=1))

    with pytest.raises(ServiceError) as refused:
        await payers(OPEN, changed).find(payout())

    assert refused.value.reason == "rules_changed"
    assert await payers(OPEN, earlier).find(payout())


@pytest.mark.parametrize("reason", USERS)
async def test_a_disabled_user_or_one_without_the_right_may_not_pay(reason: str):
    for user in USERS[reason]:
        with pytest.raises(ServiceError) as refused:
            await payers(OPEN, user=user).find(BY_USER)

        assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("scope", "subject"),
    [
        (StopScope.ACCOUNT, ACCOUNT),
        (StopScope.COMPANY, COMPANY),
        (StopScope.CREDENTIAL, CLIENT),
        (StopScope.EVERYTHING, ""),
    ],
)
async def test_a_payout_stopped_during_its_hold_is_not_paid_after_the_stop(
    scope: StopScope, subject: str
):
    """An ended or lifted stop must not release payouts that a thief ordered before it."""
    over = sample(scope=scope, subject=subject, ends_at=NOW - timedelta(seconds=4))

    with pytest.raises(ServiceError) as refused:
        await payers(OPEN, PAYING, stops=[over]).find(payout())

    said = refused.value
    assert (said.error, said.reason) == (errors.PAYOUTS_STOPPED, "stopped_meanwhile")


async def test_a_stop_of_another_subject_or_an_earlier_stop_does_not_apply():
    others = sample(scope=StopScope.ACCOUNT, subject=SISTER)
    earlier = sample(ends_at=NOW - timedelta(seconds=5))

    assert await payers(OPEN, PAYING, stops=[others, earlier]).find(payout())
