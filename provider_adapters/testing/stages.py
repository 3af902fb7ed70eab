"""Our simulated banks as stages for the suite, and stages by the name of their adapter."""

from __future__ import annotations

import dataclasses
import importlib
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from importlib.metadata import entry_points
from typing import Final

import msgspec

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import ChargeOrder, Payer
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind, CallbackSecrets, Delivery
from gateway.banks.port.providers import ProviderAccount, Reason
from gateway.core.account import Environment
from provider_adapters import registry
from provider_adapters.apipix.profiles import PROFILES, Name
from provider_adapters.apipix.secrets import ApiPixSecrets
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.checks import refused_if_raised
from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.kit.references import txids
from provider_adapters.kit.secrets import secrets_of
from provider_adapters.starkbank.requests import Secrets
from provider_adapters.testing import starkbank, woovi
from provider_adapters.testing.apipix.dialect import SIMULATORS, TOKEN
from provider_adapters.testing.apipix.standard import problem
from provider_adapters.testing.asaas import ASAAS_WITH_TWINS
from provider_adapters.testing.bank.dialect import BankAddress
from provider_adapters.testing.bank.stage import SimulatedStage, written
from provider_adapters.testing.sandbox import SANDBOX
from provider_adapters.testing.verify.stage import (
    GROUP,
    AnswerForm,
    BankAnswer,
    Charge,
    ChargePaid,
    Fate,
    FieldNames,
    ListedRefusal,
    Received,
    Stage,
    Thing,
)
from provider_adapters.testing.verify.trial import MakeStage, Subject
from provider_adapters.woovi.requests import WooviSecrets

_PAYOUT: Final = FieldNames(
    amount="amount", key="externalId", status="status", destination="bankCode", at="updated"
)
_STARKBANK_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="amount", at="updated"),
    PortCall.LIST_STATEMENT: FieldNames(amount="amount", at="created"),
    PortCall.GET_CHARGE: FieldNames(amount="nominalAmount", status="status", at="created"),
    PortCall.CREATE_PAYOUT: _PAYOUT,
    PortCall.FIND_PAYOUT: _PAYOUT,
}
_ISPB_ENDS: Final = 9


class StarkBankStage(SimulatedStage):
    """Stark Bank's simulator in this process, with two workspaces; a ``Stage``."""

    dialect = starkbank.STARKBANK
    account_secrets = Secrets
    words = _STARKBANK_FIELDS
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
    untold: Mapping[Fate, str] = {Fate.HELD: "the bank does not tell that it holds a transfer"}

    async def put(self, account: ProviderAccount, thing: Thing) -> str:
        """Name a payment without a charge as its tags do: they lost the capitals."""
        named = await super().put(account, thing)
        if not isinstance(thing, Received):
            return named
        return named[:_ISPB_ENDS] + named[_ISPB_ENDS:].lower()

    async def rotate_secrets(self) -> None:
        """Have the bank sign with another key; the gateway shares no secret with it."""
        starkbank.rotate(self.bank.books)

    def charge_order(self, key: str) -> ChargeOrder:
        """Return an order of an invoice: a charge without a payer cannot be cancelled."""
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


_ORDERED: Final = FieldNames(
    amount="value", key="correlationID", status="status", destination="destinationAlias"
)
_WOOVI_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
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


class WooviStage(SimulatedStage):
    """The simulated Woovi in this process, with two accounts; a ``Stage``."""

    dialect = woovi.WOOVI
    account_secrets = WooviSecrets
    words = _WOOVI_FIELDS
    listed = (
        (400, _LOW_BALANCE, FailureCode.INSUFFICIENT_FUNDS),
        (401, _WRONG_APP_ID, Reason.CREDENTIALS_REFUSED),
        (429, "TOO_MANY_REQUESTS", Reason.RATE_LIMITED),
    )
    untold: Mapping[Fate, str] = {Fate.HELD: "the bank does not tell whether it holds a payout"}

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
        woovi.rotate(self.bank.books)


_TRANSFER: Final = FieldNames(
    amount="value",
    key="externalReference",
    e2e_id="endToEndIdentifier",
    status="status",
    destination="pixAddressKey",
    at="effectiveDate",
)
_ASAAS_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="balance"),
    PortCall.LIST_STATEMENT: FieldNames(amount="value", at="date"),
    PortCall.GET_CHARGE: FieldNames(amount="value", status="status", at="dateCreated"),
    PortCall.CREATE_PAYOUT: _TRANSFER,
    PortCall.FIND_PAYOUT: _TRANSFER,
}
_USED_UP: Final = {"RateLimit-Limit": "100", "RateLimit-Remaining": "0", "RateLimit-Reset": "1"}


