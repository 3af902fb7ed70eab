"""
Payouts at Inter through a serving gateway: found by the bank's id alone, and never sent twice.

The simulator pays a second order of a key again, which is the worst that the bank could do.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.surfaces.banks.every_bank import AtBank, EveryBank
from tests.surfaces.banks.paying import (
    TO_ACCOUNT,
    ended,
    executed,
    failing,
    in_review,
    payout,
    said,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def bank(every_bank: EveryBank) -> AtBank:
    return every_bank["inter"]


async def test_a_payout_to_an_account_settles_and_is_paid_once(bank: AtBank):
    before, wanted = await executed(bank), payout(bank, **TO_ACCOUNT)

    first = await bank.partner("POST", "/withdraw", wanted)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(first), said(again)[0]) == ((200, "processing"), 200)
    assert (await ended(bank, wanted["reference"]))["status"] == "paid"
    assert await executed(bank) == [*before, 1050]


async def test_a_payout_that_the_bank_fails_later_has_failed(bank: AtBank):
    before, wanted = await executed(bank), payout(bank, value=777.02)

    assert said(await bank.partner("POST", "/withdraw", wanted)) == (200, "processing")

    assert (await ended(bank, wanted["reference"]))["status"] == "failed"
    assert await executed(bank) == before


async def test_a_refusal_proves_nothing_and_a_person_is_asked(bank: AtBank):
    """No source lists one of Inter's: even too little money may not be told as failed."""
    before, wanted = await executed(bank), payout(bank, value=777.03)

    refused = await bank.partner("POST", "/withdraw", wanted)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(refused), said(again)) == ((502, "SVC.PIX.010"), (200, "processing"))
    assert await in_review(bank, wanted["reference"], timedelta(hours=27))
    assert await executed(bank) == before


@pytest.mark.parametrize("fault", ["malformed", "reset_after", "reset_before"])
async def test_a_lost_answer_ends_with_a_person_and_never_in_a_second_order(
    bank: AtBank, fault: str
):
    before, wanted = await executed(bank), payout(bank)
    async with failing(bank, "payout", fault):
        unknown = await bank.partner("POST", "/withdraw", wanted)
    after = await executed(bank)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(unknown), said(again)) == ((502, "SVC.PIX.010"), (200, "processing"))
    assert not await in_review(bank, wanted["reference"], timedelta(hours=25))
    assert await in_review(bank, wanted["reference"], timedelta(hours=27))
    paid = [] if fault == "reset_before" else [1050]
    assert await executed(bank) == after == [*before, *paid]
