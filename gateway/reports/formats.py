"""Formats of reports, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gateway.banks.port.statements import Entry
from gateway.config.extras import is_installed
from gateway.reports import csv, json, ofx, pdf
from gateway.reports.document import Document
from gateway.reports.texts import Locale

Write = Callable[[Document], bytes]
WritePieces = Callable[[Document, Iterable[Sequence[Entry]]], Iterator[bytes]]
"""Writes a document without movements, and these in groups, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """
    A format of a report.

    Attributes:
        name: As callers ask for it, and the ending of the file's name.
        media_type: As HTTP names it.
        write: Writes it whole, alike for every reader; None where it is written piece by piece.
            May raise ``WriterMissing``, and take seconds for thousands of movements.
        pieces: Writes it piece by piece.
    """

    name: str
    media_type: str
    write: Write | None = None
    pieces: Mapping[Locale, WritePieces] = field(default_factory=dict)

    def file_name(self, document: Document) -> str:
        """Name the file: ASCII, no blanks, the same for the same account and window."""
        window = document.window
        days = f"{window.init.isoformat()}_{window.ends.isoformat()}"
        return f"statement_{document.account_id}_{days}.{self.name}"


def _known(*formats: Format) -> Mapping[str, Format]:
    """Return formats sorted by name, immutable."""
    return MappingProxyType({each.name: each for each in formats})


FORMATS: Final = _known(
    Format(
        name="csv",
        media_type="text/csv; charset=utf-8; header=present",
        pieces={Locale.PLAIN: csv.pieces, Locale.PT_BR: csv.brazilian_pieces},
    ),
    Format(
        name="ofx",
        media_type="application/x-ofx",
        pieces=dict.fromkeys(Locale, ofx.pieces),
    ),
    Format(name="json", media_type="application/json; charset=utf-8", write=json.write),
    Format(name="pdf", media_type="application/pdf", write=pdf.write),
)
"""Every form, by the name it is asked for (contract 4.3: GetAccountReport)."""


def offered() -> Sequence[str]:
    """Return the formats for users: PDF only with its extra, and no JSON."""
    return [each for each in ("csv", "ofx", "pdf") if each != "pdf" or is_installed("pdf")]
