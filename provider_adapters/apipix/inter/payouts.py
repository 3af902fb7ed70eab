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

from gateway.banks.port.payout_orders import (
    BankDestination,
    FailureCode,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.providers import Accepted, Outcome, Reason, Settled, Unknown
from provider_adapters.apipix.access import reading
from provider_adapters.apipix.inter import documents
from provider_adapters.apipix.inter.words import ACCOUNT_TYPES, FAILURES, ORDERED, STATES, ZONE
from provider_adapters.kit import banks, money
from provider_adapters.kit.answers import Inside, ProviderAnswer, is_e2e_id, provider_id
from provider_adapters.kit.outcomes import Expected, NeverSendable, Shown, outcome_of
from provider_adapters.kit.times import instant

_LONGEST_TEXT: Final = 140
_ANYTHING: Final = Expected("")
"""Neither key nor amount is known: the bank's id is compared."""
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
    ispb = banks.ispb_of(to.bank_number)
    branch, account = to.branch.partition("-")[0], to.account.replace("-", "")
    if not to.name or to.account_type not in ACCOUNT_TYPES:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)
    if _DIGITS.fullmatch(branch) is None or _ACCOUNT.fullmatch(account) is None:
        raise NeverSendable(FailureCode.ACCOUNT_INVALID)
    return {
        "tipo": "DADOS_BANCARIOS",
        "nome": to.name,
        "cpfCnpj": to.tax_number,
        "instituicaoFinanceira": {"ispb": ispb},
        "agencia": branch,
        "contaCorrente": account,
        "tipoConta": ACCOUNT_TYPES[to.account_type],
    }


def created(answer: ProviderAnswer) -> Outcome:
    """Read the answer to an order; a refusal is raised, and becomes Unknown."""

    def shape(made: documents.Pedido) -> Outcome:
        if made.end_to_end_id and not is_e2e_id(made.end_to_end_id):
            return Unknown(answer.evidence(Reason.E2E_ID_MALFORMED))
        reason = Reason.ANSWERED
        if made.tipo_retorno not in ORDERED:
            answer.unknown_word()
            reason = Reason.UNKNOWN_STATUS
        return Accepted(
            evidence=answer.evidence(reason),
            provider_id=_named(made.codigo_solicitacao),
            e2e_id=made.end_to_end_id or "",
        )

    return reading(documents.PEDIDO, shape)(answer)


def found(answer: ProviderAnswer, asked: str) -> Outcome:
    """Read a payout that was looked up by the bank's id; an unknown state is Unknown."""

    def shape(document: Inside[documents.TransacaoPix]) -> Outcome:
        seen = document.inside
        is_paid = STATES.get(seen.status) is Settled
        shown = Shown(
            state=STATES.get(seen.status),
            provider_key=None,
            value=money.above_zero(seen.valor),
            provider_id=_named(seen.codigo_solicitacao),
            e2e_id=seen.end_to_end or None,
            problem=None if seen.codigo_solicitacao == asked else Reason.KEY_MISMATCH,
            settled_at=_moment(seen.data_hora_movimento) if is_paid else None,
            failure=FAILURES.get(seen.status, FailureCode.OTHER),
        )
        return outcome_of(answer, shown, _ANYTHING, ordered=False)

    return reading(documents.CONSULTA, shape)(answer)


def _named(code: str) -> str:
    """Return the bank's id of a payout; without one it could never be looked up."""
    if not code:
        raise ValueError(Reason.WRONG_SHAPE)
    return provider_id(code)


def _moment(text: str | None) -> datetime | None:
    """Read when money moved, in the bank's zone unless it names one."""
    return instant(text, ZONE) if text else None
