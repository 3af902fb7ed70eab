"""The simulated Woovi as a stage for the suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackSecrets
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import ProviderAccount
from provider_adapters.testing.bank.stage import SimulatedStage, written
from provider_adapters.testing.verify.stage import (
    AnswerForm,
    BankAnswer,
    Fate,
    FieldNames,
)
from provider_adapters.testing.woovi.dialect import WOOVI, rotate
from provider_adapters.woovi.requests import WooviSecrets

_ORDERED: Final = FieldNames(
    amount="value", key="correlationID", status="status", destination="destinationAlias"
)
_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="total"),
    PortCall.LIST_STATEMENT: FieldNames(amount="value", at="time"),
    PortCall.GET_CHARGE: FieldNames(amount="value", status="status", at="createdAt"),
    PortCall.CREATE_PAYOUT: _ORDERED,
    PortCall.FIND_PAYOUT: dataclasses.replace(_ORDERED, e2e_id="endToEndId", at="time"),
}
_FORMS: Final[Mapping[PortCall, AnswerForm]] = {
    PortCall.LIST_STATEMENT: AnswerForm.LIST,
    PortCall.CANCEL_KEY: AnswerForm.NOTHING,
}
_LOW_BALANCE: Final = "You do not have enough balance to make this payment"
_WRONG_APP_ID: Final = "appID inválido"

_UNTOLD: Final = {Fate.HELD: "the bank does not tell whether it holds a payout"}


class WooviStage(SimulatedStage):
    """The simulated Woovi in this process, with two accounts; a ``Stage``."""

    dialect = WOOVI
    account_secrets = WooviSecrets
    words = _FIELDS
    listed = (
        (400, _LOW_BALANCE, FailureCode.INSUFFICIENT_FUNDS),
        (401, _WRONG_APP_ID, Reason.CREDENTIALS_REFUSED),
        (429, "TOO_MANY_REQUESTS", Reason.RATE_LIMITED),
    )
    untold = _UNTOLD

    def stranger(self) -> ProviderAccount:
        """Return the first account with an AppID that the bank never gave."""
        return dataclasses.replace(self.accounts[0], secrets=WooviSecrets(app_id="dW5rbm93bg=="))

    def new_key(self) -> KeyOrder:
        """Return a random key: of the others the bank takes a CNPJ alone."""
        return KeyOrder(PixKeyType.EVP, "")

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write a refusal: a sentence of the bank's pages, or a code as now and then."""
        if code == _LOW_BALANCE:
            return written(status, {"error": code})
        if code == _WRONG_APP_ID:
            return written(status, {"data": None, "errors": [{"message": code}]})
        return written(status, {"error": "Não foi possível", "errorCode": code})

    def form(self, call: PortCall) -> AnswerForm:
        """Return the forms that the document has."""
        return _FORMS.get(call) or super().form(call)

    @property
    def callback_secrets(self) -> CallbackSecrets:
        """None: the bank's own key proves its callbacks."""
        return CallbackSecrets()

    async def rotate_secrets(self) -> None:
        """Let the bank sign with another key; it shows the former one, too."""
        rotate(self.bank.books)
