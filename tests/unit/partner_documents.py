"""The caller that documents for partners are made for, and the documents as partners read them."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec

from gateway.core.account import BankCoordinates
from gateway.core.calls import Caller
from gateway.http.rendering import dumps
from tests.world.people import account, principal

AT = BankCoordinates(bank_number="999", ispb="99999999", branch="0001", account="1234567-8")
CALLER = Caller(principal(), dataclasses.replace(account(), coordinates=AT))
ORIGIN = {
    "bank_number": "999",
    "ispb": "99999999",
    "branch": "0001",
    "account": "1234567-8",
    "name": "Padaria São João Ltda",
    "tax_number": "11222333000181",
}


def shown(document: Any) -> Any:
    """Write a document and read it as a partner does."""
    return msgspec.json.decode(dumps(document))
