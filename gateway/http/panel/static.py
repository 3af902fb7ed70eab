"""
The panel's styles, scripts, fonts and icons, read once; an address never changes content.

The address holds a digest of all files, so a browser may keep them for a year and a new version is
loaded at once. One digest for all: a style sheet names its fonts, beside itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from gateway.core.priority import Priority
from gateway.http.documents import Page, pack
from gateway.panel.vendor import FOLDER, read_vendored, vendor_files

NAME: Final = "panel.static"
"""Of every file, for logs and metrics."""

OWN: Final = FOLDER.parent
_PREFIX: Final = "/panel/static"
_FONTS: Final = "fonts.css"
"""Our style sheet that names the fonts of others; without them it is not served."""

_DIGITS: Final = 16
"""64 bits: nobody chooses the content, so a chance collision is all there is to fear."""

_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_PACKED: Final = frozenset({".css", ".js", ".svg"})
"""Text; a font is compressed already."""

_HEADERS: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
_WORKER: Final = "worker.js"
WORKER: Final = f"/panel/{_WORKER}"
"""A service worker's address never changes: under another one a browser would subscribe twice."""
_NOT_KEPT: Final = {**_HEADERS, "Cache-Control": "no-cache"}


@dataclass(frozen=True)
class StaticFiles:
    """
    The files by name.

    Attributes:
        known: Every name that pages may request, absent files of others included.
    """

    files: Mapping[str, bytes]
    known: frozenset[str]

    @cached_property
    def digest(self) -> str:
        """Return the digest of all files, which their addresses contain."""
        summed = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            summed.update(b"%s %d\n" % (name.encode(), len(content)))
            summed.update(content)
        return summed.hexdigest()[:_DIGITS]

    def address(self, name: str) -> str:
        """
        Return a file's path; empty for a file of others that was not installed.

        Raises:
            KeyError: no file has this name, installed or not.
        """
        if name not in self.known:
            raise KeyError(name)
        return self.addresses.get(name, "")

    @cached_property
    def addresses(self) -> Mapping[str, str]:
        """Return the path of each file that is there."""
        return {name: f"{_PREFIX}/{self.digest}/{name}" for name in self.files}

    @cached_property
    def pages(self) -> Mapping[str, Page]:
        """Return the files by path, as the server serves them; they are compressed here."""
        found = {path: _page(name, self.files[name]) for name, path in self.addresses.items()}
        if _WORKER in self.files:
            found[WORKER] = _page(_WORKER, self.files[_WORKER], _NOT_KEPT)
        return found


@cache
def read_static(own: Path = OWN, vendored: Path = FOLDER) -> StaticFiles:
    """Read all files; vendored files only if listed with this digest."""
    files = {path.name: path.read_bytes() for path in own.iterdir() if path.suffix in _TYPES}
    known, complete = set(files), True
    for listed in vendor_files():
        if not listed.is_served:
            continue
        known.add(listed.name)
        content = read_vendored(vendored, listed)
        if content is not None:
            files[listed.name] = content
        elif listed.name.endswith(".woff2"):
            complete = False
    if not complete:
        del files[_FONTS]
    return StaticFiles(files, frozenset(known))


def _page(name: str, content: bytes, headers: Mapping[str, str] = _HEADERS) -> Page:
    suffix = Path(name).suffix
    packed = pack(content) if suffix in _PACKED else b""
    return Page(NAME, _TYPES[suffix], content, headers, packed, Priority.PAGES)
