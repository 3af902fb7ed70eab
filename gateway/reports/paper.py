"""
Printed pages: a summary, and a table that goes on from page to page.

The only module that imports reportlab; it is imported where a PDF is made. The font is Bitstream
Vera, which reportlab carries and which is embedded: it has every letter of Portuguese and of
western Europe. What it lacks is replaced by ``MISSING``.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final
from xml.sax.saxutils import escape

from reportlab import platypus  # type: ignore[import-untyped]
from reportlab.lib.colors import HexColor  # type: ignore[import-untyped]
from reportlab.lib.pagesizes import A4  # type: ignore[import-untyped]
from reportlab.lib.styles import ParagraphStyle  # type: ignore[import-untyped]
from reportlab.pdfbase import pdfmetrics, ttfonts  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from gateway.reports.document import Row

MISSING: Final = "\u00bf"
"""Stands for a character that the font cannot draw."""

_PLAIN, _BOLD = "Vera", "VeraBd"
_GREY, _RED, _BLACK = HexColor("#6b6b6b"), HexColor("#b80000"), HexColor("#000000")
_WIDTH, _HEIGHT = A4
_LEFT, _RIGHT, _TOP, _FOOT = 42.0, _WIDTH - 42.0, _HEIGHT - 78.0, 30.0
_SIZE, _SMALL, _LINE = 8.0, 6.5, 11.0
_FACTS = (148.0, _RIGHT - _LEFT - 148.0)
_COLUMNS = (90.0, 330.0, _RIGHT - _LEFT - 420.0)
_TEXT = ParagraphStyle("text", fontName=_PLAIN, fontSize=_SIZE, leading=_LINE)
_LABEL = ParagraphStyle("label", parent=_TEXT, fontName=_BOLD)
_BARE: Final = [
    ("VALIGN", (0, 0), (-1, -1), "TOP"),
    *((f"{side}PADDING", (0, 0), (-1, -1), 0) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")),
]
_ROW: Final = [
    *_BARE,
    ("BOTTOMPADDING", (0, 0), (-1, -1), 7),
    ("FONT", (0, 0), (-1, -1), _PLAIN, _SIZE, _LINE),
    ("ALIGN", (2, 0), (2, -1), "RIGHT"),
]
_OWED: Final = [*_ROW, ("TEXTCOLOR", (2, 0), (2, -1), _RED)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands on every page; ``warning`` may be empty."""

    title: str
    heading: str
    under: str
    warning: str
    foot: str
    columns: tuple[str, str, str]


def pages(frame: Frame, facts: Sequence[tuple[str, str]], rows: Iterable[Row | str]) -> bytes:
    """Draw; the same texts give the same bytes on every day, since the file has no date."""
    _known()
    content = io.BytesIO()
    paper = platypus.BaseDocTemplate(
        content,
        pagesize=A4,
        title=frame.title,
        author="pixgate",
        creator="pixgate",
        lang="pt-BR",
        invariant=1,
        initialFontName=_PLAIN,
    )
    paper.addPageTemplates(
        [
            platypus.PageTemplate(
                "first",
                [_room(_TOP)],
                onPage=lambda canvas, _: _framed(canvas, frame),
                autoNextPageTemplate="others",
            ),
            platypus.PageTemplate(
                "others",
                [_room(_TOP - 2 * _LINE)],
                onPage=lambda canvas, _: _framed(canvas, frame, frame.columns),
            ),
        ]
    )
    paper.build([*_story(frame, facts, rows)], canvasmaker=_Numbered)
    return content.getvalue()


class _Numbered(Canvas):  # type: ignore[misc] # the library has no types
    """Pages that say how many there are, which is known at the end."""

    def save(self) -> None:
        """Fill the place on every page."""
        self.beginForm("pages")
        _ink(self, _PLAIN, _SMALL, _GREY)
        self.drawString(0, 0, str(self.getPageNumber() - 1))
        self.endForm()
        super().save()


