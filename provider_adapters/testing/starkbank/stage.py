"""Stark Bank's simulator as a stage for the suite."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.charges import ChargeOrder, Payer
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import ProviderAccount
from provider_adapters.starkbank.requests import Secrets
from provider_adapters.testing.bank.kernel import books
from provider_adapters.testing.bank.stage import SimulatedStage
from provider_adapters.testing.starkbank import signing_keys
from provider_adapters.testing.starkbank.dialect import STARKBANK
from provider_adapters.testing.verify.stage import (
    BankAnswer,
    Fate,
    FieldNames,
    ListedRefusal,
    NotApplicable,
    PayoutWish,
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
# As the README lists them; the adapter's own tables would prove nothing.
_REJECTED: Final = (
    ("insufficientFunds", FailureCode.INSUFFICIENT_FUNDS),
    ("invalidAmount", FailureCode.REJECTED),
    ("invalidJson", FailureCode.REJECTED),
    ("invalidTaxId", FailureCode.REJECTED),
)
_NOT_SENT: Final = (
    (400, "invalidAccessId"),
    (400, "invalidCredentials"),
    (400, "invalidSignature"),
    (401, "expiredAccessTime"),
    (401, "invalidAccessId"),
    (401, "invalidSignature"),
)


class StarkBankStage(SimulatedStage):
    """Stark Bank's simulator in this process, with two workspaces; a ``Stage``."""

    dialect = STARKBANK
    account_secrets = Secrets

    def settings(self, address: str) -> Mapping[str, object]:
        """Name the address."""
        return {"base_url": address}

    async def wish(self, fate: Fate) -> PayoutWish:
        """Leave out holds: the bank does not tell of them."""
        if fate is Fate.HELD:
            message = "the bank does not tell that it holds a transfer"
            raise NotApplicable(message)
        return await super().wish(fate)

    async def put(self, account: ProviderAccount, thing: Thing) -> str:
        """Name a payment without a charge as its tags do: they lost the capitals."""
        named = await super().put(account, thing)
        if not isinstance(thing, Received):
            return named
        return named[:_ISPB_ENDS] + named[_ISPB_ENDS:].lower()

    async def rotate_secrets(self) -> None:
        """Have the bank sign with another key; the gateway shares no secret with it."""
        kept = books.open_books(
            self.bank.db_path,
            now=lambda: datetime.now(UTC),
            random_hex=secrets.token_hex,
            settle_after_s=self.bank.settle_after_s,
            identity=self.dialect.identity,
        )
        with contextlib.closing(kept.database):
            signing_keys.rotate(kept)

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

    def refusals(self) -> Sequence[ListedRefusal]:
        """Return the codes of the README's table that concern payouts."""
        rejected = [
            ListedRefusal(name=code, answer=self.refusal(400, code), failure=failure)
            for code, failure in _REJECTED
        ]
        before = [
            ListedRefusal(
                name=f"{status} {code}",
                answer=self.refusal(status, code),
                not_sent=Reason.CREDENTIALS_REFUSED,
            )
            for status, code in _NOT_SENT
        ]
        return [*rejected, *before]

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write the bank's error document."""
        document = {"errors": [{"code": code, "message": "refused"}]}
        return BankAnswer(status=status, body=json.dumps(document).encode())

    def fields(self, call: PortCall) -> FieldNames:
        """Return the bank's words."""
        return _FIELDS.get(call) or super().fields(call)
