"""
A report as comma-separated values (RFC 4180).

Two forms: the plain one for programs (comma, decimal point, RFC 3339 in UTC)
and the Brazilian one for spreadsheets set to Portuguese (semicolon, decimal
comma, time of Brasilia, a byte order mark by which Excel recognizes UTF-8; names and
identifiers stay text).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC

from gateway.banks.port.statements import Entry
from gateway.reports import texts
from gateway.reports.document import Document, change, operation
from gateway.reports.texts import cell, text_cell

BYTE_ORDER_MARK = "\ufeff"
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
    "Data e hora (Brasília)",
    "Operação",
    "Natureza",
    "Valor",
    "Descrição",
    "Contraparte",
    "CPF/CNPJ",
    "Identificador",
    "ID da transação (E2E)",
)


def pieces(_document: Document, groups: Iterable[Sequence[Entry]]) -> Iterator[bytes]:
    """Write the plain form piece by piece: the head, then movements; debits are negative."""
    yield table(",", [_PLAIN_HEAD]).encode()
    for group in groups:
        yield table(",", map(_plain, group)).encode()


def brazilian_pieces(_document: Document, groups: Iterable[Sequence[Entry]]) -> Iterator[bytes]:
    """Write the form that a Portuguese spreadsheet opens, piece by piece."""
    yield brazilian_head(_BRAZILIAN_HEAD)
    for group in groups:
        yield brazilian(map(_brazilian, group))


def brazilian(rows: Iterable[Sequence[str]]) -> bytes:
    """Write lines of a table in the Brazilian form."""
    return table(";", rows).encode()


def brazilian_head(names: Sequence[str]) -> bytes:
    """Write the first line of a table in the Brazilian form, behind the byte order mark."""
    return BYTE_ORDER_MARK.encode() + brazilian([names])


def table(delimiter: str, rows: Iterable[Sequence[str]]) -> str:
    """Write rows, quoted where RFC 4180 asks for it."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def _plain(entry: Entry) -> Sequence[str]:
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
    return (
        texts.minute(entry.created_at),
        texts.operation(entry),
        texts.DIRECTIONS[entry.direction],
        texts.amount(change(entry)),
        text_cell(entry.description),
        text_cell(entry.counterparty.name),
        text_cell(texts.tax_number(entry.counterparty.tax_number)),
        text_cell(entry.provider_id),
        text_cell(entry.e2e_id),
    )
