"""The bank's words about keys, charges and what came in, where they were ordered, into ours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TypeVar

from gateway.domain.bank.charges import Charge, Payer
from gateway.domain.bank.incoming import IncomingPayment
from gateway.domain.bank.pix_keys import KeyOwner, PixKey, PixKeyStatus, hidden_tax_number
from gateway.domain.bank.provider_options import CHARGE_PAID, IN_USE, NOT_ALLOWED
from gateway.domain.bank.providers import NotFound, Page, ProviderError, Refused
from gateway.domain.kernel.money import Money
from gateway.net.client.messages import ProviderAnswer
from gateway.net.client.reasons import Reason
from provider_adapters._shared import integrity
from provider_adapters._shared.documents import understood
from provider_adapters.sandbox import option_documents as said
from provider_adapters.sandbox import translate
from provider_adapters.sandbox.documents import Chave, Pessoa

Value = TypeVar("Value")

REFUSALS: Final[Mapping[tuple[int, str], str]] = {
    (403, "NOT_ALLOWED"): NOT_ALLOWED,
    (409, "CHARGE_PAID"): CHARGE_PAID,
    (409, "KEY_IN_USE"): IN_USE,
    (409, "REFERENCE_IN_USE"): IN_USE,
}
"""Why the bank says no to what is no payout; all others go by their status."""

_GOOD: Final = frozenset({200, 201})
_OK: Final = 200


def key(answer: ProviderAnswer, unseen: translate.Unseen) -> PixKey:
    """Read one key, made or given up; one of an unknown status may not be paid to yet."""

    def shape(document: Chave) -> PixKey:
        status = translate.KEY_STATUSES.get(document.situacao)
        if status is None:
            unseen()
        return PixKey(
            provider_id=integrity.provider_id(document.id),
            key=document.chave,
            type=listed(translate.KEY_TYPES, document.tipo),
            status=status or PixKeyStatus.PENDING,
            created_at=translate.utc(document.criada_em),
        )

    return understood(good(answer), said.CHAVE, shape, _GOOD)


def owner(answer: ProviderAnswer) -> KeyOwner:
    """Read who is behind a key; a person's tax number is hidden, whoever the bank is."""

    def shape(document: said.Titular) -> KeyOwner:
        return KeyOwner(
            key=document.chave,
            type=listed(translate.KEY_TYPES, document.tipo),
            name=document.titular.nome or "",
            tax_number=hidden_tax_number(document.titular.documento or ""),
            ispb=document.ispb,
            bank_number=document.banco or "",
            bank_name=document.nome_banco or "",
            branch=document.agencia or "",
            account=document.conta or "",
        )

    return understood(good(answer), said.TITULAR, shape)


def charge(answer: ProviderAnswer, now: datetime, unseen: translate.Unseen) -> Charge:
    """Read a charge, made or cancelled."""
    read = ProviderAnswer(status=_OK, headers=good(answer).headers, body=answer.body)
    return translate.charge(read, now, unseen)


def received(answer: ProviderAnswer) -> IncomingPayment:
    """Read one payment."""
    return understood(good(answer), said.RECEBIMENTO, _payment)


def received_page(answer: ProviderAnswer) -> Page[IncomingPayment]:
    """Read a page of payments."""

    def shape(document: said.Recebimentos) -> Page[IncomingPayment]:
        items = tuple(_payment(each) for each in document.recebimentos)
        return Page(items=items, next_cursor=document.proximo_cursor)

    return understood(good(answer), said.RECEBIMENTOS, shape)


def good(answer: ProviderAnswer) -> ProviderAnswer:
    """Let an answer through that is no refusal; raise what it means otherwise."""
    if answer.status in _GOOD:
        return answer
    raise failure(answer)


def failure(answer: ProviderAnswer) -> ProviderError:
    """Name what an answer means that is not good."""
    pair = (answer.status, translate.error_code(answer))
    if pair == (404, "KEY_NOT_FOUND"):
        return NotFound(Reason.NOT_FOUND, http_status=answer.status)
    if pair in REFUSALS:
        return Refused(REFUSALS[pair], http_status=answer.status)
    return translate.failure(answer)


def listed(words: Mapping[str, Value], word: str) -> Value:
    """Look up a word that has no careful default."""
    if word not in words:
        raise ValueError(Reason.UNKNOWN_STATUS)
    return words[word]


def above_zero(centavos: int) -> Money:
    """Read an amount that moved."""
    if centavos <= 0:
        raise ValueError(Reason.WRONG_SHAPE)
    return Money(centavos)


def _payment(document: said.Recebimento) -> IncomingPayment:
    if not integrity.is_e2e_id(document.e2e):
        raise ValueError(Reason.E2E_ID_MALFORMED)
    if not 0 <= document.devolvido_centavos <= document.valor_centavos:
        raise ValueError(Reason.WRONG_SHAPE)
    return IncomingPayment(
        reference=document.referencia or "",
        e2e_id=document.e2e,
        provider_id=integrity.provider_id(document.id),
        value=above_zero(document.valor_centavos),
        refunded=Money(document.devolvido_centavos),
        paid_at=document.pago_em.astimezone(UTC),
        payer=_payer(document.pagador),
    )


def _payer(person: Pessoa | None) -> Payer | None:
    if person is None:
        return None
    return Payer(
        name=person.nome or "", tax_number=person.documento or "", message=person.mensagem or ""
    )
