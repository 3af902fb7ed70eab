"""The account's bank coordinates, as statements and other documents print them."""

from __future__ import annotations

from typing import TypedDict

from gateway.core import fields
from gateway.core.account import Account


class AccountDocument(TypedDict):
    """The account's own bank coordinates."""

    bank_number: fields.BankNumber
    ispb: fields.Ispb
    branch: fields.Branch
    account: fields.Account
    name: fields.CompanyName
    tax_number: fields.CompanyTaxNumber


def account_document(account: Account) -> AccountDocument:
    """Return the account's own bank coordinates from our record."""
    at = account.coordinates
    return {
        "bank_number": at.bank_number,
        "ispb": at.ispb,
        "branch": at.branch,
        "account": at.account,
        "name": account.name,
        "tax_number": account.tax_number,
    }
