"""Efí as a stage for the suite: TLS with a certificate for each account, made in memory."""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.pix_keys import KeyOrder, PixKeyType
from gateway.domain.bank.provider_callbacks import CallbackKind, Delivery
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import ProviderAccount
from provider_adapters.apipix.secrets import EfiSecrets
from provider_adapters.apipix.simulator.access import TOKEN
from provider_adapters.apipix.simulator.dialect import EFI
from provider_adapters.kit.references import txids
from provider_adapters.kit.secrets import secrets_of
from provider_adapters.simulated_bank.stage import SimulatedStage
from provider_adapters.verify.stage import (
    BankAnswer,
    Charge,
    ChargePaid,
    Fate,
    FieldNames,
    ListedRefusal,
    NotApplicable,
    PayoutWish,
    Thing,
)

_SENT: Final = FieldNames(
    amount="valor", key="idEnvio", e2e_id="endToEndId", status="status", at="liquidacao"
)
_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="saldo"),
    PortCall.LIST_STATEMENT: FieldNames(amount="valor", e2e_id="endToEndId", at="horario"),
    PortCall.GET_CHARGE: FieldNames(amount="original", status="status", at="criacao"),
    PortCall.CREATE_PAYOUT: FieldNames(
        amount="valor", key="idEnvio", e2e_id="e2eId", status="status"
    ),
    PortCall.FIND_PAYOUT: dataclasses.replace(_SENT, destination="chave"),
}
# As the README lists them; the adapter's own tables would prove nothing.
_REJECTED: Final = (
    (400, "chave_invalida", FailureCode.REJECTED, False),
    (400, "chave_nao_pertence_ao_documento", FailureCode.OWNER_MISMATCH, False),
    (400, "documento_bloqueado", FailureCode.REJECTED, True),
    (400, "valor_invalido", FailureCode.OTHER, False),
    (404, "chave_favorecido_nao_encontrada", FailureCode.KEY_NOT_FOUND, False),
    (422, "pagamento_negado", FailureCode.REJECTED, False),
)
_NOT_SENT: Final = (
    (403, "AcessoNegado", Reason.CREDENTIALS_REFUSED),
    (403, "insufficient_scope", Reason.CREDENTIALS_REFUSED),
    (429, "balde_fichas_vazio", Reason.RATE_LIMITED),
)


class EfiStage(SimulatedStage):
    """Efí in this process, with two accounts; a ``Stage``."""

    dialect = EFI
    account_secrets = EfiSecrets

    def settings(self, address: str) -> Mapping[str, object]:
        """Name profile and address, and trust the simulator's authority."""
        named = {"profile": "efi", "base_url": address}
        is_tls = address.startswith("https:")
        return {**named, "tls": {"ca": str(self.bank.authority_file)}} if is_tls else named

    async def put(self, account: ProviderAccount, thing: Thing) -> str:
        """Give charges the txid that they have at the bank."""
        if isinstance(thing, Charge) and not thing.reference:
            thing = dataclasses.replace(thing, reference=secrets.token_hex(16))
        if isinstance(thing, Charge | ChargePaid):
            asked = thing.reference
            txid = txids(Environment.SANDBOX, account.account_id, asked)[0]
            named = await super().put(account, dataclasses.replace(thing, reference=txid))
            return asked if isinstance(thing, Charge) else named
        return await super().put(account, thing)

    async def wish(self, fate: Fate) -> PayoutWish:
        """Return a magic amount; of holds and returns Efí's documents tell nothing."""
        if fate in {Fate.HELD, Fate.RETURNS}:
            message = f"Efí tells of no payout that {fate.value}"
            raise NotApplicable(message)
        return await super().wish(fate)

    def own_key(self, account: ProviderAccount) -> str:
        """Return the random key that the account was given."""
        return secrets_of(account, EfiSecrets).pix_key

    def new_key(self) -> KeyOrder:
        """Order a random key: Efí registers no other."""
        return KeyOrder(PixKeyType.EVP, "")

    def stranger(self) -> ProviderAccount:
        """Return the first account with an id and secret that the bank never gave."""
        first = self.accounts[0]
        known = msgspec.structs.replace(secrets_of(first, EfiSecrets), client_id="unknown")
        return dataclasses.replace(first, secrets=known)

    def refusals(self) -> Sequence[ListedRefusal]:
        """Return the names of the README's table of errors that concern payouts."""
        rejected = [
            ListedRefusal(
                name=f"{status} {name}",
                answer=self.refusal(status, name),
                failure=failure,
                forbidden=forbidden,
            )
            for status, name, failure, forbidden in _REJECTED
        ]
        before = [
            ListedRefusal(
                name=f"{status} {name}", answer=self.refusal(status, name), not_sent=reason
            )
            for status, name, reason in _NOT_SENT
        ]
        return [*rejected, *before]

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write an error in Efí's own shape."""
        document = {"nome": code, "mensagem": "refused"}
        return BankAnswer(status=status, body=json.dumps(document).encode())

    def fields(self, call: PortCall) -> FieldNames:
        """Return Efí's words."""
        return _FIELDS.get(call) or super().fields(call)

    @property
    def token_path(self) -> str:
        """Where tokens are given."""
        return "/oauth/token"

    async def revoke_tokens(self) -> None:
        """Let the bank forget its tokens."""
        with self._books() as kept:
            kept.database.run("DELETE FROM dialect_state WHERE kind = ?", (TOKEN,))

    async def callback_of_several(
        self, account: ProviderAccount, subjects: Sequence[str], at: datetime
    ) -> Delivery:
        """Put what is said of each payout or charge into one list."""
        said = [await self._callback(account, subject, at) for subject in subjects]
        parts = [part for each in said for part in json.loads(each.body)["pix"]]
        return dataclasses.replace(said[0], body=json.dumps({"pix": parts}).encode())

    async def _callback(self, account: ProviderAccount, subject: str, at: datetime) -> Delivery:
        paid = await self.executions(subject)
        kind = CallbackKind.PAYOUT if paid else CallbackKind.CHARGE
        return await self.callback(account, kind, subject, at)
