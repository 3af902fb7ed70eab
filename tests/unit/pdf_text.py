"""What stands where on the pages of a PDF file: enough of a reader for our own files."""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import dataclass

_OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)endobj", re.DOTALL)
_FONT = re.compile(rb"/(F\d+\+\d+) (\d+) 0 R")
_MAPPED = re.compile(rb"^<([0-9A-F]{2})> <([0-9A-F]{4})>$", re.MULTILINE)
_TEXT = re.compile(
    rb"BT 1 0 0 1 (\S+) (\S+) Tm ((?:/F\d+\+\d+ \S+ Tf .*?\) Tj )+)T\* ET", re.DOTALL
)
_PART = re.compile(rb"/(F\d+\+\d+) (\S+) Tf \S+ TL \(((?:[^()\\]|\\.)*)\) Tj", re.DOTALL)
_ESCAPE = re.compile(rb"\\(\d{3}|.)", re.DOTALL)


@dataclass(frozen=True)
class Placed:
    """A text; ``left`` and ``up`` are points from the page's lower left corner."""

    left: float
    up: float
    size: float
    text: str


def pages_of(content: bytes) -> list[list[Placed]]:
    """Read every page, texts in the order they were written."""
    objects = {int(found[1]): found[2] for found in _OBJECT.finditer(content)}
    fonts = {
        name.decode(): _letters(objects, int(number))
        for name, number in _FONT.findall(content)
        if b"/ToUnicode" in objects[int(number)]
    }
    drawn = [
        _stream(objects[int(found[1])])
        for body in objects.values()
        if b"/Type /Page\n" in body + b"\n" and (found := re.search(rb"/Contents (\d+) 0 R", body))
    ]
    return [[_placed(found, fonts) for found in _TEXT.finditer(page)] for page in drawn]


def texts_of(content: bytes) -> list[str]:
    """Read every text of every page."""
    return [placed.text for page in pages_of(content) for placed in page]


def _placed(found: re.Match[bytes], fonts: dict[str, dict[int, str]]) -> Placed:
    parts = _PART.findall(found[3])
    text = "".join(
        fonts[font.decode()][code] for font, _, written in parts for code in _unescaped(written)
    )
    return Placed(float(found[1]), float(found[2]), float(parts[0][1]), text)


def _unescaped(written: bytes) -> bytes:
    def one(found: re.Match[bytes]) -> bytes:
        return bytes([int(found[1], 8)]) if found[1].isdigit() else found[1]

    return _ESCAPE.sub(one, written)


def _letters(objects: dict[int, bytes], font: int) -> dict[int, str]:
    """Read what each code of a font stands for."""
    number = int(re.search(rb"/ToUnicode (\d+) 0 R", objects[font])[1])
    pairs = _MAPPED.findall(_stream(objects[number]))
    return {int(code, 16): chr(int(letter, 16)) for code, letter in pairs}


def _stream(body: bytes) -> bytes:
    head, _, rest = body.partition(b"stream\n")
    content = rest[: rest.rindex(b"endstream")].rstrip(b"\n") if b"ASCII85" in head else rest
    packed = base64.a85decode(b"<~" + content, adobe=True) if b"ASCII85" in head else content
    return zlib.decompressobj().decompress(packed)
