"""Payouts as a table for spreadsheets set to Portuguese."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gateway.banks.port.payout_orders import FailureCode, PayoutMethod
from gateway.core.money import Money
from gateway.payouts.documents import FoundPayout
from gateway.payouts.model import Certainty, Payout, PayoutState, certainty_of
from gateway.reports.csv import brazilian, brazilian_head
from gateway.reports.texts import amount, second, text_cell

_COLUMNS: Final = (
    *("Criado em (Brasília)", "Conta", "Identificador da conta", "Referência", "Forma"),
    *("Valor", "Favorecido", "CPF/CNPJ", "Situação", "Em revisão", "Falha", "Banco"),
    *("Solicitado por", "ID da transação (E2E)", "Liquidado em (Brasília)"),
    *("Valor movimentado pelo banco", "Diferença", "Valor devolvido"),
)
_METHODS: Final[Mapping[PayoutMethod, str]] = {
    PayoutMethod.PIX: "Chave Pix",
    PayoutMethod.BANK_ACCOUNT: "Conta bancária",
}
_PROVEN: Final[Mapping[Certainty, str]] = {
    Certainty.NOT_SENT: "certamente não enviado",
    Certainty.NOT_EXECUTED: "não executado pelo banco",
    Certainty.DECIDED_UNPAID: "não pago, decidido por duas pessoas",
}
"""Where the state alone does not say what is proven."""
_STATES: Final[Mapping[PayoutState, str]] = {
    PayoutState.HELD: "retido",
    PayoutState.SENDING: "enviando",
    PayoutState.UNKNOWN: "resultado desconhecido",
    PayoutState.ACCEPTED: "aceito pelo banco",
    PayoutState.PAID: "liquidado",
    PayoutState.REJECTED: "recusado",
    PayoutState.FAILED: "falhou depois de aceito",
}
"""As the panel says them: what is proven, not what is hoped."""

_FAILURES: Final[Mapping[FailureCode, str]] = {
    FailureCode.REJECTED: "recusado pelo banco",
    FailureCode.INSUFFICIENT_FUNDS: "sem saldo",
    FailureCode.KEY_NOT_FOUND: "chave não existe",
    FailureCode.ACCOUNT_INVALID: "conta inválida",
    FailureCode.OWNER_MISMATCH: "outro titular",
    FailureCode.LIMIT_EXCEEDED: "acima do limite",
    FailureCode.RETURNED: "devolvido pelo outro banco",
    FailureCode.NOT_SENT: "não enviado no seu dia",
    FailureCode.OTHER: "outro motivo",
}

HEAD: Final = brazilian_head(_COLUMNS)
"""What the table begins with."""


def lines(found: Iterable[FoundPayout]) -> bytes:
    """Write a line for each payout: semicolons, decimal commas; no formulas, CPFs masked."""
    return brazilian(map(_line, found))


def _line(found: FoundPayout) -> Sequence[str]:
    payout, (name, tax_number) = found.payout, found.payout.payee
    by = found.ordered_by.name if found.ordered_by else ""
    return (
        second(payout.created_at),
        text_cell(found.account_name),
        text_cell(payout.account_id),
        text_cell(payout.reference),
        _METHODS[payout.method],
        amount(payout.value),
        text_cell(name),
        text_cell(tax_number),
        _outcome(found),
        "sim" if payout.review else "não",
        _why(payout),
        text_cell(payout.provider),
        text_cell(by or payout.client_id),
        text_cell(payout.e2e_id),
        second(payout.settled_at) if payout.settled_at else "",
        *_moved(payout),
        amount(found.returned) if payout.state is PayoutState.PAID else "",
    )


def _why(payout: Payout) -> str:
    """Write the reason of failure, also where one public code covers two proofs."""
    if payout.failure is None:
        return ""
    word = certainty_of(payout)
    if word is Certainty.NOT_EXECUTED:
        return "não executado no seu dia"
    if word is Certainty.DECIDED_UNPAID:
        return _PROVEN[word]
    return _FAILURES[payout.failure.code]


def _moved(payout: Payout) -> tuple[str, str]:
    """Write the amount moved of a settled payout, and its difference from the order."""
    if payout.state is not PayoutState.PAID:
        return "", ""
    moved = payout.moved_value
    return amount(moved), amount(Money(moved.centavos - payout.value.centavos))


def _outcome(found: FoundPayout) -> str:
    """Write the proven outcome of a payout."""
    payout = found.payout
    if found.returned.centavos:
        return (
            "devolvido"
            if found.returned.centavos >= payout.moved_value.centavos
            else "devolvido em parte"
        )
    word = certainty_of(payout)
    return _PROVEN[word] if word in _PROVEN else _STATES[payout.state]
