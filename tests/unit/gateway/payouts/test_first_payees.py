"""What is ordered to a first payee counts together, within a batch of writes and beyond."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gateway.core.money import Money
from gateway.payouts.first_payees import FirstPayeeLimit, FirstPayments, first_payments
from gateway.payouts.model import FirstPayee, Intent
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW, SISTER, attempt, payout

FIRST = FirstPayee(
    company_id=COMPANY,
    digests=[b"d" * 16],
    since=NOW - timedelta(days=1),
    most=Money(1000),
    held_until=NOW + timedelta(minutes=30),
)


class NobodyPaid:
    """A database in which nothing was ordered."""

    async def execute(self, *_asked: object) -> NobodyPaid:
        return self

    def all(self) -> list[object]:
        return []


def to_payee(reference: str, centavos: int, account_id: str = ACCOUNT, **place: str) -> Intent:
    made = payout(reference, account_id=account_id, centavos=centavos)
    destination = replace(made.destination, **place)  # type: ignore[arg-type]
    return Intent(replace(made, destination=destination), attempt(), first=FIRST)


async def counting(*intents: Intent) -> FirstPayments:
    return await first_payments(NobodyPaid(), intents)  # type: ignore[arg-type]


async def test_the_amount_of_a_payee_counts_across_accounts_and_names():
    one, last = to_payee("one", 600), to_payee("last", 400, SISTER, name="Mária")
    more = to_payee("more", 1, name="")
    payments = await counting(one, last, more)

    assert [payments.take(each) for each in (one, last)] == [None, None]
    assert isinstance(payments.take(more), FirstPayeeLimit)


async def test_another_key_has_its_own_amount():
    one, other = to_payee("one", 1000), to_payee("other", 1000, key="other@example.com")
    payments = await counting(one, other)

    assert [payments.take(each) for each in (one, other)] == [None, None]


async def test_a_payout_above_the_amount_does_not_use_it_up():
    """A smaller payout is still possible."""
    large, small = to_payee("large", 1001), to_payee("small", 1000)
    payments = await counting(large, small)

    assert isinstance(payments.take(large), FirstPayeeLimit)
    assert payments.take(small) is None


async def test_a_known_payee_is_not_counted():
    known = replace(to_payee("one", 5000), first=None)
    payments = await first_payments(None, [known])  # type: ignore[arg-type]

    assert payments.take(known) is None
