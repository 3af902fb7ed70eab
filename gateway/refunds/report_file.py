"""Payments received as a table for spreadsheets set to Portuguese."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gateway.banks.port.refunds import IncomingPayment, IncomingStatus
from gateway.core.strict import hidden_tax_number
from gateway.reports.csv import brazilian, brazilian_head
from gateway.reports.texts import amount, second, text_cell

_COLUMNS: Final = (
    *("Recebido em (Brasília)", "Pagador", "CPF/CNPJ", "Cobrança", "ID da transação (E2E)"),
    *("Situação", "Valor", "Valor devolvido", "Valor líquido"),
)
_STATES: Final[Mapping[IncomingStatus, str]] = {
    IncomingStatus.PAID: "recebido",
    IncomingStatus.PARTLY_REFUNDED: "devolvido em parte",
    IncomingStatus.REFUNDED: "devolvido",
}

HEAD: Final = brazilian_head(_COLUMNS)
"""What the table begins with."""


def lines(found: Iterable[IncomingPayment]) -> bytes:
    """Write a line for each payment: semicolons, decimal commas; no formulas, CPFs masked."""
    return brazilian(map(_line, found))


def _line(found: IncomingPayment) -> Sequence[str]:
    name, number = (found.payer.name, found.payer.tax_number) if found.payer else ("", "")
    return (
        second(found.paid_at),
        text_cell(name),
        text_cell(hidden_tax_number(number)),
        text_cell(found.reference),
        text_cell(found.e2e_id),
        _STATES[found.status],
        amount(found.value),
        amount(found.refunded),
        amount(found.kept),
    )
