"""What is ordered to a first payee counts together, within a batch of writes and beyond."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from gateway.banks.port.payout_orders import AccountType, BankDestination, PayoutMethod
from gateway.core.money import Money
from gateway.payouts.first_payees import FirstPayeeLimit, FirstPayments, first_payments
from gateway.payouts.model import FirstPayee, Intent, Payout, normal_destination
from gateway.store.tables import columns
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


class Ordered(NobodyPaid):
    """A database in which one payout was ordered."""

    def __init__(self, before: Payout) -> None:
        self.before = before

    def all(self) -> list[object]:
        to = columns.written(normal_destination(self.before.destination))
        centavos = self.before.value.centavos
        return [SimpleNamespace(method=self.before.method.value, destination=to, centavos=centavos)]


def to_payee(reference: str, centavos: int, account_id: str = ACCOUNT, **place: str) -> Intent:
    made = payout(reference, account_id=account_id, centavos=centavos)
    destination = replace(made.destination, **place)  # type: ignore[arg-type]
    return Intent(replace(made, destination=destination), attempt(), first=FIRST)


def to_account(reference: str, centavos: int, **place: Any) -> Intent:
    """Order a payout to a bank account of the same person."""
    of_key = to_payee(reference, centavos).payout
    fields = {"name": "Maria", "account_type": AccountType.CHECKING, **place}
    to = BankDestination(tax_number=of_key.destination.tax_number, **fields)
    made = replace(of_key, method=PayoutMethod.BANK_ACCOUNT, destination=to)
    return Intent(made, attempt(), first=FIRST)


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


SPELLINGS = (
    {"bank_number": "341", "branch": "1", "account": "123456-7"},
    {"bank_number": "341", "branch": "0001", "account": "000123456-7"},
    {"bank_number": "60701190", "branch": "01", "account": "1234567"},
)


async def test_a_bank_account_gets_the_amount_once_however_it_is_spelled():
    """Kind and bank, too, have several names; another account counts by itself."""
    intents = [
        to_account("one", 400, **spelled, account_type=kind)
        for spelled in SPELLINGS
        for kind in (AccountType.CHECKING, AccountType.SAVINGS)
    ]
    other = to_account("other", 1000, **{**SPELLINGS[0], "account": "123457-7"})
    payments = await counting(*intents, other)

    assert [payments.take(each) is None for each in intents] == [True, True, *[False] * 4]
    assert payments.take(other) is None


async def test_orders_to_another_spelling_of_the_payee_count():
    before, now = [to_account("one", 1000, **spelled).payout for spelled in SPELLINGS[:2]]
    database = Ordered(before)

    payments = await first_payments(database, [Intent(now, attempt(), first=FIRST)])  # type: ignore[arg-type]

    assert list(payments.ordered.values()) == [1000]


async def test_a_payout_above_the_amount_does_not_use_it_up():
    """A smaller one beside it still goes."""
    large, small = to_payee("large", 1001), to_payee("small", 1000)
    payments = await counting(large, small)

    assert isinstance(payments.take(large), FirstPayeeLimit)
    assert payments.take(small) is None


async def test_a_known_payee_is_not_counted():
    known = replace(to_payee("one", 5000), first=None)
    payments = await first_payments(None, [known])  # type: ignore[arg-type]

    assert payments.take(known) is None
