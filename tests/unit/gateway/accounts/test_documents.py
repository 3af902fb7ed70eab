"""The account as documents of its money name it."""

from dataclasses import replace

from gateway.accounts.documents import account_document
from gateway.core.account import BankCoordinates
from tests.world.stores.samples import account


def test_an_account_is_named_by_its_coordinates_and_its_holder():
    at = BankCoordinates(bank_number="341", ispb="60701190", branch="0001", account="123456-7")

    assert account_document(replace(account(), coordinates=at)) == {
        "bank_number": "341",
        "ispb": "60701190",
        "branch": "0001",
        "account": "123456-7",
        "name": account().name,
        "tax_number": account().tax_number,
    }
