"""Texts of a report: as people in Brazil read them, and fit for a file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum
from typing import Final

from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.ascii_letters import UNSEEN, ascii_letters
from gateway.core.money import Sum
from gateway.core.windows import local_time, written

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# A lone surrogate is no character, U+FFFE and U+FFFF are none that XML may carry.
_IMPOSSIBLE = re.compile(r"[\ud800-\udfff\ufffe\uffff]")
_TURNS = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BREAK = ",;|\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029"
"""Where a cell begins, by one reader or another: behind a separator, or in a new line."""
_BLANK = rf"\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u202f\u205f\u2423\u2800\u3000{UNSEEN}\"'"
"""What stands for nothing in front of a formula: quotation marks too, which readers take off."""
_SIGN = "=+\\-@\u207a\u207c\ufe62-\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
# A run of blanks ends at a break, where the next one begins: long texts take no longer than once.
_FORMULA = re.compile(rf"(^|[{_BREAK}])((?:(?![{_BREAK}])[{_BLANK}])*[{_SIGN}])")
_LAYOUT = ("\t", "\r", "\n")


def encodable(text: str) -> str:
    """Replace characters that UTF-8 or XML cannot carry by U+FFFD."""
    return _IMPOSSIBLE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Make a text one line: no control characters, accents composed."""
    return unicodedata.normalize("NFC", encodable(_CONTROL.sub(" ", text)).strip())


def ascii_line(text: str) -> str:
    """Make a text one line of ASCII: Latin letters and signs, plain; else a question mark."""
    plain = ascii_letters(one_line(text))
    return plain.encode("ascii", "replace").decode("ascii").strip()


def cell(text: str) -> str:
    """
    Make a text safe to open in a spreadsheet.

    One that a spreadsheet would take for a formula gets an apostrophe in
    front, full-width signs included, with any blank, quotation mark or invisible
    character stands before it. So does a sign of a formula behind a separator or a
    line break: there a cell begins, where a file is read with another separator or
    other quotation marks than ours. Characters that turn the direction of writing are shown as
    a box, so that no cell reads otherwise than it is. Numbers and dates of ours do
    not come here.
    """
    safe = _TURNS.sub("\N{OPEN BOX}", encodable(text))
    guarded = _FORMULA.sub(r"\1'\2", safe)
    return f"'{guarded}" if guarded.startswith(_LAYOUT) else guarded


def text_cell(text: str) -> str:
    """
    Make a text safe to open in a spreadsheet, as ``cell`` does, and keep it a text.

    One that a spreadsheet would take for a number, a date or a truth value gets the
    apostrophe too: of 0001234, of 73928e03 and of more than 15 digits it would keep
    another number. For files that people open; programs get ``cell``.
    """
    safe = cell(text)
    return f"'{safe}" if _is_value(safe) else safe


def _is_value(text: str) -> bool:
    """Return whether a text has digits, and only words of numbers and dates."""
    if text.startswith("'") or _NO_VALUE.fullmatch(text):
        return False
    words = {each.casefold() for each in _WORD.findall(text)}
    return words <= _TRUTHS if words & _TRUTHS else bool(_DIGIT.search(text)) and words <= _DATED


_DIGIT: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[^\W\d_]+")
_NO_VALUE: Final = re.compile(
    r"([\d*]{3}\.){2}\d{3}-[\d*]{2}|\d\d(\.\d{3}){2}/\d{4}-\d\d|E\d{20}[\dA-Za-z]{11}"
)
"""A CPF or CNPJ with its punctuation, an end-to-end id: no spreadsheet reads it as a number."""
_TRUTHS: Final = frozenset({"true", "false", "verdadeiro", "falso"})
_MONTHS: Final = (
    *("janeiro", "fevereiro", "março", "marco", "abril", "maio", "junho", "julho", "agosto"),
    *("setembro", "outubro", "novembro", "dezembro", "january", "february", "march", "april"),
    *("may", "june", "july", "august", "september", "october", "november", "december"),
)
_DATED: Final = frozenset(
    {"e", "r", "us", "de", "of", "t", "z", "am", "pm", "sept"}
    | {*_MONTHS, *(month[:3] for month in _MONTHS)}
)
"""Words of numbers, amounts, dates and times, in Portuguese and in English."""
_CPF_DIGITS, _CNPJ_DIGITS = 11, 14
DIRECTIONS: Final[Mapping[Direction, str]] = {
    Direction.CREDIT: "Crédito",
    Direction.DEBIT: "Débito",
}
OPERATIONS: Final[Mapping[MovementKind, tuple[str, str]]] = {
    MovementKind.PIX: ("Pix recebido", "Pix enviado"),
    MovementKind.PIX_RETURN: ("Devolução Pix recebida", "Devolução Pix enviada"),
    MovementKind.TED: ("TED recebida", "TED enviada"),
    MovementKind.BOLETO: ("Boleto recebido", "Boleto pago"),
    MovementKind.FEE: ("Estorno de tarifa", "Tarifa"),
    MovementKind.OTHER: ("Outro crédito", "Outro débito"),
}
"""What each kind is called, as a credit and as a debit."""


def amount(value: Sum) -> str:
    """Write an amount or a sum as ``1.234,56``, a minus in front when negative."""
    whole, rest = divmod(abs(value.centavos), 100)
    grouped = f"{whole:,}".replace(",", ".")
    return f"{'-' if value.centavos < 0 else ''}{grouped},{rest:02d}"


def minute(at: datetime) -> str:
    """Write an instant as ``dd/mm/yyyy HH:MM`` in the time of Brasilia."""
    return written(local_time(at), "%d/%m/%Y %H:%M")


def second(at: datetime) -> str:
    """Write an instant as ``dd/mm/yyyy HH:MM:SS`` in the time of Brasilia."""
    return written(local_time(at), "%d/%m/%Y %H:%M:%S")


def day(on: date) -> str:
    """Write a day as ``dd/mm/yyyy``."""
    return written(on, "%d/%m/%Y")


def tax_number(number: str) -> str:
    """Write a CPF or CNPJ with its punctuation; anything else unchanged."""
    if len(number) == _CPF_DIGITS and number.isascii() and number.isdigit():
        return f"{number[:3]}.{number[3:6]}.{number[6:9]}-{number[9:]}"
    if len(number) == _CNPJ_DIGITS and number.isascii() and number.isalnum():
        return f"{number[:2]}.{number[2:5]}.{number[5:8]}/{number[8:12]}-{number[12:]}"
    return number


def operation(entry: Entry) -> str:
    """Return the name of a movement; Pix of an unknown kind is called Pix."""
    is_bare_pix = entry.is_pix and entry.kind is MovementKind.OTHER
    credit, debit = OPERATIONS[MovementKind.PIX if is_bare_pix else entry.kind]
    return credit if entry.direction is Direction.CREDIT else debit


class Locale(StrEnum):
    """Readers of texts; formats without a choice have one form for both."""

    PLAIN = ""
    PT_BR = "pt-BR"
