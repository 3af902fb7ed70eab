"""Served requests as a table for spreadsheets set to Portuguese."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gateway.reports.csv import brazilian, brazilian_head
from gateway.reports.texts import second, text_cell
from gateway.request_log.model import LoggedRequest

_COLUMNS: Final = (
    *(
        "Data e hora (Brasília)",
        "Rastreio (trace ID)",
        "Interface",
        "Rota",
        "Método",
        "Status",
        "Código",
    ),
    *("Motivo", "Credencial", "Pessoa", "Conta", "Empresa", "Duração (ms)"),
)


HEAD: Final = brazilian_head(_COLUMNS)
"""What the table begins with."""


def lines(found: Iterable[LoggedRequest]) -> bytes:
    """Write a line for each request: semicolons, decimal commas; no formulas."""
    return brazilian(map(_line, found))


def _line(found: LoggedRequest) -> Sequence[str]:
    request = (found.trace_id, found.surface, found.route, found.method)
    callers = (found.client_id, found.user_id, found.account_id, found.company_id)
    return (
        second(found.at),
        *map(text_cell, request),
        str(found.status),
        *map(text_cell, (found.code, found.reason, *callers)),
        _milliseconds(found.duration_us),
    )


def _milliseconds(duration_us: int) -> str:
    whole, rest = divmod(duration_us, 1000)
    return f"{whole},{rest:03d}"
