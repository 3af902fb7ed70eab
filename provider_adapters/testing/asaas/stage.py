"""Asaas as a stage for the suite, over its simulator."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import ChargeOrder, Payer
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import ProviderAccount
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.testing.asaas.dialect import ASAAS_WITH_TWINS
from provider_adapters.testing.bank.stage import SimulatedStage, written
from provider_adapters.testing.verify.stage import (
    BankAnswer,
    Fate,
    FieldNames,
    ListedRefusal,
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
_USED_UP: Final = {"RateLimit-Limit": "100", "RateLimit-Remaining": "0", "RateLimit-Reset": "1"}

_UNTOLD: Final = {Fate.HELD: "no document of the bank tells of payouts under analysis"}


class AsaasStage(SimulatedStage):
    """The simulated Asaas in this process, with two accounts; a ``Stage``."""

    dialect = ASAAS_WITH_TWINS
    account_secrets = AsaasSecrets
    words = _FIELDS
    listed = (
        (400, "invalid_value", FailureCode.OTHER),
        (401, "access_token_not_found", Reason.CREDENTIALS_REFUSED),
        (401, "invalid_access_token", Reason.CREDENTIALS_REFUSED),
        (401, "invalid_access_token_format", Reason.CREDENTIALS_REFUSED),
        (401, "invalid_environment", Reason.CREDENTIALS_REFUSED),
    )
    untold = _UNTOLD

    def new_secret(self) -> bytes:
        """Make a token of the length that the bank asks for."""
        return secrets.token_hex(32).encode()

    def new_key(self) -> KeyOrder:
        """Return a random key: the bank makes no other."""
        return KeyOrder(PixKeyType.EVP, "")

    def charge_order(self, key: str) -> ChargeOrder:
        """Return one with a payer, whom the bank does not know yet: it makes no other."""
        payer = Payer(name="Maria Silva", tax_number=f"{secrets.randbelow(10**11):011}")
        return dataclasses.replace(super().charge_order(key), payer=payer)

    def stranger(self) -> ProviderAccount:
        """Return the first account with a key that the bank never gave."""
        unknown = AsaasSecrets(api_key=f"$aact_hmlg_{'0' * 48}")
        return dataclasses.replace(self.accounts[0], secrets=unknown)

    def refusals(self) -> Sequence[ListedRefusal]:
        """Return what the README lists of transfers."""
        used_up = BankAnswer(status=429, headers=_USED_UP)
        name = "429 RateLimit-Remaining: 0"
        limited = ListedRefusal(name=name, answer=used_up, not_sent=Reason.RATE_LIMITED)
        return [*super().refusals(), limited]

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write the bank's error document."""
        return written(status, {"errors": [{"code": code, "description": "Recusado"}]})
