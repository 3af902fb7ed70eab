"""Stark Bank's simulator as a stage for the suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

import msgspec

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import ChargeOrder, Payer
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import ProviderAccount
from provider_adapters.starkbank.requests import Secrets
from provider_adapters.testing.bank.stage import SimulatedStage, written
from provider_adapters.testing.starkbank.dialect import STARKBANK, rotate
from provider_adapters.testing.verify.stage import (
    BankAnswer,
    Fate,
    FieldNames,
    Received,
    Thing,
)

_PAYOUT: Final = FieldNames(
    amount="amount", key="externalId", status="status", destination="bankCode", at="updated"
)
_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="amount", at="updated"),
    PortCall.LIST_STATEMENT: FieldNames(amount="amount", at="created"),
    PortCall.GET_CHARGE: FieldNames(amount="nominalAmount", status="status", at="created"),
    PortCall.CREATE_PAYOUT: _PAYOUT,
    PortCall.FIND_PAYOUT: _PAYOUT,
}
_ISPB_ENDS: Final = 9

_UNTOLD: Final = {Fate.HELD: "the bank does not tell that it holds a transfer"}


class StarkBankStage(SimulatedStage):
    """Stark Bank's simulator in this process, with two workspaces; a ``Stage``."""

    dialect = STARKBANK
    account_secrets = Secrets
    words = _FIELDS
    listed = (
        (400, "insufficientFunds", FailureCode.INSUFFICIENT_FUNDS),
        (400, "invalidAmount", FailureCode.REJECTED),
        (400, "invalidJson", FailureCode.REJECTED),
        (400, "invalidTaxId", FailureCode.REJECTED),
        (400, "invalidAccessId", Reason.CREDENTIALS_REFUSED),
        (400, "invalidCredentials", Reason.CREDENTIALS_REFUSED),
        (400, "invalidSignature", Reason.CREDENTIALS_REFUSED),
        (401, "expiredAccessTime", Reason.CREDENTIALS_REFUSED),
        (401, "invalidAccessId", Reason.CREDENTIALS_REFUSED),
        (401, "invalidSignature", Reason.CREDENTIALS_REFUSED),
    )
    untold = _UNTOLD

    async def put(self, account: ProviderAccount, thing: Thing) -> str:
        """Name a payment without a charge as its tags do: they lost the capitals."""
        named = await super().put(account, thing)
        if not isinstance(thing, Received):
            return named
        return named[:_ISPB_ENDS] + named[_ISPB_ENDS:].lower()

    async def rotate_secrets(self) -> None:
        """Have the bank sign with another key; the gateway shares no secret with it."""
        rotate(self.bank.books)

    def charge_order(self, key: str) -> ChargeOrder:
        """Return an order of an invoice: a charge of nobody in particular is not cancelled."""
        payer = Payer(name="Maria Silva", tax_number="52998224725")
        return dataclasses.replace(super().charge_order(key), payer=payer)

    def stranger(self) -> ProviderAccount:
        """Return the first account with the key of the second."""
        mine, other = (each.secrets for each in self.accounts[:2])
        if not (isinstance(mine, Secrets) and isinstance(other, Secrets)):
            return super().stranger()
        forged = msgspec.structs.replace(mine, private_key=other.private_key)
        return dataclasses.replace(self.accounts[0], secrets=forged)

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write the bank's error document."""
        return written(status, {"errors": [{"code": code, "message": "refused"}]})
