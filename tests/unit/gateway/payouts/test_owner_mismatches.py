"""Payouts with a wrong number tell whose key it is not: so many, and then 429 for a while."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import msgspec
import pytest

from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    FailureCode,
    PayoutMethod,
)
from gateway.banks.port.providers import Rejected
from gateway.core.calls import Caller
from gateway.core.limits import CallRate
from gateway.payouts.model import PayoutRequest, PayoutState
from tests.world.payouts import (
    ANSWERED,
    BAD,
    IS_ACCEPTED,
    OK,
    SETTINGS,
    PayoutWorld,
    asking,
)
from tests.world.people import caller

MISMATCH = Rejected(evidence=ANSWERED, failure=FailureCode.OWNER_MISMATCH)
TOO_MANY = "429 SVC.GTW.005"
NUMBERS = count()
BANK_ACCOUNT = BankDestination(
    name="Maria",
    tax_number="52998224725",
    bank_number="001",
    branch="0001",
    account="12345",
    account_type=AccountType.CHECKING,
)
RATES = msgspec.structs.replace(SETTINGS.ratelimits, owner_mismatches=CallRate(rate=0.1, burst=2))


@pytest.fixture
def guessing(payout_world: PayoutWorld) -> PayoutWorld:
    """A node whose bank refuses each number; two such answers are free, then one in 10 s."""
    payout_world.build(msgspec.structs.replace(SETTINGS, ratelimits=RATES))
    payout_world.bank.says = [MISMATCH]
    return payout_world


def another() -> PayoutRequest:
    return asking(f"guess-{next(NUMBERS)}")


async def test_owner_mismatches_of_a_credential_are_limited(guessing: PayoutWorld):
    """The third answer is still returned, because only the bank knows; then nothing is sent."""
    answers = [await guessing.post(another()) for _ in range(5)]

    assert answers == [BAD, BAD, BAD, TOO_MANY, TOO_MANY]
    assert len(guessing.bank.orders) == 3
    assert guessing.witness.counted.count(("quota", "owner_mismatches.limited")) == 1
    guessing.clock.passes(10)
    assert [await guessing.post(another()) for _ in range(2)] == [BAD, BAD]
    assert await guessing.post(another()) == TOO_MANY


async def test_other_credentials_accounts_and_known_references_are_not_limited(
    guessing: PayoutWorld,
):
    known = another()
    for request in (known, another(), another()):
        await guessing.post(request)
    guessing.bank.says = [IS_ACCEPTED]
    to_account = replace(
        another(), method=PayoutMethod.BANK_ACCOUNT, destination=BANK_ACCOUNT, destination_sent={}
    )

    assert await guessing.post(another()) == TOO_MANY
    assert await guessing.post(known) == BAD
    assert await guessing.post(to_account) == OK
    second = caller()
    principal = msgspec.structs.replace(second.principal, client_id="cli_second")
    assert await guessing.post(another(), Caller(principal, second.account)) == OK


async def test_other_refusals_do_not_count_as_mismatches(guessing: PayoutWorld):
    guessing.bank.says = [Rejected(evidence=ANSWERED, failure=FailureCode.KEY_NOT_FOUND)]

    assert {await guessing.post(another()) for _ in range(5)} == {BAD}


async def test_a_mismatch_found_by_a_later_query_counts(guessing: PayoutWorld):
    """At a bank that first accepts and refuses when queried."""
    guessing.bank.says, guessing.bank.knows = [IS_ACCEPTED], MISMATCH
    for _ in range(3):
        request = another()
        assert await guessing.post(request) == OK
        guessing.clock.passes(1)
        row = await guessing.row(request.reference)
        looked = await guessing.follow_up.look(row, caller().account)
        assert looked.state in {PayoutState.REJECTED, PayoutState.FAILED}

    assert await guessing.post(another()) == TOO_MANY
