"""A report as pages to print, in Portuguese: whose account, sums, every movement."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import chain
from typing import Final

from gateway.banks.port.statements import Direction, Entry
from gateway.config.extras import missing
from gateway.core.account import Environment
from gateway.core.money import Sum
from gateway.core.windows import LocalWindow
from gateway.reports import texts
from gateway.reports.document import Document, Row, change

MOST_CHARACTERS: Final = 400
"""A longer text is cut: a report must not be filled by one description."""

_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})
_STRONG: Final = _RIGHT_TO_LEFT | {"L"}
UNKNOWN: Final = "não informado"
_SANDBOX: Final = "AMBIENTE DE TESTES (SANDBOX): SEM VALOR"


class WriterMissing(Exception):
    """The extra ``pdf`` is not installed; the text says how to install it."""


def write(document: Document) -> bytes:
    """
    Write the pages; the same document gives the same bytes.

    Thousands of movements take seconds: call it in a thread.

    Raises:
        WriterMissing: without the extra ``pdf``.
    """
    if absent := missing("pdf"):
        raise WriterMissing(absent)
    from gateway.reports import paper  # noqa: PLC0415 - an extra, and 0.1 s

    return paper.pages(
        paper.Frame(
            title=f"Extrato {document.account_id}",
            heading="Extrato da conta",
            under=f"Identificador {document.account_id}",
            warning=_SANDBOX if document.environment is Environment.SANDBOX else "",
            foot=f"{_made(document)}. Horários de Brasília.",
            columns=("Data e hora", "Histórico", "Valor (R$)"),
        ),
        [*facts(document)],
        map(row, document.entries) if document.entries else ["Nenhum lançamento no período."],
    )


def facts(document: Document) -> Iterator[tuple[str, str]]:
    """Return the summary: holder, days, balances and totals."""
    for label, text in chain(_whose(document), _sums(document)):
        yield label, _short(text) or UNKNOWN


def row(entry: Entry) -> Row:
    """Return one movement's row: kind, counterparty, reason and identifiers."""
    who = (_kept(entry.counterparty.name), texts.tax_number(entry.counterparty.tax_number))
    written = (texts.operation(entry), " - ".join(filter(None, who)), entry.description)
    return Row(
        when=texts.minute(entry.created_at),
        lines=[*filter(None, map(_short, written))],
        identifiers=_short(
            " / ".join(dict.fromkeys(filter(None, (entry.e2e_id, entry.provider_id))))
        ),
        amount=texts.amount(change(entry)),
        owed=entry.direction is Direction.DEBIT,
    )


def _kept(name: str) -> str:
    """End a name that may run from right to left, so that it turns nothing behind it around."""
    strong = [way for way in map(unicodedata.bidirectional, name) if way in _STRONG]
    if not _RIGHT_TO_LEFT & {*strong}:
        return name
    # A bracket at its end belongs to the name, too.
    last = "\N{RIGHT-TO-LEFT MARK}" if strong[0] in _RIGHT_TO_LEFT else ""
    return f"{name}{last}\N{LEFT-TO-RIGHT MARK}"


def _short(text: str) -> str:
    line = texts.one_line(text)
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS].rstrip()}..."


def _made(document: Document) -> str:
    if document.locked_at is not None:
        return f"Dias fechados; o último foi fechado em {texts.minute(document.locked_at)}"
    return f"Gerado em {texts.minute(document.generated_at)}"


def _whose(document: Document) -> Iterator[tuple[str, str]]:
    at, window = document.coordinates, document.window
    yield "Titular", document.holder.name
    yield "CPF/CNPJ", texts.tax_number(document.holder.tax_number)
    yield "Banco", " / ".join(filter(None, (at.bank_number, at.ispb and f"ISPB {at.ispb}")))
    yield "Agência", at.branch
    yield "Conta", at.account
    days = f"{texts.day(window.init)} a {texts.day(window.ends)}"
    zone = "horário de Brasília" if isinstance(window, LocalWindow) else "UTC"
    yield "Período", f"{days} (dias contados em {zone})"


def _sums(document: Document) -> Iterator[tuple[str, str]]:
    """Return known balances, and totals."""
    came = sum(entry.direction is Direction.CREDIT for entry in document.entries)
    if document.opening is not None:
        yield "Saldo inicial (calculado)", _reais(document.opening)
    if document.closing is not None:
        yield "Saldo final", _reais(document.closing)
    if document.locked_at is None:
        yield f"Saldo em {texts.minute(document.generated_at)}", _reais(document.balance.balance)
    blocked = document.balance.blocked
    if blocked is not None and blocked.centavos:
        yield "Valor bloqueado", _reais(blocked)
    yield f"Total de créditos ({came})", _reais(document.credits)
    yield f"Total de débitos ({len(document.entries) - came})", _reais(document.debits)


def _reais(value: Sum) -> str:
    """Write an amount with its currency, the minus in front."""
    sign = "-" if value.centavos < 0 else ""
    return f"{sign}R$ {texts.amount(Sum(abs(value.centavos)))}"
