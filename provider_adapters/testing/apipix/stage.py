"""Banks of API Pix as stages for the suite: TLS with a certificate for each account, in memory."""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind, Delivery
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import ProviderAccount
from gateway.core.account import Environment
from provider_adapters.apipix.profiles import PROFILES, Name
from provider_adapters.apipix.secrets import ApiPixSecrets
from provider_adapters.kit.references import txids
from provider_adapters.kit.secrets import secrets_of
from provider_adapters.testing.apipix.dialect import SIMULATORS, TOKEN
from provider_adapters.testing.apipix.standard import problem
from provider_adapters.testing.bank.simulator import BankAddress
from provider_adapters.testing.bank.stage import SimulatedStage, written
from provider_adapters.testing.verify.stage import (
    BankAnswer,
    Charge,
    ChargePaid,
    Fate,
    FieldNames,
    Thing,
)

_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_CHARGE: FieldNames(amount="original", status="status", at="criacao"),
}
_EFI_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    **_FIELDS,
    PortCall.GET_BALANCE: FieldNames(amount="saldo"),
    PortCall.LIST_STATEMENT: FieldNames(amount="valor", e2e_id="endToEndId", at="horario"),
    PortCall.CREATE_PAYOUT: FieldNames(
        amount="valor", key="idEnvio", e2e_id="e2eId", status="status"
    ),
    PortCall.FIND_PAYOUT: FieldNames(
        amount="valor",
        key="idEnvio",
        e2e_id="endToEndId",
        status="status",
        destination="chave",
        at="liquidacao",
    ),
}
_INTER_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    **_FIELDS,
    PortCall.GET_BALANCE: FieldNames(amount="disponivel"),
    PortCall.LIST_STATEMENT: FieldNames(amount="valor", e2e_id="endToEndId", at="dataTransacao"),
    PortCall.CREATE_PAYOUT: FieldNames(status="tipoRetorno"),
    PortCall.FIND_PAYOUT: FieldNames(
        amount="valor",
        key="codigoSolicitacao",
        e2e_id="endToEnd",
        status="status",
        at="dataHoraMovimento",
    ),
}
_REFUSED: Final = {"title": "refused", "detail": "refused"}
_INTER_DOUBTFUL: Final[Sequence[tuple[int, object]]] = (
    *((status, _REFUSED) for status in (400, 403, 404, 422, 429)),
    (400, {**_REFUSED, "violacoes": [{"razao": "refused", "propriedade": "destinatario.chave"}]}),
    *(
        (status, {"erro": {"mensagem": "refused", "codigo": code, "status": status}})
        for status, code in ((400, 51001), (422, 51002))
    ),
    (429, {"message": "refused"}),
)
"""Forms of Inter's errors, as the README lists them; the numbers are examples of its document."""

_UNTOLD: Final = {
    fate: f"the bank tells of no payout that {fate.value}" for fate in (Fate.HELD, Fate.RETURNS)
}


class ApiPixStage(SimulatedStage):
    """
    A bank of API Pix in this process, with two accounts.

    Attributes:
        profile: Which one.
    """

    profile: Name
    words = _FIELDS
    untold = _UNTOLD

    def __init__(self) -> None:
        """Open nothing yet."""
        super().__init__()
        self.dialect = SIMULATORS[self.profile].dialect
        self.account_secrets = PROFILES[self.profile].secrets

    def settings(self, address: str) -> Mapping[str, object]:
        """Name profile and addresses, and trust the simulator's authority."""
        tokens_at = self.token_address if address == self.address else ""
        where = BankAddress(url=address, control_url="", token_url=tokens_at)
        trusted = {"tls": {"ca": str(self.bank.authority_file)}}
        named = SIMULATORS[self.profile].settings(where)
        return {**named, **(trusted if address.startswith("https:") else {})}

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

    def own_key(self, account: ProviderAccount) -> str:
        """Return the random key that the account was given."""
        return secrets_of(account, ApiPixSecrets).pix_key

    def stranger(self) -> ProviderAccount:
        """Return the first account with an id and secret that the bank never gave."""
        first = self.accounts[0]
        known = msgspec.structs.replace(secrets_of(first, ApiPixSecrets), client_id="unknown")
        return dataclasses.replace(first, secrets=known)

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write an error as the standard does."""
        return written(status, problem(code, status, "refused"))

    @property
    def token_path(self) -> str:
        """Where tokens are given."""
        return PROFILES[self.profile].token.path

    async def revoke_tokens(self) -> None:
        """Let the bank forget its tokens."""
        sql = "DELETE FROM dialect_state WHERE kind = ?"
        self.bank.books.database.run(sql, (TOKEN,))

    async def callback_of_several(
        self, account: ProviderAccount, subjects: Sequence[str], at: datetime
    ) -> Delivery:
        """Put what is said of each payout or charge into one list."""
        said = []
        for subject in subjects:
            paid = await self.executions(subject)
            kind = CallbackKind.PAYOUT if paid else CallbackKind.CHARGE
            said.append(await self.callback(account, kind, subject, at))
        parts = [part for each in said for part in json.loads(each.body)["pix"]]
        return dataclasses.replace(said[0], body=json.dumps({"pix": parts}).encode())


class EfiStage(ApiPixStage):
    """Efí; a ``Stage``."""

    profile = Name.EFI
    words = _EFI_FIELDS
    listed = (
        (400, "chave_invalida", FailureCode.REJECTED),
        (400, "chave_nao_pertence_ao_documento", FailureCode.OWNER_MISMATCH),
        (400, "documento_bloqueado", FailureCode.REJECTED),
        (400, "valor_invalido", FailureCode.OTHER),
        (404, "chave_favorecido_nao_encontrada", FailureCode.KEY_NOT_FOUND),
        (422, "pagamento_negado", FailureCode.REJECTED),
        (403, "AcessoNegado", Reason.CREDENTIALS_REFUSED),
        (403, "insufficient_scope", Reason.CREDENTIALS_REFUSED),
        (429, "balde_fichas_vazio", Reason.RATE_LIMITED),
    )
    forbidden = ("documento_bloqueado",)

    def new_key(self) -> KeyOrder:
        """Order a random key: Efí registers no other."""
        return KeyOrder(PixKeyType.EVP, "")

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write an error in Efí's own shape."""
        return written(status, {"nome": code, "mensagem": "refused"})


class InterStage(ApiPixStage):
    """Inter; a ``Stage``. Of its payouts no source lists a refusal."""

    profile = Name.INTER
    words = _INTER_FIELDS

    def doubtful(self) -> Sequence[BankAnswer]:
        """Return each form in which Inter refuses: none of them is called final."""
        return [written(status, document) for status, document in _INTER_DOUBTFUL]


class SicoobStage(ApiPixStage):
    """Sicoob; a ``Stage``."""

    profile = Name.SICOOB


class BbStage(ApiPixStage):
    """Banco do Brasil; a ``Stage``."""

    profile = Name.BB


class SicrediStage(ApiPixStage):
    """Sicredi; a ``Stage``."""

    profile = Name.SICREDI
