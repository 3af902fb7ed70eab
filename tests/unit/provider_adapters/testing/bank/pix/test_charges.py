"""Charges: a valid BR Code, one payment unless reusable, none when over."""

from __future__ import annotations

import re

import pytest

from provider_adapters.kit import brcode
from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.pix import charges, keys, received_payments
from provider_adapters.testing.bank.pix.charges import NewCharge
from provider_adapters.testing.bank.pix.keys import NewKey
from provider_adapters.testing.bank.pix.received_payments import Payer

KEY = "loja@example.com"


@pytest.fixture
def owner(books, open_account):
    account = open_account(centavos=0)
    keys.add(books, account.id, NewKey(type="email", key=KEY))
    return account


@pytest.fixture
def charge(books, owner):
    def made(reference="r-1", **more):
        fields = {"type": "dynamic", "key": KEY, "centavos": 10_50, **more}
        return charges.add(books, owner, NewCharge(reference=reference, **fields))

    return made


@pytest.mark.parametrize("centavos", [10_50, None], ids=["fixed", "open"])
def test_a_dynamic_code_points_to_the_charge(charge, centavos):
    """Point of initiation 12, a URL instead of the key, no txid of its own."""
    made = charge(centavos=centavos)

    code = brcode.decode(made.emv)

    assert (code.point_of_initiation, code.key, code.txid) == ("12", None, "***")
    assert code.url == f"pix.sandbox.example/qr/v2/{made.txid}"
    assert code.amount == (centavos and "10.50")
    assert (code.name, code.city, code.postal_code) == ("Loja Exemplo", "Sao Paulo", "01310100")


@pytest.mark.parametrize(
    ("reference", "named"), [("order1042", True), ("order-1042", False), ("x" * 26, False)]
)
def test_a_static_code_holds_the_key_and_names_its_charge(charge, reference, named):
    """By its reference, or by a random txid where that is none."""
    made = charge(reference, type="static")

    code = brcode.decode(made.emv)

    assert (code.point_of_initiation, code.key, code.url) == (None, KEY, None)
    assert re.fullmatch("[A-Za-z0-9]{1,25}", code.txid)
    assert (code.txid == reference) is named
    assert (code.txid, code.amount) == (made.txid, "10.50")


def test_two_static_codes_of_one_key_and_amount_differ(charge):
    """Or nobody could tell whose a payment is."""
    codes = [charge(f"order-{number}", type="static").emv for number in range(20)]

    assert len(set(codes)) == len(codes)


def test_a_charge_is_paid_once(books, owner, charge):
    made = charge(payer=Payer(name="Maria", tax_number="5"))

    paid = charges.pay(books, made, None, None)

    after = charges.get(books, owner.id, "r-1")
    assert (paid.centavos, paid.payer, after.status) == (10_50, made.payer, "paid")
    assert received_payments.latest(books, owner.id, "r-1") == paid
    assert accounts.balance(books, owner.id).owned == 10_50
    with pytest.raises(Refusal, match="is paid"):
        charges.pay(books, after, None, None)
    with pytest.raises(Refusal, match="is paid"):
        charges.cancel(books, owner.id, "r-1")


def test_a_reusable_charge_is_paid_again(books, owner, charge):
    made = charge(reusable=True)
    charges.pay(books, made, None, None)

    second = charges.pay(books, charges.get(books, owner.id, "r-1"), None, None)

    assert received_payments.latest(books, owner.id, "r-1") == second
    assert accounts.balance(books, owner.id).owned == 21_00


def test_an_open_amount_is_the_payers_choice(books, charge):
    made = charge(centavos=None)
    with pytest.raises(Refusal, match="open amount"):
        charges.pay(books, made, None, None)

    assert charges.pay(books, made, 7, None).centavos == 7


def test_a_fixed_amount_is_not(books, charge):
    with pytest.raises(Refusal, match="another amount"):
        charges.pay(books, charge(), 10_51, None)


def test_an_anonymous_charge_has_no_payer(books, charge):
    assert charges.pay(books, charge(payer=None), None, None).payer is None


def test_an_expired_charge_is_shown_and_not_paid(books, owner, charge, wall):
    made = charge(expires_in=60_000_000)
    wall.move(59.999)
    before = made.expired(books.clock.micros())
    wall.move(0.001)

    after = charges.get(books, owner.id, "r-1").expired(books.clock.micros())

    assert (before, after) == (False, True)
    with pytest.raises(Refusal, match="expired"):
        charges.pay(books, made, None, None)


def test_a_charge_can_be_over_from_the_start(books, charge):
    """For demonstrations: made in the past, so that its end is not before its beginning."""
    made = charge(expires_in=-5)

    assert made.expired(books.clock.micros())
    assert made.created_at <= made.expires_at


def test_a_cancelled_charge_is_not_paid(books, owner, charge):
    charge()
    canceled = charges.cancel(books, owner.id, "r-1")

    assert charges.cancel(books, owner.id, "r-1") == canceled
    with pytest.raises(Refusal, match="cancelled"):
        charges.pay(books, canceled, None, None)


def test_a_reference_is_used_once_per_account(books, open_account, charge):
    charge()
    other = open_account("cc_2")
    keys.add(books, other.id, NewKey(type="email", key="other"))

    charges.add(books, other, NewCharge(reference="r-1", type="static", key="other"))

    assert len(charges.anywhere(books, "r-1")) == 2
    with pytest.raises(Refusal, match="exists"):
        charge()
    with pytest.raises(Refusal, match="not found"):
        charges.get(books, other.id, "r-2")


@pytest.mark.parametrize("key", ["nobody@example.com", "theirs"])
def test_the_key_is_an_active_one_of_the_account(books, open_account, charge, key):
    other = open_account("cc_2")
    keys.add(books, other.id, NewKey(type="email", key="theirs"))

    with pytest.raises(Refusal, match="active key"):
        charge(key=key)


def test_a_charge_of_a_key_that_was_given_up_cannot_be_paid(books, owner, charge):
    made = charge()
    keys.cancel(books, owner.id, keys.list_all(books, owner.id)[0].id)

    with pytest.raises(Refusal, match="given up"):
        charges.pay(books, made, None, None)

    assert accounts.balance(books, owner.id).owned == 0


def test_a_charge_may_have_a_txid_of_its_customers(books, owner, charge):
    made = charge(txid="a" * 26)

    assert made.txid == "a" * 26
    assert charges.by_txid(books, owner.id, made.txid) == made
    with pytest.raises(Refusal, match="not found"):
        charges.by_txid(books, owner.id, "b" * 26)


def test_a_customers_charges_are_listed_oldest_first(books, owner, charge):
    made = [charge(reference=f"r-{number}") for number in range(3)]

    assert charges.list_all(books, owner.id) == made
    assert charges.list_all(books, "cc_9") == []
