"""The simulated Woovi as a stage for the suite."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.pix_keys import KeyOrder, PixKeyType
from gateway.domain.bank.provider_callbacks import CallbackKind, CallbackSecrets, Delivery
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import ProviderAccount
from provider_adapters.testing.bank.kernel import books
from provider_adapters.testing.bank.stage import SimulatedStage
from provider_adapters.testing.verify.stage import (
    AnswerForm,
    BankAnswer,
    Fate,
    FieldNames,
    ListedRefusal,
    NotApplicable,
    PayoutWish,
)
from provider_adapters.testing.woovi import callbacks
from provider_adapters.testing.woovi.dialect import WOOVI
from provider_adapters.woovi.requests import WooviSecrets

_ORDERED: Final = FieldNames(
    amount="value", key="correlationID", status="status", destination="destinationAlias"
)
_PAID: Final = dataclasses.replace(_ORDERED, e2e_id="endToEndId", at="time")
_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="total"),
    PortCall.LIST_STATEMENT: FieldNames(amount="value", at="time"),
    PortCall.GET_CHARGE: FieldNames(amount="value", status="status", at="createdAt"),
    PortCall.CREATE_PAYOUT: _ORDERED,
    PortCall.FIND_PAYOUT: _PAID,
}
_FORMS: Final[Mapping[PortCall, AnswerForm]] = {
    PortCall.LIST_STATEMENT: AnswerForm.LIST,
    PortCall.CANCEL_KEY: AnswerForm.NOTHING,
}
_LOW_BALANCE: Final = "You do not have enough balance to make this payment"


class WooviStage(SimulatedStage):
    """The simulated Woovi in this process, with two accounts; a ``Stage``."""

    dialect = WOOVI
    account_secrets = WooviSecrets

    def settings(self, address: str) -> Mapping[str, object]:
        """Name the address."""
        return {"base_url": address}

    def stranger(self) -> ProviderAccount:
        """Return the first account with an AppID that the bank never gave."""
        return dataclasses.replace(self.accounts[0], secrets=WooviSecrets(app_id="dW5rbm93bg=="))

    def new_key(self) -> KeyOrder:
        """Return a random key: of the others the bank takes a CNPJ alone."""
        return KeyOrder(PixKeyType.EVP, "")

    def refusals(self) -> Sequence[ListedRefusal]:
        """Return what the bank's pages say about payouts; see ``words`` for where."""
        app_id = {"data": None, "errors": [{"message": "appID inválido"}]}
        return [
            ListedRefusal(
                name="balance too low",
                answer=_said(400, {"error": _LOW_BALANCE}),
                failure=FailureCode.INSUFFICIENT_FUNDS,
            ),
            ListedRefusal(
                name="appID inválido",
                answer=_said(401, app_id),
                not_sent=Reason.CREDENTIALS_REFUSED,
            ),
            ListedRefusal(
                name="TOO_MANY_REQUESTS",
                answer=self.refusal(429, "TOO_MANY_REQUESTS"),
                not_sent=Reason.RATE_LIMITED,
            ),
        ]

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write a refusal with a code, which the bank gives now and then."""
        return _said(status, {"error": "Não foi possível", "errorCode": code})

    def fields(self, call: PortCall) -> FieldNames:
        """Return the bank's words."""
        return _FIELDS.get(call) or super().fields(call)

    def form(self, call: PortCall) -> AnswerForm:
        """Return the forms that the document has."""
        return _FORMS.get(call) or super().form(call)

    async def wish(self, fate: Fate) -> PayoutWish:
        """Return a magic amount; the bank has no word for a payout that it holds."""
        if fate is Fate.HELD:
            message = "the bank does not tell whether it holds a payout"
            raise NotApplicable(message)
        return await super().wish(fate)

    @property
    def callback_secrets(self) -> CallbackSecrets:
        """None: the bank's own key proves its callbacks."""
        return CallbackSecrets()

    async def rotate_secrets(self) -> None:
        """Let the bank sign with another key; it shows the former one, too."""
        kept = books.open_books(
            self._file,
            now=lambda: datetime.now(UTC),
            random_hex=secrets.token_hex,
            settle_after_s=1.0,
            identity=self.dialect.identity,
        )
        with contextlib.closing(kept.database):
            callbacks.rotate(kept)

    async def callback(
        self, account: ProviderAccount, kind: CallbackKind, subject: str, at: datetime
    ) -> Delivery:
        """Write one about a payout or a charge; those about refunds name none of our keys."""
        if kind is CallbackKind.REFUND:
            message = "the bank's callbacks about refunds name neither key nor charge"
            raise NotApplicable(message)
        return await super().callback(account, kind, subject, at)


def _said(status: int, document: Mapping[str, object]) -> BankAnswer:
    return BankAnswer(status=status, body=json.dumps(document, ensure_ascii=False).encode())