def _room(top: float) -> platypus.Frame:
    """Leave room for the foot."""
    bottom = _FOOT + 2 * _LINE
    return platypus.Frame(_LEFT, bottom, _RIGHT - _LEFT, top - bottom, 0, 0, 0, 0)


def _framed(canvas: Canvas, frame: Frame, columns: Sequence[str] = ()) -> None:
    """Write what stands on a page before its rows."""
    _ink(canvas, _BOLD, 14, _BLACK)
    canvas.drawString(_LEFT, _HEIGHT - 50, frame.heading)
    _ink(canvas, _BOLD, 9, _RED)
    canvas.drawRightString(_RIGHT, _HEIGHT - 50, frame.warning)
    _ink(canvas, _PLAIN, _SMALL, _GREY)
    canvas.drawString(_LEFT, _HEIGHT - 62, frame.under)
    canvas.setStrokeColor(_GREY)
    canvas.setLineWidth(0.4)
    canvas.line(_LEFT, _FOOT + _LINE, _RIGHT, _FOOT + _LINE)
    canvas.drawString(_LEFT, _FOOT, frame.foot)
    canvas.drawRightString(_RIGHT - 16, _FOOT, f"Página {canvas.getPageNumber()} de")
    canvas.saveState()
    canvas.translate(_RIGHT - 14, _FOOT)
    canvas.doForm("pages")
    canvas.restoreState()
    if columns:
        head = _head(columns)
        head.wrapOn(canvas, _RIGHT - _LEFT, _LINE)
        head.drawOn(canvas, _LEFT, _TOP - _LINE - 4)


def _story(
    frame: Frame, facts: Sequence[tuple[str, str]], rows: Iterable[Row | str]
) -> Iterator[platypus.Flowable]:
    """Put a summary before the rows; each is a table of its own, for one that is split is slow."""
    for label, text in facts:
        cells = [platypus.Paragraph(_told(label), _LABEL), platypus.Paragraph(_told(text), _TEXT)]
        yield platypus.Table([cells], _FACTS, style=_BARE)
    yield platypus.Spacer(0, _LINE)
    yield _head(frame.columns)
    for each in rows:
        yield _row(each)


def _head(columns: Sequence[str]) -> platypus.Table:
    """Name the columns, above a line."""
    bold = ("FONT", (0, 0), (-1, -1), _BOLD, _SIZE, _LINE)
    line = ("LINEBELOW", (0, 0), (-1, -1), 0.4, _GREY)
    style = [*_ROW, bold, line, ("BOTTOMPADDING", (0, 0), (-1, -1), 2)]
    return platypus.Table([columns], _COLUMNS, style=style, spaceAfter=4)


def _row(row: Row | str) -> platypus.Table:
    """Write one movement, or a sentence; the minus tells a debit, the colour only repeats it."""
    if isinstance(row, str):
        return platypus.Table([["", row, ""]], _COLUMNS, style=_ROW)
    lines = [*map(_told, row.lines)]
    if row.identifiers:
        small = f'<font size="{_SMALL}" color="{_GREY.hexval()}">{_told(row.identifiers)}</font>'
        lines.append(small)
    cells = [row.when, platypus.Paragraph("<br/>".join(lines), _TEXT), row.amount]
    return platypus.Table([cells], _COLUMNS, style=_OWED if row.owed else _ROW)


def _ink(canvas: Canvas, face: str, size: float, colour: HexColor) -> None:
    canvas.setFont(face, size)
    canvas.setFillColor(colour)


def _told(text: str) -> str:
    """Replace what the font lacks, and write what is left as reportlab's markup."""
    known = _known()
    drawn = text if known.issuperset(text) else "".join(c if c in known else MISSING for c in text)
    return escape(drawn)


@cache
def _known() -> frozenset[str]:
    """Register the fonts, once; tell which characters they have."""
    fonts = [ttfonts.TTFont(face, f"{face}.ttf") for face in (_PLAIN, _BOLD)]
    for font in fonts:
        pdfmetrics.registerFont(font)
    return frozenset.intersection(*(frozenset(map(chr, font.face.charWidths)) for font in fonts))
