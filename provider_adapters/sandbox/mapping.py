"""
Reads the bank's answers; tables map its words to ours.

Readers decide about unlisted words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

from gateway.banks.port.charges import Charge, ChargePayment, ChargeStatus, ChargeType, Party, Payer
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOwner, PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import (
    CHARGE_PAID,
    IN_USE,
    KEY_NOT_OWNED,
    NOT_ALLOWED,
    Accepted,
    CredentialsRefused,
    NotFound,
    Page,
    ProviderError,
    Reason,
    Refused,
    Rejected,
    Settled,
)
from gateway.banks.port.refunds import IncomingPayment, RefundStatus
from gateway.banks.port.statements import Balance, Block, BlockKind, Direction, Entry, MovementKind
from gateway.core.money import Money, Sum
from gateway.core.strict import cleaned_text, hidden_tax_number
from provider_adapters.kit import money
from provider_adapters.kit.answers import (
    Errors,
    Inside,
    ProviderAnswer,
    is_e2e_id,
    known,
    listed,
    listed_error,
    of_status,
    provider_id,
    reader,
    try_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import State
from provider_adapters.kit.payers import payer_of
from provider_adapters.kit.times import utc
from provider_adapters.sandbox import documents

KEY_TYPES: Final[Mapping[str, PixKeyType]] = {
    "cpf": PixKeyType.CPF,
    "cnpj": PixKeyType.CNPJ,
    "email": PixKeyType.EMAIL,
    "telefone": PixKeyType.PHONE,
    "aleatoria": PixKeyType.EVP,
}
KEY_STATUSES: Final[Mapping[str, PixKeyStatus]] = {
    "ATIVA": PixKeyStatus.ACTIVE,
    "PENDENTE": PixKeyStatus.PENDING,
    "CANCELADA": PixKeyStatus.CANCELED,
}
CHARGE_TYPES: Final[Mapping[str, ChargeType]] = {
    "DINAMICA": ChargeType.DYNAMIC,
    "ESTATICA": ChargeType.STATIC,
}
EXPIRED: Final = "EXPIRADA"
CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "ATIVA": ChargeStatus.ACTIVE,
    "PAGA": ChargeStatus.PAID,
    "CANCELADA": ChargeStatus.CANCELED,
    EXPIRED: ChargeStatus.ACTIVE,  # ours is active, with an expiry in the past
}
BLOCK_KINDS: Final[Mapping[str, BlockKind]] = {
    "MED": BlockKind.MED,
    "JUDICIAL": BlockKind.COURT,
    "BANCO": BlockKind.BANK,
    "CONTRATO": BlockKind.CONTRACT,
}
DIRECTIONS: Final[Mapping[str, Direction]] = {"C": Direction.CREDIT, "D": Direction.DEBIT}
KINDS: Final[Mapping[str, MovementKind]] = {
    "PIX_RECEBIDO": MovementKind.PIX,
    "PIX_ENVIADO": MovementKind.PIX,
    "DEVOLUCAO_RECEBIDA": MovementKind.PIX_RETURN,
    "DEVOLUCAO_ENVIADA": MovementKind.PIX_RETURN,
    "TARIFA": MovementKind.FEE,
    "TED_RECEBIDA": MovementKind.TED,
    "TED_ENVIADA": MovementKind.TED,
    "BOLETO_RECEBIDO": MovementKind.BOLETO,
    "BOLETO_PAGO": MovementKind.BOLETO,
}
PIX_KINDS: Final = frozenset({MovementKind.PIX, MovementKind.PIX_RETURN})
STATES: Final[Mapping[str, State]] = {
    "EM_PROCESSAMENTO": Accepted,
    "EM_ANALISE": Accepted,  # ordered, and looked into before it settles
    "LIQUIDADA": Settled,
    "DEVOLVIDA": Settled,  # a returned payout had arrived; its return is money in
    "FALHOU": Rejected,
}
REFUND_STATUSES: Final[Mapping[str, RefundStatus]] = {
    "EM_PROCESSAMENTO": RefundStatus.PROCESSING,
    "DEVOLVIDO": RefundStatus.PAID,
    "NAO_REALIZADO": RefundStatus.FAILED,
}
FAILURES: Final[Mapping[str, FailureCode]] = {
    "ACCOUNT_INVALID": FailureCode.ACCOUNT_INVALID,
    "INSUFFICIENT_FUNDS": FailureCode.INSUFFICIENT_FUNDS,
    "KEY_NOT_FOUND": FailureCode.KEY_NOT_FOUND,
    "LIMIT_EXCEEDED": FailureCode.LIMIT_EXCEEDED,
    "NOT_ALLOWED": FailureCode.REJECTED,
    "OWNER_MISMATCH": FailureCode.OWNER_MISMATCH,
    "REJECTED": FailureCode.REJECTED,
}
"""Why a payout failed."""


Document = TypeVar("Document")
Value = TypeVar("Value")

OK: Final = 200
CHANGED: Final = frozenset({200, 201})
"""A change answers 201, or 200 when it repeats one that the bank knows."""

ERRORS: Final[Errors] = {
    (404, "NOT_FOUND"): (NotFound, Reason.NOT_FOUND),
    (403, "WRONG_ACCOUNT"): (CredentialsRefused, Reason.CREDENTIALS_REFUSED),
}
"""What the bank's errors mean for every call; the status alone decides all others."""

