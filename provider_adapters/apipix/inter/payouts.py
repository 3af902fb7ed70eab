"""
Payouts of Inter: orders in its words, and its answers as outcomes.

No source lists a refusal that proves that nothing was paid, so that an order is accepted or
unknown. The answer to an order names no amount, recipient or key: nothing of it can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from gateway.domain.bank.payout_orders import (
    BankDestination,
    FailureCode,
    PayoutOrder,
    PixDestination,
)
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import Accepted, Outcome, Rejected, Settled, Unknown
from gateway.domain.kernel.money import Money
from provider_adapters.apipix.inter import documents
from provider_adapters.apipix.inter.words import (
    ACCOUNT_TYPES,
    FAILURES,
    ORDERED,
    PAID,
    PROCESSING,
    ZONE,
)
from provider_adapters.kit import banks, money
from provider_adapters.kit.answers import ProviderAnswer, is_e2e_id, provider_id, read_document
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.times import instant

_LONGEST_TEXT: Final = 140
_ISPB_DIGITS: Final = 8
_DIGITS: Final = re.compile(r"\d{1,20}", re.ASCII)
_ACCOUNT: Final = re.compile(r"\d{1,20}[\dXx]", re.ASCII)


def document_of(order: PayoutOrder) -> Mapping[str, object]:
    """
    Write an order, without a day: it is paid today.

    Raises:
        NeverSendable: There is no such bank, or the bank has no place for the text.
    """
    if len(order.description) > _LONGEST_TEXT:
        raise NeverSendable
    described = {"descricao": order.description} if order.description else {}
    amount = {"valor": money.as_number(order.value)}
    return {**amount, **described, "destinatario": _recipient(order)}


def _recipient(order: PayoutOrder) -> Mapping[str, object]:
    to = order.destination
    if isinstance(to, PixDestination):
        return {"tipo": "CHAVE", "chave": to.key}
    return _bank_account(to)


def _bank_account(to: BankDestination) -> Mapping[str, object]:
    """Write an account, the check digit of its branch left out and that of its number not."""
    number = to.bank_number
    bank = banks.by_ispb(number) if len(number) == _ISPB_DIGITS else banks.by_compe(number)
    branch, account = to.branch.partition("-")[0], to.account.replace("-", "")
    if bank is None or not to.name or to.account_type not in ACCOUNT_TYPES:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)
    if _DIGITS.fullmatch(branch) is None or _ACCOUNT.fullmatch(account) is None:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)
    return {
        "tipo": "DADOS_BANCARIOS",
        "nome": to.name,
        "cpfCnpj": to.tax_number,
        "instituicaoFinanceira": {"ispb": bank.ispb},
        "agencia": branch,
        "contaCorrente": account,
        "tipoConta": ACCOUNT_TYPES[to.account_type],
    }


def created(answer: ProviderAnswer, unknown: UnknownWord) -> Outcome:
    """Read the answer to an order; a refusal is raised, and becomes Unknown."""

    def shape(made: documents.Pedido) -> Outcome:
        if made.end_to_end_id and not is_e2e_id(made.end_to_end_id):
            return Unknown(answer.evidence(Reason.E2E_ID_MALFORMED))
        reason = Reason.ANSWERED
        if made.tipo_retorno not in ORDERED:
            unknown()
            reason = Reason.UNKNOWN_STATUS
        return Accepted(
            evidence=answer.evidence(reason),
            provider_id=_named(made.codigo_solicitacao),
            e2e_id=made.end_to_end_id or "",
        )

    return read_document(answer, documents.PEDIDO, shape)


def found(answer: ProviderAnswer, asked: str, unknown: UnknownWord) -> Outcome:
    """Read a payout that was looked up by the bank's id; an unknown state is Unknown."""

    def shape(document: documents.Consulta) -> Outcome:
        seen = document.transacao_pix
        if seen.codigo_solicitacao != asked:
            return Unknown(answer.evidence(Reason.KEY_MISMATCH))
        if seen.end_to_end and not is_e2e_id(seen.end_to_end):
            return Unknown(answer.evidence(Reason.E2E_ID_MALFORMED))
        outcome = _outcome(answer, seen)
        if outcome is None:
            unknown()
            return Unknown(answer.evidence(Reason.UNKNOWN_STATUS))
        return outcome

    return read_document(answer, documents.CONSULTA, shape)


def _outcome(answer: ProviderAnswer, seen: documents.TransacaoPix) -> Outcome | None:
    """Read a payout's state; None for one that we do not know."""
    value, evidence = _above_zero(seen.valor), answer.evidence(Reason.ANSWERED)
    known, e2e_id = _named(seen.codigo_solicitacao), seen.end_to_end or ""
    if seen.status in PAID:
        at = _moment(seen.data_hora_movimento)
        return Settled(
            evidence=evidence, value=value, provider_id=known, e2e_id=e2e_id, settled_at=at
        )
    if seen.status in PROCESSING:
        return Accepted(evidence=evidence, provider_id=known, e2e_id=e2e_id, value=value)
    failure = FAILURES.get(seen.status)
    if failure is None:
        return None
    return Rejected(evidence=answer.evidence(Reason.REFUSED), failure=failure)


def _named(code: str) -> str:
    """Return the bank's id of a payout; without one it could never be looked up."""
    if not code:
        raise ValueError(Reason.WRONG_SHAPE)
    return provider_id(code)


def _above_zero(reais: money.JsonNumber) -> Money:
    value = money.from_json(reais)
    if value.centavos <= 0:
        raise ValueError(Reason.WRONG_SHAPE)
    return value


def _moment(text: str | None) -> datetime | None:
    """Read when money moved, in the bank's zone unless it names one."""
    return instant(text, ZONE) if text else None
