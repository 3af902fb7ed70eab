"""What the printed report says, in Portuguese, wrapped to its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from gateway.domain.bank.statements import Direction, Entry
from gateway.domain.kernel.money import Money
from gateway.reports import portuguese
from gateway.reports.document import Document, change
from gateway.reports.layout import Line, Row
from gateway.reports.texts import one_line

UNKNOWN = "não informado"

Wrap = Callable[[str], Sequence[str]]
"""Breaks one text into the lines of its column; no line for an empty one."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A label and the lines it labels, at least one."""

    label: str
    lines: Sequence[str]


def facts(document: Document, wrap: Wrap) -> Iterator[Fact]:
    """Tell whose account it is, of which days, what it held and what moved."""
    for label, text in chain(_whose(document), _sums(document)):
        yield Fact(label, wrap(one_line(text)) or (UNKNOWN,))


def row(entry: Entry, wrap: Wrap, wrap_small: Wrap) -> Row:
    """Tell one movement: what it was, with whom, why, and under which identifiers."""
    who = (entry.counterparty.name, portuguese.tax_number(entry.counterparty.tax_number))
    texts = (portuguese.operation(entry), " - ".join(filter(None, who)), entry.description)
    identifiers = " / ".join(dict.fromkeys(filter(None, (entry.e2e_id, entry.provider_id))))
    lines = [Line(line) for text in texts for line in wrap(one_line(text))]
    small = [Line(line, small=True) for line in wrap_small(one_line(identifiers))]
    return Row(
        when=portuguese.minute(entry.created_at),
        lines=tuple(lines + small),
        amount=portuguese.amount(change(entry)),
        owed=entry.direction is Direction.DEBIT,
    )


def _whose(document: Document) -> Iterator[tuple[str, str]]:
    """Name holder, account and days."""
    at, window = document.coordinates, document.window
    yield "Titular", document.holder.name
    yield "CPF/CNPJ", portuguese.tax_number(document.holder.tax_number)
    yield "Banco", " / ".join(filter(None, (at.bank_number, at.ispb and f"ISPB {at.ispb}")))
    yield "Agência", at.branch
    yield "Conta", at.account
    days = f"{portuguese.day(window.init)} a {portuguese.day(window.ends)}"
    yield "Período", f"{days} (dias contados em UTC)"


def _sums(document: Document) -> Iterator[tuple[str, str]]:
    """Tell balances, where they are known, and totals."""
    came = sum(entry.direction is Direction.CREDIT for entry in document.entries)
    if document.opening is not None:
        yield "Saldo inicial (calculado)", _reais(document.opening)
    if document.closing is not None:
        yield "Saldo final", _reais(document.closing)
    yield f"Saldo em {portuguese.minute(document.generated_at)}", _reais(document.balance.balance)
    if document.balance.blocked.centavos:
        yield "Valor bloqueado", _reais(document.balance.blocked)
    yield f"Total de créditos ({came})", _reais(document.credits)
    yield f"Total de débitos ({len(document.entries) - came})", _reais(document.debits)


def _reais(value: Money) -> str:
    """Write an amount with its currency, the minus in front."""
    sign = "-" if value.centavos < 0 else ""
    return f"{sign}R$ {portuguese.amount(Money(abs(value.centavos)))}"
