"""A file of payouts with what became of each row, as a table for spreadsheets in Portuguese."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from gateway.batches.model import BatchRowDocument, Oddity, Progress
from gateway.reports.csv import brazilian, brazilian_head
from gateway.reports.texts import amount, text_cell

_COLUMNS: Final = (
    *("Linha", "Referência", "Valor", "Favorecido", "CPF/CNPJ", "Descrição"),
    *("Situação", "Código", "O que chama a atenção"),
)
_STANDS: Final[Mapping[Progress, str]] = {
    Progress.WAITING: "aguardando",
    Progress.HELD: "retido",
    Progress.SENT: "enviado",
    Progress.UNKNOWN: "resultado desconhecido",
    Progress.REVIEW: "aguarda pareceres",
    Progress.PAID: "pago",
    Progress.FAILED: "falhou",
    Progress.NOT_SENT: "não enviado",
}
_ODD: Final[Mapping[Oddity, str]] = {
    Oddity.KNOWN_REFERENCE: "já solicitado antes",
    Oddity.NEW_PAYEE: "favorecido novo",
    Oddity.WILL_BE_HELD: "fica retido",
    Oddity.SAME_AMOUNT: "mesmo valor há pouco",
    Oddity.ABOVE_USUAL: "acima do usual",
    Oddity.TWICE_IN_FILE: "repetido no arquivo",
}
HEAD: Final = brazilian_head(_COLUMNS)
"""What the table begins with."""


def lines(rows: Iterable[BatchRowDocument]) -> bytes:
    """Write a line for each row; no formulas, CPFs masked."""
    return brazilian(map(_line, rows))


def _line(row: BatchRowDocument) -> Sequence[str]:
    return (
        str(row.number),
        text_cell(row.reference),
        amount(row.value),
        text_cell(row.destination.get("name", "")),
        text_cell(row.destination.get("tax_number", "")),
        text_cell(row.description),
        _STANDS[row.status],
        row.code,
        ", ".join(_ODD[each] for each in row.odd),
    )
