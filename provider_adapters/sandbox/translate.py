"""The bank's words into ours, for reads; nothing here asks anybody anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

import msgspec

from gateway.domain.bank.balances import Balance
from gateway.domain.bank.charges import (
    Charge,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.domain.bank.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.domain.bank.providers import CredentialsRefused, NotFound, Page, ProviderError
from gateway.domain.bank.statements import Direction, Entry, MovementKind
from gateway.domain.kernel.money import Money
from gateway.net.client.messages import ProviderAnswer
from gateway.net.client.reasons import Reason
from provider_adapters._shared import faults
from provider_adapters._shared.documents import part_of, understood
from provider_adapters.sandbox import documents as said

Document = TypeVar("Document")
Value = TypeVar("Value")
Unseen = Callable[[], None]
"""Hears that the bank used a word not listed here."""

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
    EXPIRED: ChargeStatus.ACTIVE,  # ours is active with its expiry behind us
}
DIRECTIONS: Final[Mapping[str, Direction]] = {"C": Direction.CREDIT, "D": Direction.DEBIT}
IS_PIX: Final[Mapping[str, bool]] = {
    "PIX_RECEBIDO": True,
    "PIX_ENVIADO": True,
    "DEVOLUCAO_RECEBIDA": True,
    "DEVOLUCAO_ENVIADA": True,
    "TARIFA": False,
    "TED_RECEBIDA": False,
    "TED_ENVIADA": False,
    "BOLETO_RECEBIDO": False,
    "BOLETO_PAGO": False,
}
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
ERRORS: Final[Mapping[tuple[int, str], tuple[type[ProviderError], Reason]]] = {
    (404, "NOT_FOUND"): (NotFound, Reason.NOT_FOUND),
    (403, "WRONG_ACCOUNT"): (CredentialsRefused, Reason.CREDENTIALS_REFUSED),
}
"""What the bank's errors mean for a read; all others go by their status."""

# Looking a member up by its name costs Python 3.11 a call each time.
_OTHER: Final = MovementKind.OTHER


def failure(answer: ProviderAnswer) -> ProviderError:
    """Name what an answer that is not 200 means."""
    kind = ERRORS.get((answer.status, error_code(answer)))
    if kind is None:
        return faults.of_status(answer)
    return kind[0](kind[1], http_status=answer.status)


def error_code(answer: ProviderAnswer) -> str:
    """Return the bank's code of an error; empty when it cannot be read."""
    refusal = part_of(answer, said.REFUSAL)
    return "" if refusal is None else refusal.error.code


def reached(answer: ProviderAnswer) -> None:
    """Accept any answer in the bank's own words: it is there."""
    if not error_code(answer):
        raise faults.of_status(answer)


def balance(answer: ProviderAnswer) -> Balance:
    """Read a balance."""
    return _read(answer, said.SALDO, _balance)


def keys(answer: ProviderAnswer, unseen: Unseen) -> Sequence[PixKey]:
    """Read every key; one of an unknown status may not be paid to yet."""

    def shape(document: said.Chaves) -> Sequence[PixKey]:
        return tuple(_key(key, unseen) for key in document.chaves)

    return _read(answer, said.CHAVES, shape)


def charge(answer: ProviderAnswer, now: datetime, unseen: Unseen) -> Charge:
    """Read a charge; one the bank calls expired is so by ``now``, whatever our clock says."""

    def shape(document: said.Cobranca) -> Charge:
        return _charge(document, now, unseen)

    return _read(answer, said.COBRANCA, shape)


def charge_payment(answer: ProviderAnswer) -> ChargePayment:
    """Read a charge as a transaction; the payer as the payment names him."""
    return _read(answer, said.COBRANCA_PAGA, _payment)


def statement(answer: ProviderAnswer, unseen: Unseen) -> Page[Entry]:
    """Read a page of the statement; a movement of an unknown kind is not taken for Pix."""

    def shape(document: said.Extrato) -> Page[Entry]:
        entries = tuple(_entry(entry, unseen) for entry in document.lancamentos)
        return Page(items=entries, next_cursor=document.proximo_cursor)

    return _read(answer, said.EXTRATO, shape)


