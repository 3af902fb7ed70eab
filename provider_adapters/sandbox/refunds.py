"""
The bank's answers about refunds, as outcomes and as values.

Only listed answers to an order are returned. All others are raised, and the
client turns them into Unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Final

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    ABOVE_PAYMENT,
    IN_USE,
    NOT_ALLOWED,
    TOO_LATE,
    Outcome,
    Page,
    Reason,
    Rejected,
)
from gateway.banks.port.refunds import Refund, RefundOrder, RefundStatus
from gateway.core.strict import cleaned_text
from provider_adapters.kit.answers import (
    ProviderAnswer,
    is_e2e_id,
    known,
    provider_id,
    read_document,
)
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.money import above_zero
from provider_adapters.kit.outcomes import Expected, outcome_of, refund_shown, refused_before
from provider_adapters.kit.times import utc
from provider_adapters.sandbox import documents, mapping
from provider_adapters.sandbox.mapping import REFUND_STATUSES
from provider_adapters.sandbox.payouts import REFUSED_BEFORE

REJECTIONS: Final[Mapping[tuple[int, str], tuple[str, FailureCode]]] = {
    (400, "ABOVE_PAYMENT"): (ABOVE_PAYMENT, FailureCode.OTHER),
    (400, "INSUFFICIENT_FUNDS"): (Reason.REFUSED, FailureCode.INSUFFICIENT_FUNDS),
    (400, "PAYMENT_TOO_OLD"): (TOO_LATE, FailureCode.OTHER),
    (400, "REJECTED"): (Reason.REFUSED, FailureCode.REJECTED),
    (403, "NOT_ALLOWED"): (NOT_ALLOWED, FailureCode.REJECTED),
    (422, "KEY_REUSED"): (IN_USE, FailureCode.OTHER),
}
"""
The only answers that prove that this order moved no money and never will.

A 404 is not among them: the bank also sends one after the refund was executed.
Whether the payment exists is checked before.
"""
_FORBIDDEN: Final = 403


def created(answer: ProviderAnswer, order: RefundOrder) -> Outcome:
    """
    Read the answer to an order.

    Raises:
        ProviderError: The answer is none of those listed.
    """
    code = mapping.error_code(answer)
    if (answer.status, code) in REJECTIONS:
        reason, failed = REJECTIONS[answer.status, code]
        forbidden = answer.status == _FORBIDDEN
        evidence = answer.evidence(reason, code)
        return Rejected(evidence=evidence, failure=failed, forbidden=forbidden)
    refused = refused_before(answer, code, REFUSED_BEFORE)
    if refused is not None:
        return refused

    def shape(document: documents.Devolucao) -> Outcome:
        return _outcome(answer, _refund(document, answer.unknown_word), order)

    return read_document(answer, documents.DEVOLUCAO, shape, mapping.CHANGED)


def found(answer: ProviderAnswer, provider_key: str) -> Refund:
    """
    Read the answer to a lookup.

    Raises:
        ProviderError: NotFound only for the bank's own error code for it;
            BadReply for a refund of another key.
    """

    def shape(document: documents.Devolucao) -> Refund:
        refund = _refund(document, answer.unknown_word)
        if refund.provider_key != provider_key:
            raise ValueError(Reason.KEY_MISMATCH)
        return refund

    return mapping.read_optional(answer, documents.DEVOLUCAO, shape)


def page(answer: ProviderAnswer) -> Page[Refund]:
    """Read a page of refunds."""

    def shape(document: documents.Devolucoes) -> Page[Refund]:
        items = tuple(_refund(each, answer.unknown_word) for each in document.devolucoes)
        return Page(items=items, next_cursor=document.proximo_cursor)

    return mapping.read_optional(answer, documents.DEVOLUCOES, shape)


def _outcome(answer: ProviderAnswer, refund: Refund, order: RefundOrder) -> Outcome:
    """Read a refund's state; Unknown for a refund that is not the one ordered."""
    same_payment = refund.payment_e2e_id == order.payment_e2e_id
    problem = None if same_payment else Reason.E2E_ID_MALFORMED
    expected = Expected(order.provider_key, order.value)
    return outcome_of(answer, refund_shown(refund, problem), expected, ordered=True)


def _refund(document: documents.Devolucao, unknown: UnknownWord) -> Refund:
    """Read a refund; one of unknown state is still processing."""
    status = known(REFUND_STATUSES, document.situacao, RefundStatus.PROCESSING, unknown)
    for e2e_id in (document.id_devolucao, document.recebimento.e2e):
        if e2e_id is not None and not is_e2e_id(e2e_id):
            raise ValueError(Reason.E2E_ID_MALFORMED)
    return Refund(
        reference=document.referencia or "",
        provider_key=document.chave_idempotencia or "",
        provider_id=provider_id(document.id),
        payment_e2e_id=document.recebimento.e2e,
        payment_reference=document.recebimento.referencia or "",
        return_id=document.id_devolucao or "",
        value=above_zero(document.valor_centavos),
        description=cleaned_text(document.descricao),
        status=status,
        failure=_failure(document),
        created_at=document.criada_em.astimezone(UTC),
        settled_at=utc(document.liquidada_em),
    )


def _failure(document: documents.Devolucao) -> FailureCode | None:
    """Return why the refund failed; None unless it did."""
    if REFUND_STATUSES.get(document.situacao) is not RefundStatus.FAILED:
        return None
    code = "" if document.falha is None else document.falha.code
    return FailureCode.REJECTED if code == "REJECTED" else FailureCode.OTHER
