"""
A report as comma-separated values (RFC 4180).

Two forms: the plain one for programs (comma, decimal point, RFC 3339 in UTC)
and the Brazilian one for spreadsheets set to Portuguese (semicolon, decimal
comma, time of Brasilia, a byte order mark by which Excel knows UTF-8).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import UTC

from gateway.domain.bank.statements import Entry
from gateway.reports import texts
from gateway.reports.document import Document, change, operation
from gateway.reports.texts import cell

_BYTE_ORDER_MARK = "\ufeff"
_PLAIN_HEAD = (
    "created_at",
    "operation",
    "type",
    "amount",
    "description",
    "counterparty_name",
    "counterparty_tax_number",
    "id",
    "e2e_id",
)
_BRAZILIAN_HEAD = (
    "Data e hora",
    "Operação",
    "Natureza",
    "Valor",
    "Descrição",
    "Contraparte",
    "CPF/CNPJ",
    "Identificador",
    "ID da transação Pix",
)


def write(document: Document) -> bytes:
    """Write the plain form; ``amount`` is negative for a debit."""
    return _table(",", [_PLAIN_HEAD, *map(_plain, document.entries)]).encode()


def write_brazilian(document: Document) -> bytes:
    """Write the form that a Portuguese spreadsheet opens; debits are negative."""
    table = _table(";", [_BRAZILIAN_HEAD, *map(_brazilian, document.entries)])
    return (_BYTE_ORDER_MARK + table).encode()


def _table(delimiter: str, rows: Iterable[Sequence[str]]) -> str:
    """Write rows, quoted where RFC 4180 asks for it."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def _plain(entry: Entry) -> Sequence[str]:
    """Write a movement for a program."""
    at = entry.created_at.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    return (
        f"{at.isoformat()}Z",
        operation(entry),
        entry.direction.value,
        str(change(entry)),
        cell(entry.description),
        cell(entry.counterparty.name),
        cell(entry.counterparty.tax_number),
        cell(entry.provider_id),
        cell(entry.e2e_id),
    )


def _brazilian(entry: Entry) -> Sequence[str]:
    """Write a movement for a reader in Brazil."""
    return (
        texts.minute(entry.created_at),
        texts.operation(entry),
        texts.DIRECTIONS[entry.direction],
        texts.amount(change(entry)),
        cell(entry.description),
        cell(entry.counterparty.name),
        cell(texts.tax_number(entry.counterparty.tax_number)),
        cell(entry.provider_id),
        cell(entry.e2e_id),
    )
