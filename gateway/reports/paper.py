"""
Printed pages: a summary, and a table over several pages.

The only module that imports reportlab; it is imported where a PDF is made. The font is DejaVu
Sans, which is embedded; where it was not installed, Bitstream Vera, of which it was made and which
reportlab carries: that one has the letters of western Europe alone. Arabic and Hebrew stand in
their reading order. Letters that a font lacks are written plainly, or else replaced by ``MISSING``;
a note lists them.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from arabic_reshaper import ArabicReshaper  # type: ignore[import-untyped]
from bidi import get_display  # type: ignore[import-untyped]
from bidi.mirror import MIRRORED  # type: ignore[import-untyped]
from reportlab import platypus  # type: ignore[import-untyped]
from reportlab.lib.colors import HexColor  # type: ignore[import-untyped]
from reportlab.lib.pagesizes import A4  # type: ignore[import-untyped]
from reportlab.lib.styles import ParagraphStyle  # type: ignore[import-untyped]
from reportlab.lib.utils import simpleSplit  # type: ignore[import-untyped]
from reportlab.pdfbase import pdfmetrics, ttfonts  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from gateway.core.ascii_letters import UNSEEN, ascii_letters
from gateway.panel.vendor import FOLDER, read_vendored, vendor_files
from gateway.reports.document import Row

MISSING: Final = "\u00bf"
"""Stands for a character that the font cannot draw."""

_PLAIN, _BOLD = "Pages", "PagesBold"
_FILES: Final = {_PLAIN: "dejavu-sans.ttf", _BOLD: "dejavu-sans-bold.ttf"}
_CARRIED: Final = {_PLAIN: "Vera.ttf", _BOLD: "VeraBd.ttf"}
_UNSEEN: Final = re.compile(f"[{UNSEEN}]")
_MARKS: Final = str.maketrans("", "", "\N{LEFT-TO-RIGHT MARK}\N{RIGHT-TO-LEFT MARK}")
"""What tells where a run of letters ends; they are not drawn."""
_BRACKET: Final = f"([{re.escape(''.join(MIRRORED))}])"
_JOINER: Final = "\N{COMBINING GRAPHEME JOINER}"
"""Unseen; it stays with the character that it follows, whichever way that is written."""
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_MOST_NAMED: Final = 12
"""Characters of one kind that the sentence about what is missing names."""
_GREY, _RED, _BLACK = HexColor("#6b6b6b"), HexColor("#b80000"), HexColor("#000000")
_WIDTH, _HEIGHT = A4
_LEFT, _RIGHT, _TOP, _FOOT = 42.0, _WIDTH - 42.0, _HEIGHT - 78.0, 30.0
_SIZE, _SMALL, _LINE = 8.0, 6.5, 11.0
_FACTS = (148.0, _RIGHT - _LEFT - 148.0)
_COLUMNS = (90.0, 330.0, _RIGHT - _LEFT - 420.0)
_TEXT = ParagraphStyle("text", fontName=_PLAIN, fontSize=_SIZE, leading=_LINE)
_LABEL = ParagraphStyle("label", parent=_TEXT, fontName=_BOLD)
_NOTE = ParagraphStyle("note", parent=_TEXT, fontSize=_SMALL, textColor=_GREY)
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
    """The texts on every page; ``warning`` may be empty."""

    title: str
    heading: str
    under: str
    warning: str
    foot: str
    columns: tuple[str, str, str]


def pages(
    frame: Frame,
    facts: Sequence[tuple[str, str]],
    rows: Iterable[Row | str],
    fonts: Path = FOLDER,
) -> bytes:
    """
    Draw; the same texts give the same bytes on every day, since the file has no date.

    Args:
        frame: The texts on every page.
        facts: The summary: labels with their texts.
        rows: Movements, or a sentence.
        fonts: Where DejaVu Sans stands, if it was installed.
    """
    pen = _Pen(_faces(fonts))
    for face in pen.faces.fonts:
        pdfmetrics.registerFont(face)
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
    paper.build([*_story(pen, frame, facts, rows)], canvasmaker=_Numbered)
    return content.getvalue()


class _Numbered(Canvas):  # type: ignore[misc] # the library has no types
    """A canvas that prints the total number of pages on every page."""

    def save(self) -> None:
        """Define the form ``pages``, which every page draws, now that the total is known."""
        self.beginForm("pages")
        _ink(self, _PLAIN, _SMALL, _GREY)
        self.drawString(0, 0, str(self.getPageNumber() - 1))
        self.endForm()
        super().save()


def _room(top: float) -> platypus.Frame:
    bottom = _FOOT + 2 * _LINE
    return platypus.Frame(_LEFT, bottom, _RIGHT - _LEFT, top - bottom, 0, 0, 0, 0)


def _framed(canvas: Canvas, frame: Frame, columns: Sequence[str] = ()) -> None:
    """Write the part of a page before its rows."""
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
    pen: _Pen, frame: Frame, facts: Sequence[tuple[str, str]], rows: Iterable[Row | str]
) -> Iterator[platypus.Flowable]:
    """Put a summary before the rows; each is a table of its own, for one that is split is slow."""
    for label, text in facts:
        markup = pen.markup(text, _FACTS[1])
        cells = [platypus.Paragraph(escape(label), _LABEL), platypus.Paragraph(markup, _TEXT)]
        yield platypus.Table([cells], _FACTS, style=_BARE)
    drawn = [_row(pen, each) for each in rows]
    if pen.missing:
        yield platypus.Spacer(0, _LINE)
        yield platypus.Paragraph(escape(_lacking(pen)), _NOTE)
    yield platypus.Spacer(0, _LINE)
    yield _head(frame.columns)
    yield from drawn


def _lacking(pen: _Pen) -> str:
    """Return which characters are missing, and why."""
    kinds: dict[str, list[str]] = {}
    for each in pen.missing:
        kind = "letras" if unicodedata.category(each).startswith("L") else "símbolos e emoji"
        kinds.setdefault(kind, []).append(f"U+{ord(each):04X}")
    named = "; ".join(
        f"{kind} {' '.join(codes[:_MOST_NAMED])}{' e outros' * (len(codes) > _MOST_NAMED)}"
        for kind, codes in kinds.items()
    )
    plain = "" if pen.faces.are_whole else " A fonte de outras escritas não está instalada aqui."
    return f"Onde se lê {MISSING}, há caracteres que esta fonte não tem: {named}.{plain}"


def _head(columns: Sequence[str]) -> platypus.Table:
    """Name the columns, above a line."""
    bold = ("FONT", (0, 0), (-1, -1), _BOLD, _SIZE, _LINE)
    line = ("LINEBELOW", (0, 0), (-1, -1), 0.4, _GREY)
    style = [*_ROW, bold, line, ("BOTTOMPADDING", (0, 0), (-1, -1), 2)]
    return platypus.Table([columns], _COLUMNS, style=style, spaceAfter=4)


def _row(pen: _Pen, row: Row | str) -> platypus.Table:
    """Write one movement, or a sentence; the minus marks a debit, the colour only repeats it."""
    if isinstance(row, str):
        return platypus.Table([["", row, ""]], _COLUMNS, style=_ROW)
    lines = [pen.markup(line, _COLUMNS[1]) for line in row.lines]
    if row.identifiers:
        markup = pen.markup(row.identifiers, _COLUMNS[1])
        small = f'<font size="{_SMALL}" color="{_GREY.hexval()}">{markup}</font>'
        lines.append(small)
    cells = [row.when, platypus.Paragraph("<br/>".join(lines), _TEXT), row.amount]
    return platypus.Table([cells], _COLUMNS, style=_OWED if row.owed else _ROW)


def _ink(canvas: Canvas, face: str, size: float, colour: HexColor) -> None:
    canvas.setFont(face, size)
    canvas.setFillColor(colour)


@dataclass(frozen=True, slots=True)
class _Faces:
    """
    The fonts of the pages, plain and bold.

    Attributes:
        known: Letters that both fonts have.
        are_whole: Whether they are the intended fonts.
    """

    fonts: Sequence[ttfonts.TTFont]
    known: frozenset[str]
    are_whole: bool


@cache
def _faces(folder: Path) -> _Faces:
    """Read the fonts, once."""
    listed = {file.name: read_vendored(folder, file) for file in vendor_files()}
    found = {face: listed[name] for face, name in _FILES.items()}
    whole = {face: io.BytesIO(content) for face, content in found.items() if content is not None}
    are_whole = len(whole) == len(found)
    fonts = [ttfonts.TTFont(*each) for each in (whole if are_whole else _CARRIED).items()]
    known = (frozenset(map(chr, font.face.charWidths)) for font in fonts)
    return _Faces(fonts, frozenset.intersection(*known), are_whole)


@dataclass(frozen=True, slots=True)
class _Pen:
    """
    Converts texts for one paper, and collects missing characters.

    Attributes:
        missing: Letters that the fonts lack, in the order of use.
    """

    faces: _Faces
    missing: dict[str, None] = field(default_factory=dict)

    def markup(self, text: str, width: float) -> str:
        """Return a text as reportlab markup, in drawing order."""
        if text.isascii():
            return escape(text)
        drawn = "".join(map(self._drawn, text))
        if not _RIGHT_TO_LEFT.search(drawn):
            return escape(drawn.translate(_MARKS))
        # Broken here: a line is turned as a whole, and the first one has the beginning.
        lines = simpleSplit(_joined().reshape(drawn), _PLAIN, _SIZE, width)
        return "<br/>".join(escape(_turned(line).translate(_MARKS)) for line in lines)

    def _drawn(self, character: str) -> str:
        """Return the drawn form of a character: itself, its plain form, nothing or ``MISSING``."""
        if _UNSEEN.match(character):
            return character if ord(character) in _MARKS else ""
        if character.isspace():
            return " "
        if character in self.faces.known:
            return character
        plain = ascii_letters(character)
        if self.faces.known.issuperset(plain):
            return plain
        self.missing[character] = None
        return MISSING


def _turned(line: str) -> str:
    """Order a line as it is drawn; brackets that are written from right to left are mirrored."""
    turned = get_display(re.sub(_BRACKET, rf"\1{_JOINER}", line), base_dir="L")
    return re.sub(
        f"{_BRACKET}{_JOINER}|{_JOINER}{_BRACKET}",
        lambda found: found[1] or MIRRORED[found[2]],
        turned,
    )


@cache
def _joined() -> ArabicReshaper:
    """Join Arabic letters as they are written; marks that may be left out are, as in print."""
    return ArabicReshaper({"delete_harakat": True, "support_ligatures": True})
