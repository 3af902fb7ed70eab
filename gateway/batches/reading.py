"""
A file of payouts, read strictly: what could mean two things is refused, never guessed.

A file is taken whole or not at all: all of its bad rows are named at once.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final

from gateway.banks.port.payout_orders import AccountType, PayoutMethod
from gateway.batches.model import FileProblem
from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from gateway.core.money import MAX_CENTAVOS
from gateway.http.panel.pages.formats import typed_key
from gateway.payouts.bodies import PayoutReader
from gateway.payouts.model import PayoutRequest
from gateway.reports.csv import brazilian, brazilian_head
from policies.validation.fields import Number, like_ours

MOST_ROWS: Final = 1_000
"""As many as a person who approves can look through; more are several files."""
MOST_BYTES: Final = 256 * 1024
"""A row of 250 bytes is a long one."""

COLUMNS: Final[Mapping[str, str]] = {
    "referencia": "reference",
    "valor": "value",
    "descricao": "description",
    "nome": "name",
    "cpf_cnpj": "tax_number",
    "tipo_chave": "key_type",
    "chave": "key",
    "banco": "bank_number",
    "agencia": "branch",
    "conta": "account",
    "tipo_conta": "account_type",
}
"""The columns in the order of the template, and the fields of the contract that they are."""

_EXAMPLES: Final = (
    *("folha-2026-11-001", "1.234,56", "Folha de novembro", "Maria Silva", "529.982.247-25"),
    *("email", "maria@example.com", "", "", "", ""),
    *("folha-2026-11-002", "980,00", "Folha de novembro", "José Souza", "111.444.777-35"),
    *("", "", "341", "0001", "123456-7", "corrente"),
)
_WIDTH: Final = len(COLUMNS)
TEMPLATE: Final = brazilian_head(tuple(COLUMNS)) + brazilian(
    [_EXAMPLES[:_WIDTH], _EXAMPLES[_WIDTH:]]
)
"""A file with the header and two rows, as an example."""

COLUMN: Final = "column"
"""Names a column by its place, the first one being 1, where its own name cannot be repeated."""
_FIELDS: Final = frozenset(COLUMNS.values())
_REQUIRED: Final = ("reference", "value")
_TO_KEY: Final = ("key_type", "key")
_TO_ACCOUNT: Final = ("bank_number", "branch", "account", "account_type")
_NUMBERS: Final = frozenset({"cpf", "cnpj"})
_KEY_TYPES: Final = {"telefone": "phone", "celular": "phone", "e-mail": "email"} | {
    "aleatoria": "evp",
    "chave aleatoria": "evp",
}
_ACCOUNT_TYPES: Final = {
    "corrente": AccountType.CHECKING.value,
    "poupanca": AccountType.SAVINGS.value,
    "salario": AccountType.SALARY.value,
    "pagamento": AccountType.PAYMENT.value,
}
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "key_type": _KEY_TYPES,
    "account_type": _ACCOUNT_TYPES,
}
"""Portuguese words for those of the contract."""

_CURRENCY: Final = re.compile(r"\AR\$[\s\xa0]*")
_WHOLE: Final = re.compile(r"\d{1,13}", re.ASCII)
_COMMA: Final = re.compile(r"(\d{1,13}|\d{1,3}(?:\.\d{3}){1,4}),(\d{2})", re.ASCII)
_POINT: Final = re.compile(r"(\d{1,13}|\d{1,3}(?:,\d{3}){1,4})\.(\d{2})", re.ASCII)
_TWO_WAYS: Final = re.compile(r"\d{1,3}[.,]\d{3}", re.ASCII)
"""``1,234``: a thousand of one country, one and a bit of another."""


class Fault(StrEnum):
    """Errors of a file or a row, beside the errors of a payout."""

    FILE_LARGE = "file_large"
    FILE_ENCODING = "file_encoding"
    FILE_QUOTES = "file_quotes"
    FILE_COLUMNS = "file_columns"
    FILE_COLUMN_TWICE = "file_column_twice"
    FILE_EMPTY = "file_empty"
    FILE_ROWS_MANY = "file_rows_many"
    ROW_COLUMNS = "row_columns"
    MISSING = "missing"
    REFERENCE_TWICE = "reference_twice"
    AMOUNT_TWO_WAYS = "amount_two_ways"
    AMOUNT_OTHER_MARK = "amount_other_mark"
    AMOUNT_IN_FILE = "amount_in_file"
    OUT_OF_RANGE = "out_of_range"
    TWO_DESTINATIONS = "two_destinations"
    NO_DESTINATION = "no_destination"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """
    The payouts of a file by their rows, or its problems; never both.

    Attributes:
        payouts: By the number of the row; the header is row 1.
        problems: One for each bad row, or one of the whole file, whose number is 0.
    """

    payouts: Mapping[int, PayoutRequest] = field(default_factory=dict)
    problems: Sequence[FileProblem] = ()


def read_file(content: bytes, day: date) -> ReadFile:
    """Read a file whose payouts are of a day."""
    try:
        return _Reader(day).read(content)
    except _Refused as refused:
        return ReadFile(problems=[refused.problem])


class _Refused(Exception):
    """The file or a row cannot be read."""

    def __init__(self, reason: str, number: int = 0, field_: str = "") -> None:
        super().__init__(reason)
        self.problem = FileProblem(number=number, field=field_, reason=reason)


@dataclass(slots=True)
class _Reader:
    """
    Reads one file.

    Attributes:
        mark: The decimal mark of the rows so far; empty before the first.
        references: The rows by their references.
    """

    day: date
    mark: str = ""
    references: dict[str, int] = field(default_factory=dict)

    def read(self, content: bytes) -> ReadFile:
        rows = _rows(_text(content))
        header = _header(rows)
        payouts: dict[int, PayoutRequest] = {}
        problems: list[FileProblem] = []
        for number, cells in rows:
            if not any(cells):
                continue
            if len(payouts) + len(problems) == MOST_ROWS:
                raise _Refused(Fault.FILE_ROWS_MANY)
            try:
                payouts[number] = self._payout(number, header, cells)
            except _Refused as refused:
                problems.append(refused.problem)
        if problems:
            return ReadFile(problems=problems)
        if not payouts:
            raise _Refused(Fault.FILE_EMPTY)
        if sum(each.value.centavos for each in payouts.values()) > MAX_CENTAVOS:
            raise _Refused(Fault.OUT_OF_RANGE, field_="value")
        return ReadFile(payouts=payouts)

    def _payout(self, number: int, header: Sequence[str], cells: Sequence[str]) -> PayoutRequest:
        if len(cells) > len(header):
            raise _Refused(Fault.ROW_COLUMNS, number)
        given = dict(zip(header, cells, strict=False))
        for name, words in _WORDS.items():
            given[name] = words.get(_plain(given.get(name, "")), given.get(name, ""))
        method = _method(number, given)
        body = {
            "reference": given.get("reference"),
            "value": self._amount(number, given.get("value", "")),
            "date": self.day.isoformat(),
            "description": given.get("description"),
            "destination": _destination(method, given),
        }
        try:
            payout = PayoutReader(method).read(RawRequest(path={}), body)
        except ServiceError as refusal:
            raise _Refused(refusal.reason, number, refusal.field) from refusal
        first = self.references.setdefault(payout.reference, number)
        if first != number:
            raise _Refused(Fault.REFERENCE_TWICE, number, "reference")
        return payout

    def _amount(self, number: int, text: str) -> Number | None:
        """Read an amount by its own form; every amount of a file has the same decimal mark."""
        bare = _CURRENCY.sub("", text, count=1)
        if not bare:
            return None
        if _WHOLE.fullmatch(bare):
            return Number(f"{bare.lstrip('0') or '0'}.00")
        if _TWO_WAYS.fullmatch(bare):
            raise _Refused(Fault.AMOUNT_TWO_WAYS, number, "value")
        for mark, thousands, form in ((",", ".", _COMMA), (".", ",", _POINT)):
            found = form.fullmatch(bare)
            if found is not None:
                self.mark = self.mark or mark
                if self.mark != mark:
                    raise _Refused(Fault.AMOUNT_OTHER_MARK, number, "value")
                whole = found[1].replace(thousands, "").lstrip("0") or "0"
                return Number(f"{whole}.{found[2]}")
        raise _Refused(Fault.AMOUNT_IN_FILE, number, "value")


def _text(content: bytes) -> str:
    """Decode a file: UTF-8, else Windows-1252, in which spreadsheets of Windows save."""
    if len(content) > MOST_BYTES:
        raise _Refused(Fault.FILE_LARGE)
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:  # UTF-16 has them
            return text
    raise _Refused(Fault.FILE_ENCODING)


def _rows(text: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Return each row with its number as a spreadsheet shows it; cells without blanks around."""
    head = text.partition("\n")[0]
    delimiter = ";" if ";" in head else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    while True:
        number += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            raise _Refused(Fault.FILE_QUOTES, number) from problem
        yield number, [each.strip() for each in cells]


