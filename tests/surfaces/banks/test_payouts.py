"""Payouts at every bank that knows ours by our key: paid once, whatever the wire does."""

from __future__ import annotations

import pytest

from tests.surfaces.banks.every_bank import AtBank, EveryBank
from tests.surfaces.banks.paying import TO_ACCOUNT, ended, executed, failing, payout, said

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(params=["efi", "starkbank", "woovi"])
def bank(every_bank: EveryBank, request: pytest.FixtureRequest) -> AtBank:
    """One of those whose repetition is refused, and whose look-up takes our key."""
    return every_bank[request.param]


async def test_a_payout_to_a_bank_account_is_paid_once(bank: AtBank):
    """By key: ``test_matrix_cells``."""
    before, wanted = await executed(bank), payout(bank, **TO_ACCOUNT)

    first = await bank.partner("POST", "/withdraw", wanted)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(first), said(again)[0]) == ((200, "processing"), 200)
    assert (await ended(bank, wanted["reference"]))["status"] == "paid"
    assert await executed(bank) == [*before, 1050]


@pytest.mark.parametrize("fault", ["malformed", "reset_after"])
async def test_an_unknown_payout_is_found_by_our_key_when_repeated(bank: AtBank, fault: str):
    """The first answer is unknown, the repeat queries, and nothing is sent again."""
    before, wanted = await executed(bank), payout(bank)
    async with failing(bank, "payout", fault):
        unknown = await bank.partner("POST", "/withdraw", wanted)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(unknown), said(again)[0]) == ((502, "SVC.PIX.010"), 200)
    assert (await ended(bank, wanted["reference"]))["status"] == "paid"
    assert await executed(bank) == [*before, 1050]


async def test_a_payout_that_may_have_been_sent_is_never_sent_again(bank: AtBank):
    """The bank never had it, which nothing proves, so a person decides in the end."""
    before, wanted = await executed(bank), payout(bank)
    async with failing(bank, "payout", "reset_before"):
        unknown = await bank.partner("POST", "/withdraw", wanted)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(unknown), said(again)) == ((502, "SVC.PIX.010"), (200, "processing"))
    assert await executed(bank) == before
