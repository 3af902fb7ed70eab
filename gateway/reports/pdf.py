"""
A report as pages to print, in Portuguese: whose account, sums, every movement.

Rows are drawn one by one instead of through reportlab's tables, whose time
grows with the square of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.domain.accounts.accounts import Environment
from gateway.reports import portuguese
from gateway.reports.contents import Fact, Wrap, facts, row
from gateway.reports.document import Document
from gateway.reports.layout import Row, pages, wrap
from gateway.reports.paper import GREY, HEIGHT, RED, WIDTH, Face, Ink, Paper, drawable, width_of

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
    made_at = portuguese.minute(document.generated_at)
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
