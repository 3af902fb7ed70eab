"""The simulated bank as a stage for the suite: what of it the bank's dialect decides."""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.provider_callbacks import CallbackSecrets
from gateway.banks.port.providers import ProviderAccount, Reason
from provider_adapters.testing.bank.books import open_books
from provider_adapters.testing.bank.stage import SimulatedStage
from provider_adapters.testing.verify.stage import (
    BankAnswer,
    FieldNames,
    ListedRefusal,
    NotApplicable,
)

from pixgate_outside.access import Secrets
from pixgate_outside.simulator import access, signing
from pixgate_outside.simulator.bank import DIALECT

_PAYOUT: Final = FieldNames(
    amount="amount",
    key="external_id",
    e2e_id="end_to_end_id",
    status="status",
    destination="key",
    at="settled_at",
)
_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="total", at="updated_at"),
    PortCall.LIST_STATEMENT: FieldNames(amount="amount", e2e_id="end_to_end_id", at="created_at"),
    PortCall.GET_CHARGE: FieldNames(amount="amount", status="status", at="created_at"),
    PortCall.GET_CHARGE_PAYMENT: FieldNames(
        amount="amount", status="status", e2e_id="end_to_end_id", at="paid_at"
    ),
    PortCall.CREATE_PAYOUT: _PAYOUT,
    PortCall.FIND_PAYOUT: _PAYOUT,
}
"""The bank's names of the fields that the suite changes in its answers."""

# As the bank's document lists them; the adapter's own tables would prove nothing.
_REJECTED: Final = (
    (422, "account_invalid", FailureCode.ACCOUNT_INVALID, False),
    (422, "insufficient_funds", FailureCode.INSUFFICIENT_FUNDS, False),
    (422, "key_not_found", FailureCode.KEY_NOT_FOUND, False),
    (422, "limit_exceeded", FailureCode.LIMIT_EXCEEDED, True),
    (422, "not_allowed", FailureCode.REJECTED, True),
    (422, "owner_mismatch", FailureCode.OWNER_MISMATCH, False),
    (422, "rejected", FailureCode.REJECTED, False),
)
_NOT_SENT: Final = (
    (401, "unauthorized", Reason.CREDENTIALS_REFUSED),
    (403, "wrong_account", Reason.CREDENTIALS_REFUSED),
    (429, "too_many_requests", Reason.RATE_LIMITED),
)


class Stage(SimulatedStage):
    """The simulated bank in this process, with two accounts."""

    dialect = DIALECT
    account_secrets = Secrets

    def settings(self, address: str) -> Mapping[str, object]:
        """Name the address, and what proves callbacks."""
        return {"base_url": address, **signing.SETTINGS}

    def stranger(self) -> ProviderAccount:
        """Return the first account with credentials that the bank never gave."""
        wrong = msgspec.convert(access.STRANGER, Secrets)
        return dataclasses.replace(self.accounts[0], secrets=wrong)

    def refusals(self) -> Sequence[ListedRefusal]:
        """Return every answer that the bank's document lists as a refusal of a payout."""
        rejected = [
            ListedRefusal(
                name=code,
                answer=self.refusal(status, code),
                failure=failure,
                forbidden=forbidden,
            )
            for status, code, failure, forbidden in _REJECTED
        ]
        before = [
            ListedRefusal(name=code, answer=self.refusal(status, code), not_sent=reason)
            for status, code, reason in _NOT_SENT
        ]
        return [*rejected, *before]

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write the bank's error document."""
        document = {"error": {"code": code}}
        return BankAnswer(status=status, body=json.dumps(document).encode())

    def fields(self, call: PortCall) -> FieldNames:
        """Return the bank's words."""
        return _FIELDS.get(call) or super().fields(call)

    @property
    def token_path(self) -> str:
        """The path of the call that gives access tokens, if any."""
        return access.GRANT_PATH

    async def revoke_tokens(self) -> None:
        """Let the bank refuse every access token it has given."""
        if not access.GRANT_PATH:
            await super().revoke_tokens()
        books = open_books(
            self.bank.db_path,
            now=lambda: datetime.now(UTC),
            random_hex=secrets.token_hex,
            settle_after_s=0,
        )
        try:
            access.revoke_all(books)
        finally:
            books.database.close()

    @property
    def callback_secrets(self) -> CallbackSecrets:
        """What bank and gateway both know of callbacks."""
        return signing.shared(super().callback_secrets)

    async def rotate_secrets(self) -> None:
        """Take another secret."""
        if not signing.SHARES_SECRET:
            message = "the bank's public key stands in the settings"
            raise NotApplicable(message)
        await super().rotate_secrets()
