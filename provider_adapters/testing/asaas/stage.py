"""Asaas as a stage for the suite, over its simulator."""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.charges import ChargeOrder, Payer
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.pix_keys import KeyOrder, PixKeyType
from gateway.domain.bank.provider_callbacks import CallbackSecrets
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import ProviderAccount
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.testing.asaas.dialect import ASAAS_WITH_TWINS
from provider_adapters.testing.bank.stage import SimulatedStage
from provider_adapters.testing.verify.stage import (
    BankAnswer,
    Fate,
    FieldNames,
    ListedRefusal,
    NotApplicable,
    PayoutWish,
)

_TRANSFER: Final = FieldNames(
    amount="value",
    key="externalReference",
    e2e_id="endToEndIdentifier",
    status="status",
    destination="pixAddressKey",
    at="effectiveDate",
)
_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="balance"),
    PortCall.LIST_STATEMENT: FieldNames(amount="value", at="date"),
    PortCall.GET_CHARGE: FieldNames(amount="value", status="status", at="dateCreated"),
    PortCall.CREATE_PAYOUT: _TRANSFER,
    PortCall.FIND_PAYOUT: _TRANSFER,
}
# As the README lists them; the adapter's own tables would prove nothing.
_NOT_SENT: Final = (
    "access_token_not_found",
    "invalid_access_token",
    "invalid_access_token_format",
    "invalid_environment",
)
_USED_UP: Final = {"RateLimit-Limit": "100", "RateLimit-Remaining": "0", "RateLimit-Reset": "1"}


class AsaasStage(SimulatedStage):
    """The simulated Asaas in this process, with two accounts; a ``Stage``."""

    dialect = ASAAS_WITH_TWINS
    account_secrets = AsaasSecrets

    def __init__(self) -> None:
        """Open nothing yet."""
        super().__init__()
        self._secrets = CallbackSecrets(current=_token())

    async def rotate_secrets(self) -> None:
        """Take another token."""
        former = (self._secrets.current, *self._secrets.former)
        self._secrets = CallbackSecrets(current=_token(), former=former)

    def settings(self, address: str) -> Mapping[str, object]:
        """Name the address."""
        return {"base_url": address}

    def new_key(self) -> KeyOrder:
        """Return a random key: the bank makes no other."""
        return KeyOrder(PixKeyType.EVP, "")

    def charge_order(self, key: str) -> ChargeOrder:
        """Return one with a payer, whom the bank does not know yet: it makes no other."""
        payer = Payer(name="Maria Silva", tax_number=_tax_number())
        return dataclasses.replace(super().charge_order(key), payer=payer)

    async def wish(self, fate: Fate) -> PayoutWish:
        """Return a magic amount; of holds no document of the bank tells."""
        if fate is Fate.HELD:
            message = "no document of the bank tells of payouts under analysis"
            raise NotApplicable(message)
        return await super().wish(fate)

    def stranger(self) -> ProviderAccount:
        """Return the first account with a key that the bank never gave."""
        unknown = AsaasSecrets(api_key=f"$aact_hmlg_{'0' * 48}")
        return dataclasses.replace(self.accounts[0], secrets=unknown)

    def refusals(self) -> Sequence[ListedRefusal]:
        """Return what the README lists of transfers."""
        credentials = [
            ListedRefusal(
                name=f"401 {code}",
                answer=self.refusal(401, code),
                not_sent=Reason.CREDENTIALS_REFUSED,
            )
            for code in _NOT_SENT
        ]
        return [
            ListedRefusal(
                name="400 invalid_value",
                answer=self.refusal(400, "invalid_value"),
                failure=FailureCode.OTHER,
            ),
            *credentials,
            ListedRefusal(
                name="429 RateLimit-Remaining: 0",
                answer=BankAnswer(status=429, headers=_USED_UP),
                not_sent=Reason.RATE_LIMITED,
            ),
        ]

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write the bank's error document."""
        document = {"errors": [{"code": code, "description": "Recusado"}]}
        return BankAnswer(status=status, body=json.dumps(document).encode())

    def fields(self, call: PortCall) -> FieldNames:
        """Return the bank's words."""
        return _FIELDS.get(call) or super().fields(call)


def _tax_number() -> str:
    """Make a CPF: nine digits, and two that check them."""
    digits = [secrets.randbelow(10) for _ in range(9)]
    for length in (10, 11):
        weights = range(length, 1, -1)
        weighed = sum(each * weight for each, weight in zip(digits, weights, strict=True))
        digits.append((11 - weighed % 11) % 11 % 10)
    return "".join(map(str, digits))


def _token() -> bytes:
    """Make a token of the length that the bank asks for."""
    return secrets.token_hex(32).encode()
