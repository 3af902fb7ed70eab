"""The sandbox bank as a stage for the suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import ProviderAccount
from provider_adapters.testing.bank.stage import SimulatedStage, written
from provider_adapters.testing.sandbox.dialect import SANDBOX
from provider_adapters.testing.verify.stage import BankAnswer, FieldNames

_PAYOUT: Final = FieldNames(
    amount="valor_centavos",
    key="chave_idempotencia",
    e2e_id="e2e",
    status="situacao",
    destination="chave",
    at="liquidada_em",
)
_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="saldo_centavos", at="atualizado_em"),
    PortCall.LIST_STATEMENT: FieldNames(amount="valor_centavos", e2e_id="e2e", at="criado_em"),
    PortCall.GET_CHARGE: FieldNames(amount="valor_centavos", status="situacao", at="criada_em"),
    PortCall.CREATE_PAYOUT: _PAYOUT,
    PortCall.FIND_PAYOUT: _PAYOUT,
}


_LISTED: Final = (
    (400, "ACCOUNT_INVALID", FailureCode.ACCOUNT_INVALID),
    (400, "INSUFFICIENT_FUNDS", FailureCode.INSUFFICIENT_FUNDS),
    (400, "KEY_NOT_FOUND", FailureCode.KEY_NOT_FOUND),
    (400, "OWNER_MISMATCH", FailureCode.OWNER_MISMATCH),
    (400, "REJECTED", FailureCode.REJECTED),
    (403, "LIMIT_EXCEEDED", FailureCode.LIMIT_EXCEEDED),
    (403, "NOT_ALLOWED", FailureCode.REJECTED),
    (401, "UNAUTHORIZED", Reason.CREDENTIALS_REFUSED),
    (403, "WRONG_ACCOUNT", Reason.CREDENTIALS_REFUSED),
    (429, "TOO_MANY_REQUESTS", Reason.RATE_LIMITED),
)
_DOUBTFUL: Final = (
    (400, "INVALID_REQUEST"),
    (404, "NOT_FOUND"),
    (409, "REFERENCE_IN_USE"),
    (413, "TOO_LARGE"),
    (422, "KEY_REUSED"),
    (500, "INTERNAL"),
)


class SandboxStage(SimulatedStage):
    """The sandbox bank in this process, with two accounts; a ``Stage``."""

    dialect = SANDBOX
    words = _FIELDS
    listed = _LISTED
    forbidden = ("LIMIT_EXCEEDED", "NOT_ALLOWED")

    def stranger(self) -> ProviderAccount:
        """Return the first account with a token that the bank never gave."""
        return dataclasses.replace(self.accounts[0], credentials="sbx_unknown")

    def doubtful(self) -> Sequence[BankAnswer]:
        """Return codes of the same table that the bank also says after it executed."""
        return [self.refusal(status, code) for status, code in _DOUBTFUL]

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write the bank's error document."""
        return written(status, {"error": {"code": code, "message": "refused"}})

    @property
    def callback_lives(self) -> timedelta:
        """Five minutes, as the README says."""
        return timedelta(minutes=5)