class AsaasStage(SimulatedStage):
    """The simulated Asaas in this process, with two accounts; a ``Stage``."""

    dialect = ASAAS_WITH_TWINS
    account_secrets = AsaasSecrets
    words = _ASAAS_FIELDS
    listed = (
        (400, "invalid_value", FailureCode.OTHER),
        (401, "access_token_not_found", Reason.CREDENTIALS_REFUSED),
        (401, "invalid_access_token", Reason.CREDENTIALS_REFUSED),
        (401, "invalid_access_token_format", Reason.CREDENTIALS_REFUSED),
        (401, "invalid_environment", Reason.CREDENTIALS_REFUSED),
    )
    untold: Mapping[Fate, str] = {Fate.HELD: "no document mentions payouts under analysis"}

    def new_secret(self) -> bytes:
        """Make a token of the length that the bank asks for."""
        return secrets.token_hex(32).encode()

    def new_key(self) -> KeyOrder:
        """Return a random key: the bank makes no other."""
        return KeyOrder(PixKeyType.EVP, "")

    def charge_order(self, key: str) -> ChargeOrder:
        """Return an order with a new payer: the bank makes no charge without one."""
        payer = Payer(name="Maria Silva", tax_number=f"{secrets.randbelow(10**11):011}")
        return dataclasses.replace(super().charge_order(key), payer=payer)

    def stranger(self) -> ProviderAccount:
        """Return the first account with a key that the bank never gave."""
        unknown = AsaasSecrets(api_key=f"$aact_hmlg_{'0' * 48}")
        return dataclasses.replace(self.accounts[0], secrets=unknown)

    def refusals(self) -> Sequence[ListedRefusal]:
        """Return the refusals of transfers listed in the README."""
        used_up = BankAnswer(status=429, headers=_USED_UP)
        name = "429 RateLimit-Remaining: 0"
        limited = ListedRefusal(name=name, answer=used_up, not_sent=Reason.RATE_LIMITED)
        return [*super().refusals(), limited]

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write the bank's error document."""
        return written(status, {"errors": [{"code": code, "description": "Recusado"}]})


_APIPIX_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_CHARGE: FieldNames(amount="original", status="status", at="criacao"),
}
_EFI_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    **_APIPIX_FIELDS,
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
    **_APIPIX_FIELDS,
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


class ApiPixStage(SimulatedStage):
    """
    A bank of API Pix in this process, with two accounts.

    Attributes:
        profile: Which one.
    """

    profile: Name
    words = _APIPIX_FIELDS
    untold: Mapping[Fate, str] = {
        fate: f"the bank tells of no payout that {fate.value}" for fate in (Fate.HELD, Fate.RETURNS)
    }

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
        """The path of the token endpoint."""
        return PROFILES[self.profile].token.path

    async def revoke_tokens(self) -> None:
        """Let the bank forget its tokens."""
        sql = "DELETE FROM dialect_state WHERE kind = ?"
        self.bank.books.database.run(sql, (TOKEN,))

    async def callback_of_several(
        self, account: ProviderAccount, subjects: Sequence[str], at: datetime
    ) -> Delivery:
        """Put the event of each payout or charge into one list."""
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


_SANDBOX_PAYOUT: Final = FieldNames(
    amount="valor_centavos",
    key="chave_idempotencia",
    e2e_id="e2e",
    status="situacao",
    destination="chave",
    at="liquidada_em",
)
_SANDBOX_FIELDS: Final[Mapping[PortCall, FieldNames]] = {
    PortCall.GET_BALANCE: FieldNames(amount="saldo_centavos", at="atualizado_em"),
    PortCall.LIST_STATEMENT: FieldNames(amount="valor_centavos", e2e_id="e2e", at="criado_em"),
    PortCall.GET_CHARGE: FieldNames(amount="valor_centavos", status="situacao", at="criada_em"),
    PortCall.CREATE_PAYOUT: _SANDBOX_PAYOUT,
    PortCall.FIND_PAYOUT: _SANDBOX_PAYOUT,
}


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
    words = _SANDBOX_FIELDS
    listed = (
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


STAGES: Final[Mapping[str, type[Stage]]] = {
    "sandbox": SandboxStage,
    "starkbank": StarkBankStage,
    "asaas": AsaasStage,
    "apipix": EfiStage,
    "woovi": WooviStage,
}


def subject_of(adapter: str, stage: str = "") -> Subject:
    """
    Find an adapter and its stage.

    Args:
        adapter: Its name.
        stage: ``MODULE:NAME`` of the stage's class; empty for the class that its package
            names in the entry-point group ``pixgate.provider_stages``.

    Raises:
        AdapterRefused: there is no such adapter or stage, or it does not load.
    """
    factory = registry.find(adapter)
    if not stage and adapter in STAGES:
        return Subject(name=adapter, factory=factory, make_stage=STAGES[adapter])
    others = [point.value for point in entry_points(group=GROUP, name=adapter)]
    where = next(filter(None, [stage, *others]), "")
    if not where:
        message = (
            f"adapter {adapter!r} has no stage: name one in the entry-point group {GROUP},"
            " or with --stage MODULE:NAME"
        )
        raise AdapterRefused(message)
    module, _, name = where.partition(":")
    with refused_if_raised(f"stage {where} does not load: it"):
        made: MakeStage = getattr(importlib.import_module(module), name)
    return Subject(name=adapter, factory=factory, make_stage=made)
