"""The forms a report can be had in, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateway.domain.bank.statements import Entry
from gateway.reports import csv, json, ofx, pdf
from gateway.reports.document import Document
from gateway.statements.model import Locale

Write = Callable[[Document], bytes]
WritePieces = Callable[[Document, Iterable[Sequence[Entry]]], Iterator[bytes]]
"""Writes a document without movements, and these in groups, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """
    One form of a report.

    Attributes:
        name: As callers ask for it, and the ending of the file's name.
        media_type: As HTTP names it.
        write: The plain form. May raise ``WriterMissing``, and take seconds
            for thousands of movements.
        write_brazilian: The form for readers in Brazil; often the same.
        pieces: Writes the plain form piece by piece; None where it is made whole.
        pieces_brazilian: Likewise.
    """

    name: str
    media_type: str
    write: Write
    write_brazilian: Write
    pieces: WritePieces | None = None
    pieces_brazilian: WritePieces | None = None

    def writer(self, locale: Locale) -> Write:
        """Choose how to write."""
        return self.write_brazilian if locale is Locale.PT_BR else self.write

    def piece_writer(self, locale: Locale) -> WritePieces | None:
        """Choose how to write piece by piece; None where it is made whole."""
        return self.pieces_brazilian if locale is Locale.PT_BR else self.pieces

    def file_name(self, document: Document) -> str:
        """Name the file: ASCII, no blanks, the same for the same account and window."""
        window = document.window
        days = f"{window.init.isoformat()}_{window.ends.isoformat()}"
        return f"statement_{document.account_id}_{days}.{self.name}"


def _known(*formats: Format) -> Mapping[str, Format]:
    """Order formats by name, unchangeable."""
    return MappingProxyType({each.name: each for each in formats})


FORMATS: Final = _known(
    Format(
        name="csv",
        media_type="text/csv; charset=utf-8; header=present",
        write=csv.write,
        write_brazilian=csv.write_brazilian,
        pieces=csv.pieces,
        pieces_brazilian=csv.brazilian_pieces,
    ),
    Format(
        name="ofx",
        media_type="application/x-ofx",
        write=ofx.write,
        write_brazilian=ofx.write,
        pieces=ofx.pieces,
        pieces_brazilian=ofx.pieces,
    ),
    Format(
        name="json",
        media_type="application/json; charset=utf-8",
        write=json.write,
        write_brazilian=json.write,
    ),
    Format(
        name="pdf",
        media_type="application/pdf",
        write=pdf.write,
        write_brazilian=pdf.write,
    ),
)
"""Every form, by the name it is asked for (contract 4.3: GetAccountReport)."""