def _header(rows: Iterator[tuple[int, Sequence[str]]]) -> Sequence[str]:
    """Read the first row as fields; ones after the last name are empty."""
    _, cells = next(rows, (1, ()))
    names = [re.sub(r"[^a-z0-9]+", "_", _plain(each)).strip("_") for each in cells]
    while names and not names[-1]:
        names.pop()
    fields = [COLUMNS.get(each, each) for each in names]
    for place, each in enumerate(fields, 1):
        if each not in _FIELDS:
            raise _Refused(Fault.FILE_COLUMNS, 1, like_ours(each) or f"{COLUMN} {place}")
        if each in fields[: place - 1]:
            raise _Refused(Fault.FILE_COLUMN_TWICE, 1, each)
    for each in _REQUIRED:
        if each not in fields:
            raise _Refused(Fault.MISSING, 1, each)
    return fields


def _method(number: int, given: Mapping[str, str]) -> PayoutMethod:
    to_key, to_account = (any(map(given.get, names)) for names in (_TO_KEY, _TO_ACCOUNT))
    if to_key and to_account:
        raise _Refused(Fault.TWO_DESTINATIONS, number, "destination")
    if not to_key and not to_account:
        raise _Refused(Fault.NO_DESTINATION, number, "destination")
    return PayoutMethod.PIX if to_key else PayoutMethod.BANK_ACCOUNT


def _destination(method: PayoutMethod, given: Mapping[str, str]) -> Mapping[str, str]:
    """Return the recipient; a key that is a tax number need not be typed twice."""
    said = {name: given.get(name, "") for name in ("name", "tax_number")}
    if method is PayoutMethod.BANK_ACCOUNT:
        return said | {name: given.get(name, "") for name in _TO_ACCOUNT}
    kind, key = given["key_type"], given.get("key", "")
    if not said["tax_number"] and kind in _NUMBERS:
        said["tax_number"] = key
    return said | {"key_type": kind, "key": typed_key(key, kind)}


def _plain(text: str) -> str:
    """Return a text in small letters without accents."""
    bare = unicodedata.normalize("NFKD", text.strip().lower())
    return "".join(each for each in bare if not unicodedata.combining(each))
