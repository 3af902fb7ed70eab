"""Charges as QR codes and as transactions (contract 2.4, 2.5)."""

from datetime import timedelta

import pytest

from gateway.banks.port.charges import Charge, ChargePayment, ChargeStatus
from gateway.banks.port.providers import ProviderAccount
from gateway.charges.service import ChargeReads
from gateway.core import errors
from tests.unit.charge_book import ChargeBook, kept
from tests.unit.refusals import refused
from tests.world.charges import charge
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import account
from tests.world.standing import NOON, Clock

REFERENCE = "charge/1"


def knowing(found: object, clock: Clock, *, is_there: bool = True) -> ChargeReads:
    bank = OneBank(ScriptedBank(reads={REFERENCE: found}), is_there=is_there)
    return ChargeReads(bank, kept(now=clock.now))


async def test_a_charge_is_shown_until_it_expires(clock: Clock):
    found = charge(expires_at=NOON + timedelta(seconds=1))
    charges = knowing(found, clock)
    assert await charges.read(account(), REFERENCE) == found

    clock.passes(1)

    with refused(errors.CHARGE_NOT_FOUND) as refusal:
        await charges.read(account(), REFERENCE)
    assert refusal.value.reason == "expired"


@pytest.mark.parametrize("status", [ChargeStatus.PAID, ChargeStatus.CANCELED])
async def test_a_paid_or_cancelled_charge_is_shown_after_its_expiry(
    clock: Clock, status: ChargeStatus
):
    found = charge(status=status, expires_at=NOON - timedelta(days=1))

    assert await knowing(found, clock).read(account(), REFERENCE) == found


async def test_an_expired_charge_is_a_pending_transaction(clock: Clock):
    """Contract 2.5: never 404 for an unpaid charge."""
    pending = ChargePayment(
        reference=REFERENCE, value=None, created_at=None, paid_at=None, e2e_id="", payer=None
    )

    assert await knowing(pending, clock).read_payment(account(), REFERENCE) == pending


class SlowBank(ScriptedBank):
    """Answers five seconds after it was asked."""

    clock: Clock

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        self.clock.passes(5)
        return await super().get_charge(account, reference)

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        self.clock.passes(5)
        return await super().get_charge_payment(account, reference)


async def test_an_answer_is_recorded_with_the_time_of_its_request(clock: Clock):
    """A slow answer about an unpaid charge does not undo a payment received meanwhile."""
    book = ChargeBook()
    unpaid = ChargePayment(
        reference=REFERENCE, value=None, created_at=None, paid_at=None, e2e_id="", payer=None
    )
    for told in (charge(expires_at=None), unpaid):
        bank = SlowBank(reads={REFERENCE: told})
        bank.clock = clock
        charges = ChargeReads(OneBank(bank), kept(book, clock.now))
        read = charges.read if isinstance(told, Charge) else charges.read_payment
        await read(account(), REFERENCE)
        await charges.kept.notes.run_once()

    assert [each.at - NOON for each in book.noted] == [timedelta(0), timedelta(seconds=5)]
