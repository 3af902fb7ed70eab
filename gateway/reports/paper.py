"""
A4 pages one can write and draw on: the only place that knows reportlab.

The font is Bitstream Vera, which reportlab carries and which is embedded: it
has every letter of Portuguese and of western Europe. What it lacks is
replaced by ``MISSING``.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MISSING: Final = "\u00bf"
"""Stands for a character that the font cannot draw."""

WIDTH: Final = 595.28
HEIGHT: Final = 841.89
"""A4, in points."""

Colour = tuple[float, float, float]
BLACK: Final[Colour] = (0.0, 0.0, 0.0)
GREY: Final[Colour] = (0.42, 0.42, 0.42)
RED: Final[Colour] = (0.72, 0.0, 0.0)


class WriterMissing(Exception):
    """The library that makes PDF files is not installed (the extra ``pdf``)."""


class Face(StrEnum):
    """The two cuts of the font."""

    PLAIN = "Vera"
    BOLD = "VeraBd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ink:
    """How a text looks; ``size`` in points."""

    size: float
    face: Face = Face.PLAIN
    colour: Colour = BLACK


@functools.cache
def _widths() -> Mapping[Face, Mapping[str, float]]:
    """
    Register the fonts, once; tell how wide each of their characters is at size 1.

    Raises:
        WriterMissing: without reportlab.
    """
    try:
        from reportlab.pdfbase import pdfmetrics, ttfonts  # type: ignore[import-untyped] # noqa: PLC0415 - an extra, and 0.1 s
    except ImportError as problem:
        message = "reportlab is not installed"
        raise WriterMissing(message) from problem
    widths = {}
    for face in Face:
        font = ttfonts.TTFont(face.value, f"{face.value}.ttf")
        pdfmetrics.registerFont(font)
        widths[face] = {chr(code): width / 1000 for code, width in font.face.charWidths.items()}
    return widths


@functools.cache
def _known() -> frozenset[str]:
    """Tell which characters every face has."""
    return frozenset.intersection(*map(frozenset, _widths().values()))


def drawable(text: str) -> str:
    """Replace what the font lacks by ``MISSING``."""
    known = _known()
    return text if known.issuperset(text) else "".join(c if c in known else MISSING for c in text)


def width_of(text: str, ink: Ink) -> float:
    """Measure a drawable text, in points."""
    return ink.size * sum(map(_widths()[ink.face].__getitem__, text))


class Paper:
    """
    A stack of pages; the same calls give the same bytes, on every day.

    The file's own date is therefore fixed; what it tells has its date in print.

    Places are points from the left and from the top. Not for two threads at once.

    Raises:
        WriterMissing: when made without reportlab.
    """

    def __init__(self, title: str, language: str) -> None:
        """Take the first page."""
        _widths()
        from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

        self._bytes = io.BytesIO()
        self._canvas = Canvas(
            self._bytes,
            (WIDTH, HEIGHT),
            pageCompression=1,
            invariant=1,
            initialFontName=Face.PLAIN.value,
            lang=language,
        )
        self._canvas.setTitle(title)
        self._canvas.setAuthor("pixgate")
        self._canvas.setCreator("pixgate")

    def write(self, at: tuple[float, float], text: str, ink: Ink) -> None:
        """Write a text that begins at ``at``; the base line is what is placed."""
        self._dip(ink)
        self._canvas.drawString(at[0], HEIGHT - at[1], drawable(text))

    def write_right(self, at: tuple[float, float], text: str, ink: Ink) -> None:
        """Write a text that ends at ``at``."""
        self._dip(ink)
        self._canvas.drawRightString(at[0], HEIGHT - at[1], drawable(text))

    def rule(self, left: float, right: float, top: float) -> None:
        """Draw a thin level line."""
        self._canvas.setStrokeColorRGB(*GREY)
        self._canvas.setLineWidth(0.4)
        self._canvas.line(left, HEIGHT - top, right, HEIGHT - top)

    def turn(self) -> None:
        """Finish this page; the next call writes on another."""
        self._canvas.showPage()

    def content(self) -> bytes:
        """Return the file; every page must have been finished, and nothing follows."""
        self._canvas.save()
        return self._bytes.getvalue()

    def _dip(self, ink: Ink) -> None:
        """Take font and colour."""
        self._canvas.setFont(ink.face.value, ink.size)
        self._canvas.setFillColorRGB(*ink.colour)
