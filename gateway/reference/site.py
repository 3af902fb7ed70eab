"""
The documentation site below ``/docs/``, as ``make docs-site`` built it.

The folder holds each file compressed, under its own name and ``.gz``. All are read once, some 3 MB:
a request then reads no file, and a path can name nothing but a file of the site.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from aiohttp import hdrs

from gateway.core import errors, user_errors
from gateway.core.catalogue import ErrorCode
from gateway.core.priority import Priority
from gateway.http.documents import SITE, ReadyMade, takes_gzip
from gateway.http.panel.pages.represent import HEADERS
from gateway.http.route import OK
from gateway.net.server.lane import Reply

FOLDER: Final = Path(__file__).parent / "site"
"""Ignored by git, contained in the wheel; absent in a checkout before ``make docs-site``."""
HOME: Final = "/docs/"
PACKED: Final = ".gz"
_ABSENT: Final = "404.html"
_FOR_PROGRAMS: Final = "llms.txt"
"""Served at the root too, where programs look for it."""
_PAGE: Final = "index.html"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self';"
    " style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Of every file. Cells of a table are aligned by an attribute ``style``."""
_HEADERS: Final = {**HEADERS, "Content-Security-Policy": _POLICY, hdrs.VARY: hdrs.ACCEPT_ENCODING}
_DIGEST: Final = re.compile(r"\.[0-9a-f]{8}\.")
"""In the name of a file whose content never changes under that name."""
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_BRIEFLY: Final = "public, max-age=300"
"""A new version of the gateway shows soon."""
_MOVED: Final = 308


@dataclass(frozen=True, slots=True)
class SiteFile:
    """One file of the site, open to everybody; ``packed`` is its content, compressed by gzip."""

    headers: Mapping[str, str]
    packed: bytes
    status: int = OK
    name: str = SITE
    priority: Priority = Priority.STRANGERS

    def reply(self, encodings: str) -> Reply:
        """Return the reply; who takes no gzip gets the content decompressed."""
        if takes_gzip(encodings):
            headers = {**self.headers, hdrs.CONTENT_ENCODING: "gzip"}
            return Reply(self.status, headers, self.packed)
        return Reply(self.status, dict(self.headers), _plain(self.packed))


@lru_cache(maxsize=8)
def _plain(packed: bytes) -> bytes:
    """Decompress a file: some 10 ms for the largest, so those asked for last are kept."""
    return gzip.decompress(packed)


@dataclass(frozen=True, slots=True)
class Moved:
    """The path of a page without its last slash: links of the page would lead elsewhere."""

    to: str
    name: str = SITE
    priority: Priority = Priority.STRANGERS

    def reply(self, _encodings: str) -> Reply:
        """Return the redirect."""
        return Reply(_MOVED, {hdrs.LOCATION: self.to, hdrs.CACHE_CONTROL: _BRIEFLY})


@cache
def read_site(folder: Path = FOLDER) -> Mapping[str, ReadyMade]:
    """Return the files of the site by path; none where it is not built."""
    served: dict[str, ReadyMade] = {}
    for path in sorted(folder.rglob(f"*{PACKED}")):
        name = path.relative_to(folder).as_posix().removesuffix(PACKED)
        if name == _ABSENT:
            continue
        file = SiteFile(_headers(name), path.read_bytes())
        if name.rpartition("/")[2] == _PAGE:
            place = HOME + name.removesuffix(_PAGE)
            served[place] = file
            served[place.removesuffix("/")] = Moved(place)
        else:
            served[HOME + name] = file
    if HOME + _FOR_PROGRAMS in served:
        served[f"/{_FOR_PROGRAMS}"] = served[HOME + _FOR_PROGRAMS]
    return served


@cache
def absent_pages(folder: Path = FOLDER) -> Mapping[str, ReadyMade]:
    """Return what a browser is shown for an unknown path, by the prefix of the path."""
    path = folder / f"{_ABSENT}{PACKED}"
    if not path.exists():
        return {}
    headers = {**_headers(_ABSENT), hdrs.CACHE_CONTROL: "no-store"}
    return {HOME: SiteFile(headers, path.read_bytes(), errors.ROUTE_UNKNOWN.status)}


def error_links(
    pages: Iterable[str],
    catalogue: Iterable[ErrorCode] = (*errors.CATALOGUE, *user_errors.CATALOGUE),
) -> Mapping[str, str]:
    """Return the value of a ``Link`` header for each code that has a page among ``pages``."""
    known = set(pages)
    places = {each.code: f"{HOME}errors/{each.code}/" for each in catalogue}
    return {code: f'<{place}>; rel="help"' for code, place in places.items() if place in known}


def _headers(name: str) -> Mapping[str, str]:
    is_fixed = name.startswith("assets/") and _DIGEST.search(name)
    kind = _TYPES.get(Path(name).suffix, "application/octet-stream")
    caching = _FOR_EVER if is_fixed else _BRIEFLY
    return {**_HEADERS, hdrs.CONTENT_TYPE: kind, hdrs.CACHE_CONTROL: caching}