def utc(instant: datetime | None) -> datetime | None:
    """Bring an instant to UTC; absent stays absent."""
    return instant if instant is None or instant.tzinfo is UTC else instant.astimezone(UTC)


def _read(
    answer: ProviderAnswer,
    decoder: msgspec.json.Decoder[Document],
    shape: Callable[[Document], Value],
) -> Value:
    """Read an answer that must be 200."""
    if answer.status != 200:  # noqa: PLR2004 - the one status of a good read
        raise failure(answer)
    return understood(answer, decoder, shape)


def _balance(document: said.Saldo) -> Balance:
    return Balance(
        balance=Money(document.saldo_centavos),
        blocked=Money(document.bloqueado_centavos),
        updated_at=utc(document.atualizado_em),
    )


def _key(document: said.Chave, unseen: Unseen) -> PixKey:
    status = KEY_STATUSES.get(document.situacao)
    if status is None:
        unseen()
    return PixKey(
        provider_id=document.id,
        key=document.chave,
        type=_listed(KEY_TYPES, document.tipo),
        status=status or PixKeyStatus.PENDING,
        created_at=utc(document.criada_em),
    )


def _charge(document: said.Cobranca, now: datetime, unseen: Unseen) -> Charge:
    status = CHARGE_STATUSES.get(document.situacao)
    if status is None:
        unseen()
    expires_at = utc(document.expira_em)
    if document.situacao == EXPIRED:
        expires_at = min(expires_at or now, now)
    return Charge(
        reference=document.referencia,
        type=_listed(CHARGE_TYPES, document.tipo),
        key=document.chave,
        value=_money(document.valor_centavos),
        status=status or ChargeStatus.ACTIVE,
        emv=document.copia_e_cola,
        reusable=document.reutilizavel,
        payer=_payer(document.pagador),
        receiver=_party(document.recebedor),
        city=document.cidade or "",
        zip_code=document.cep or "",
        created_at=utc(document.criada_em),
        expires_at=expires_at,
    )


def _payment(document: said.CobrancaPaga) -> ChargePayment:
    paid = document.pagamento
    return ChargePayment(
        reference=document.referencia,
        value=_money(document.valor_centavos if paid is None else paid.valor_centavos),
        created_at=utc(document.criada_em),
        paid_at=None if paid is None else utc(paid.pago_em),
        e2e_id="" if paid is None else paid.e2e or "",
        payer=None if paid is None else _payer(paid.pagador),
    )


def _entry(document: said.Lancamento, unseen: Unseen) -> Entry:
    kind = KINDS.get(document.tipo)
    if kind is None:
        unseen()
    return Entry(
        provider_id=document.id,
        e2e_id=document.e2e or "",
        direction=_listed(DIRECTIONS, document.natureza),
        is_pix=IS_PIX.get(document.tipo, False),
        value=Money(document.valor_centavos),
        description=document.descricao or "",
        counterparty=_party(document.contraparte),
        created_at=document.criado_em.astimezone(UTC),
        provider_key=document.chave_idempotencia or "",
        kind=kind or _OTHER,
    )


def _listed(words: Mapping[str, Value], word: str) -> Value:
    """Look up a word that has no careful default."""
    value = words.get(word)
    if value is None:
        raise ValueError(Reason.UNKNOWN_STATUS)
    return value


def _money(centavos: int | None) -> Money | None:
    return None if centavos is None else _positive(centavos)


def _positive(centavos: int) -> Money:
    """Read an amount that has no sign."""
    if centavos < 0:
        raise ValueError(Reason.WRONG_SHAPE)
    return Money(centavos)


def _payer(person: said.Pessoa | None) -> Payer | None:
    if person is None:
        return None
    return Payer(
        name=person.nome or "", tax_number=person.documento or "", message=person.mensagem or ""
    )


def _party(person: said.Pessoa | None) -> Party:
    if person is None:
        return Party()
    return Party(name=person.nome or "", tax_number=person.documento or "")