REFUSALS: Final[Errors] = {
    (400, "KEY_NOT_OWNED"): (Refused, KEY_NOT_OWNED),
    (403, "NOT_ALLOWED"): (Refused, NOT_ALLOWED),
    (404, "KEY_NOT_FOUND"): (NotFound, Reason.NOT_FOUND),
    (409, "CHARGE_PAID"): (Refused, CHARGE_PAID),
    (409, "KEY_IN_USE"): (Refused, IN_USE),
    (409, "REFERENCE_IN_USE"): (Refused, IN_USE),
}
"""
What more of them mean for the optional operations.

Not for payouts: there, a 404 that is not the payout's own must not prove it absent.
"""

# Looking a member up by its name costs Python 3.11 a call each time.
_OTHER: Final = MovementKind.OTHER


def failure(answer: ProviderAnswer) -> ProviderError:
    """Return the error that a refusal of a required call means."""
    return listed_error(answer, error_code(answer), ERRORS)


def refusal(answer: ProviderAnswer) -> ProviderError:
    """Return the error that a refusal of an optional operation means."""
    return listed_error(answer, error_code(answer), {**ERRORS, **REFUSALS})


def error_code(answer: ProviderAnswer) -> str:
    """Return the bank's error code; empty when there is none to read."""
    document = try_document(answer, documents.REFUSAL)
    return "" if document is None else document.error.code


_read: Final = reader(failure)
read_optional: Final = reader(refusal)
"""Reads the answer to an optional operation."""


def reached(answer: ProviderAnswer) -> None:
    """Accept any answer in the bank's own shape: the bank was reached."""
    if not error_code(answer):
        raise of_status(answer)


def balance(answer: ProviderAnswer) -> Balance:
    """Read a balance."""
    return _read(answer, documents.SALDO, _balance)


def blocks(answer: ProviderAnswer) -> Sequence[Block]:
    """Read all blocks; an unknown kind counts as the bank's own."""

    def shape(document: Inside[list[documents.Bloqueio]]) -> Sequence[Block]:
        return tuple(_block(each, answer.unknown_word) for each in document.inside)

    return read_optional(answer, documents.BLOQUEIOS, shape)


def statement(answer: ProviderAnswer) -> Page[Entry]:
    """Read a page of the statement; a movement of an unknown kind does not count as Pix."""

    def shape(document: documents.Extrato) -> Page[Entry]:
        entries = tuple(_entry(entry, answer.unknown_word) for entry in document.lancamentos)
        return Page(items=entries, next_cursor=document.proximo_cursor)

    return _read(answer, documents.EXTRATO, shape)


def keys(answer: ProviderAnswer) -> Sequence[PixKey]:
    """Read every key; a key of unknown status is pending, so that no payer uses it yet."""

    def shape(document: Inside[list[documents.Chave]]) -> Sequence[PixKey]:
        return tuple(_key(key, answer.unknown_word) for key in document.inside)

    return _read(answer, documents.CHAVES, shape)


def changed_key(answer: ProviderAnswer) -> PixKey:
    """Read a key that was created or cancelled."""

    def shape(document: documents.Chave) -> PixKey:
        provider_id(document.id)
        return _key(document, answer.unknown_word)

    return read_optional(answer, documents.CHAVE, shape, CHANGED)


def owner(answer: ProviderAnswer) -> KeyOwner:
    """Read the owner of a key; a person's tax number is masked, even if the bank sent all of it."""

    def shape(document: documents.Titular) -> KeyOwner:
        return KeyOwner(
            key=document.chave,
            type=listed(KEY_TYPES, document.tipo),
            name=document.titular.nome or "",
            tax_number=hidden_tax_number(document.titular.documento or ""),
            ispb=document.ispb,
            bank_number=document.banco or "",
            bank_name=document.nome_banco or "",
            branch=document.agencia or "",
            account=document.conta or "",
        )

    return read_optional(answer, documents.TITULAR, shape)


def charge(answer: ProviderAnswer, now: datetime) -> Charge:
    """Read a charge; one that the bank calls expired has expired by ``now`` at the latest."""

    def shape(document: documents.Cobranca) -> Charge:
        return _charge(document, now, answer.unknown_word)

    return _read(answer, documents.COBRANCA, shape)


def changed_charge(answer: ProviderAnswer, now: datetime) -> Charge:
    """Read a charge that was created or cancelled, as ``charge`` does."""

    def shape(document: documents.Cobranca) -> Charge:
        return _charge(document, now, answer.unknown_word)

    return read_optional(answer, documents.COBRANCA, shape, CHANGED)


def charge_payment(answer: ProviderAnswer) -> ChargePayment:
    """Read a charge with its latest payment, and the payer that the payment names."""
    return _read(answer, documents.COBRANCA_PAGA, _charge_payment)


