"""
A report as pages to print, in Portuguese: whose account, sums, every movement.

Rows are drawn one by one instead of through reportlab's tables, whose time
grows with the square of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.statements import Direction, Entry
from gateway.domain.kernel.money import Sum
from gateway.domain.kernel.windows import LocalWindow
from gateway.reports import texts
from gateway.reports.document import Document, change
from gateway.reports.paper import GREY, HEIGHT, RED, WIDTH, Face, Ink, Paper, drawable, width_of
from gateway.reports.texts import one_line

Measure = Callable[[str], float]
"""How wide a text is, in points."""
MOST_CHARACTERS = 400
"""A longer text is cut: a report must not be filled by one description."""
_CUT = "..."


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a row; small ones are for identifiers."""

    text: str
    small: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    A movement as it stands in the table.

    Attributes:
        lines: At least one.
        owed: Whether the amount is negative.
    """

    when: str
    lines: tuple[Line, ...]
    amount: str
    owed: bool


def wrap(text: str, width: float, measure: Measure) -> Sequence[str]:
    """
    Break a text into lines of at most ``width`` points, at blanks where it has some.

    Returns:
        No line for an empty text; one that is too long is cut visibly.
    """
    short = text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS].rstrip() + _CUT
    if measure(short) <= width:
        return [short] if short else []
    lines = [""]
    for word in short.split():
        for piece in _pieces(word, width, measure):
            longer = f"{lines[-1]} {piece}".lstrip()
            if measure(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(piece)
    return [line for line in lines if line]


def pages(
    rows: Sequence[Row], height_of: Callable[[Row], float], room: tuple[float, float]
) -> Sequence[Sequence[Row]]:
    """
    Deal rows out to pages; a row is never split.

    Args:
        rows: In order.
        height_of: How high a row is, in points.
        room: How high the table is on the first page, and on all others.

    Returns:
        At least one page, the first perhaps empty.
    """
    first, other = room
    dealt: list[list[Row]] = [[]]
    left = first
    for row in rows:
        height = height_of(row)
        if height > left and (dealt[-1] or len(dealt) == 1):
            dealt.append([])
            left = other
        dealt[-1].append(row)
        left -= height
    return dealt


def _pieces(word: str, width: float, measure: Measure) -> Iterator[str]:
    """Cut a word that is wider than a line; each piece has at least one character."""
    while measure(word) > width and len(word) > 1:
        fits = next((end for end in range(len(word) - 1, 1, -1) if measure(word[:end]) <= width), 1)
        yield word[:fits]
        word = word[fits:]
    yield word


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
    who = (entry.counterparty.name, texts.tax_number(entry.counterparty.tax_number))
    written = (texts.operation(entry), " - ".join(filter(None, who)), entry.description)
    identifiers = " / ".join(dict.fromkeys(filter(None, (entry.e2e_id, entry.provider_id))))
    lines = [Line(line) for text in written for line in wrap(one_line(text))]
    small = [Line(line, small=True) for line in wrap_small(one_line(identifiers))]
    return Row(
        when=texts.minute(entry.created_at),
        lines=tuple(lines + small),
        amount=texts.amount(change(entry)),
        owed=entry.direction is Direction.DEBIT,
    )


def _whose(document: Document) -> Iterator[tuple[str, str]]:
    """Name holder, account and days."""
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
    """Tell balances, where they are known, and totals."""
    came = sum(entry.direction is Direction.CREDIT for entry in document.entries)
    if document.opening is not None:
        yield "Saldo inicial (calculado)", _reais(document.opening)
    if document.closing is not None:
        yield "Saldo final", _reais(document.closing)
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


_LEFT, _RIGHT = 42.0, WIDTH - 42.0
_FACT_LEFT = 190.0
_TEXT_LEFT, _TEXT_RIGHT = 132.0, 452.0
_TABLE_ENDS = HEIGHT - 52.0
_LINE, _GAP = 11.0, 7.0
_HEAD_ENDS = 78.0
_TABLE_HEAD = 2 * _LINE
_TITLE: Final = Ink(size=14, face=Face.BOLD)
_PLAIN: Final = Ink(size=8)
_BOLD: Final = Ink(size=8, face=Face.BOLD)
_SMALL: Final = Ink(size=6.5, colour=GREY)
_OWED: Final = Ink(size=8, colour=RED)
_WARNING: Final = Ink(size=9, face=Face.BOLD, colour=RED)
_SANDBOX = "AMBIENTE DE TESTES (SANDBOX): SEM VALOR"


def write(document: Document) -> bytes:
    """
    Write the pages; the same document gives the same bytes.

    Thousands of movements take seconds: call it in a thread.

    Raises:
        WriterMissing: without reportlab.
    """
    paper = Paper(f"Extrato {document.account_id}", "pt-BR")
    told = tuple(facts(document, _wrapped(_RIGHT - _FACT_LEFT, _PLAIN)))
    dealt = _dealt(document, _summary_ends(told))
    for number, page in enumerate(dealt, 1):
        _frame(paper, document, f"Página {number} de {len(dealt)}")
        if number == 1:
            _summary(paper, told)
        _table(paper, page, _summary_ends(told) if number == 1 else _HEAD_ENDS)
        paper.turn()
    return paper.content()


def _dealt(document: Document, first_begins: float) -> Sequence[Sequence[Row]]:
    """Wrap every movement and deal them out to pages."""
    text_width = _TEXT_RIGHT - _TEXT_LEFT
    text, small = _wrapped(text_width, _PLAIN), _wrapped(text_width, _SMALL)
    rows = [row(entry, text, small) for entry in document.entries]
    first, other = (_TABLE_ENDS - begins - _TABLE_HEAD for begins in (first_begins, _HEAD_ENDS))
    return pages(rows, _height_of, (first, other))


def _wrapped(width: float, ink: Ink) -> Wrap:
    """Make the function that breaks texts for a column."""
    return lambda text: wrap(drawable(text), width, lambda part: width_of(part, ink))


def _height_of(each: Row) -> float:
    """Tell how high a row is, the gap to the next included."""
    return len(each.lines) * _LINE + _GAP


def _summary_ends(told: Sequence[Fact]) -> float:
    """Tell where the summary ends, from the top of the page."""
    return _HEAD_ENDS + sum(len(fact.lines) for fact in told) * _LINE + 2 * _GAP


def _frame(paper: Paper, document: Document, page: str) -> None:
    """Write what stands on every page."""
    paper.write((_LEFT, 50.0), "Extrato da conta", _TITLE)
    if document.environment is Environment.SANDBOX:
        paper.write_right((_RIGHT, 50.0), _SANDBOX, _WARNING)
    paper.write((_LEFT, 62.0), f"Identificador {document.account_id}", _SMALL)
    foot = HEIGHT - 30.0
    paper.rule(_LEFT, _RIGHT, foot - _LINE)
    made_at = texts.minute(document.generated_at)
    paper.write((_LEFT, foot), f"Gerado em {made_at}. Horários de Brasília.", _SMALL)
    paper.write_right((_RIGHT, foot), page, _SMALL)


def _summary(paper: Paper, told: Sequence[Fact]) -> None:
    """Write labels and what they label."""
    top = _HEAD_ENDS + _LINE
    for fact in told:
        paper.write((_LEFT, top), fact.label, _BOLD)
        for line in fact.lines:
            paper.write((_FACT_LEFT, top), line, _PLAIN)
            top += _LINE


def _table(paper: Paper, page: Sequence[Row], begins: float) -> None:
    """Write the head of the table and the rows of one page."""
    top = begins + _LINE
    paper.write((_LEFT, top), "Data e hora", _BOLD)
    paper.write((_TEXT_LEFT, top), "Histórico", _BOLD)
    paper.write_right((_RIGHT, top), "Valor (R$)", _BOLD)
    paper.rule(_LEFT, _RIGHT, top + 4.0)
    top += _LINE + 4.0
    for each in page:
        _write_row(paper, each, top)
        top += _height_of(each)
    if not page:
        paper.write((_TEXT_LEFT, top), "Nenhum lançamento no período.", _PLAIN)


def _write_row(paper: Paper, each: Row, top: float) -> None:
    """Write one movement; the minus tells a debit, the colour only repeats it."""
    paper.write((_LEFT, top), each.when, _PLAIN)
    paper.write_right((_RIGHT, top), each.amount, _OWED if each.owed else _PLAIN)
    for number, line in enumerate(each.lines):
        ink = _SMALL if line.small else _PLAIN
        paper.write((_TEXT_LEFT, top + number * _LINE), line.text, ink)