def paid_charge(answer: ProviderAnswer) -> ChargePayment:
    """Read the payment of a charge that is paid; one without is ``BadReply``."""
    return _read(answer, documents.COBRANCA_PAGA, _paid)


def received_payment(answer: ProviderAnswer) -> IncomingPayment:
    """Read one payment received."""
    return read_optional(answer, documents.RECEBIMENTO, _received_payment)


def received_payments(answer: ProviderAnswer) -> Page[IncomingPayment]:
    """Read a page of payments received."""

    def shape(document: documents.Recebimentos) -> Page[IncomingPayment]:
        items = tuple(_received_payment(each) for each in document.recebimentos)
        return Page(items=items, next_cursor=document.proximo_cursor)

    return read_optional(answer, documents.RECEBIMENTOS, shape)


def _balance(document: documents.Saldo) -> Balance:
    return Balance(
        balance=Sum(document.saldo_centavos),
        blocked=Sum(document.bloqueado_centavos),
        updated_at=utc(document.atualizado_em),
    )


def _block(document: documents.Bloqueio, unknown: UnknownWord) -> Block:
    kind = known(BLOCK_KINDS, document.tipo, BlockKind.BANK, unknown)
    return Block(
        kind=kind,
        value=money.above_zero(document.valor_centavos),
        since=utc(document.desde),
        reference=document.referencia or "",
    )


def _key(document: documents.Chave, unknown: UnknownWord) -> PixKey:
    status = known(KEY_STATUSES, document.situacao, PixKeyStatus.PENDING, unknown)
    return PixKey(
        provider_id=document.id,
        key=document.chave,
        type=listed(KEY_TYPES, document.tipo),
        status=status,
        created_at=utc(document.criada_em),
    )


def _charge(document: documents.Cobranca, now: datetime, unknown: UnknownWord) -> Charge:
    status = known(CHARGE_STATUSES, document.situacao, ChargeStatus.ACTIVE, unknown)
    expires_at = utc(document.expira_em)
    if document.situacao == EXPIRED:
        expires_at = min(expires_at or now, now)
    return Charge(
        reference=document.referencia,
        type=listed(CHARGE_TYPES, document.tipo),
        key=document.chave,
        value=_open(document.valor_centavos),
        status=status,
        emv=document.copia_e_cola.strip(),
        reusable=document.reutilizavel,
        payer=_payer(document.pagador),
        receiver=_party(document.recebedor),
        city=document.cidade or "",
        zip_code=document.cep or "",
        created_at=utc(document.criada_em),
        expires_at=expires_at,
    )


def _charge_payment(document: documents.CobrancaPaga) -> ChargePayment:
    paid = document.pagamento
    return ChargePayment(
        reference=document.referencia,
        value=_open(document.valor_centavos if paid is None else paid.valor_centavos),
        created_at=utc(document.criada_em),
        paid_at=None if paid is None else utc(paid.pago_em),
        e2e_id="" if paid is None else _e2e_id(paid.e2e),
        payer=None if paid is None else _payer(paid.pagador),
    )


def _paid(document: documents.CobrancaPaga) -> ChargePayment:
    if document.pagamento is None:
        raise ValueError(Reason.WRONG_SHAPE)
    return _charge_payment(document)


def _received_payment(document: documents.Recebimento) -> IncomingPayment:
    if not is_e2e_id(document.e2e):
        raise ValueError(Reason.E2E_ID_MALFORMED)
    if not 0 <= document.devolvido_centavos <= document.valor_centavos:
        raise ValueError(Reason.WRONG_SHAPE)
    return IncomingPayment(
        reference=document.referencia or "",
        e2e_id=document.e2e,
        provider_id=provider_id(document.id),
        value=money.above_zero(document.valor_centavos),
        refunded=Money(document.devolvido_centavos),
        paid_at=document.pago_em.astimezone(UTC),
        payer=_payer(document.pagador),
    )


def _entry(document: documents.Lancamento, unknown: UnknownWord) -> Entry:
    kind = KINDS.get(document.tipo)
    if kind is None:
        unknown()
    return Entry(
        provider_id=document.id,
        e2e_id=_e2e_id(document.e2e),
        direction=listed(DIRECTIONS, document.natureza),
        is_pix=kind in PIX_KINDS,
        value=Money(document.valor_centavos),
        description=cleaned_text(document.descricao),
        counterparty=_party(document.contraparte),
        created_at=document.criado_em.astimezone(UTC),
        provider_key=document.chave_idempotencia or "",
        kind=kind or _OTHER,
    )


def _e2e_id(text: str | None) -> str:
    """Return an end-to-end id; empty for an invalid one."""
    return text if text and is_e2e_id(text) else ""


def _open(centavos: int | None) -> Money | None:
    """Read the amount of a charge; None for an open amount."""
    return None if centavos is None else money.unsigned(centavos)


def _payer(person: documents.Pessoa | None) -> Payer | None:
    if person is None:
        return None
    return payer_of(person.nome, person.documento, person.mensagem)


def _party(person: documents.Pessoa | None) -> Party:
    if person is None:
        return Party()
    return Party(name=cleaned_text(person.nome), tax_number=person.documento or "")
