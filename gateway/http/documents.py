"""Ready-made documents, served as they are."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Protocol

from aiohttp import hdrs

from gateway.core.priority import Priority
from gateway.http.openapi.document import as_json, as_yaml, document
from gateway.http.openapi.examples import DAY, ORIGIN
from gateway.http.route import OK, Surface
from gateway.net.server.lane import Reply

_DESCRIBED: Final = {
    "banking": ("", "pixgate banking"),
    "events": ("/events/v1", "pixgate events"),
    "sandbox": ("/sandbox/v1", "pixgate sandbox"),
    "identity": ("/iam/v1", "pixgate identity"),
    "backoffice": ("/backoffice/v1", "pixgate back office"),
}
"""Where the document of a surface stands, and its title; the banking one is YAML too."""

_IN_YAML: Final = "banking"

REFERENCE: Final = "reference"
"""The page that shows the partners' interface to everybody, for logs and metrics."""

SITE: Final = "docs"
"""Every file of the documentation site, for logs and metrics."""

PAGES: Final = (
    *(f"{surface}.openapi_json" for surface in _DESCRIBED),
    f"{_IN_YAML}.openapi_yaml",
    REFERENCE,
    SITE,
)
"""The names of all pages, for logs and metrics."""


class ReadyMade(Protocol):
    """A document that is served as it is, to everybody."""

    @property
    def name(self) -> str:
        """Return the name for logs and metrics."""
        ...

    @property
    def priority(self) -> Priority:
        """Return its class under overload."""
        ...

    def reply(self, encodings: str) -> Reply:
        """Return the reply; ``encodings`` is the request's ``Accept-Encoding``."""
        ...


@dataclass(frozen=True)
class Page:
    """
    One document, open to everybody.

    Attributes:
        headers: Of its answer; without ``Cache-Control`` it is not cached.
        today: Replaces the day of examples in each answer, where there is one: a payout's date
            is today.
        origin: Replaces the address of the gateway in each answer with such a day.
        packed: Its compressed content; empty where it is never compressed.
        priority: Its class under overload.
    """

    name: str
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    packed: bytes = b""
    priority: Priority = Priority.STRANGERS
    today: Callable[[], str] | None = None
    origin: Callable[[], str] = lambda: ORIGIN

    def reply(self, encodings: str) -> Reply:
        """Return the reply; ``encodings`` is the request's ``Accept-Encoding``."""
        headers = {hdrs.CONTENT_TYPE: self.content_type, **self.headers}
        if not self.packed:
            return Reply(OK, headers, self._current())
        headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
        if not takes_gzip(encodings):
            return Reply(OK, headers, self.body)
        headers[hdrs.CONTENT_ENCODING] = "gzip"
        return Reply(OK, headers, self.packed)

    def _current(self) -> bytes:
        if self.today is None:
            return self.body
        return _filled(self.body, self.today(), self.origin())


@lru_cache(maxsize=8)
def _filled(body: bytes, day: str, origin: str) -> bytes:
    """Insert day and address into a document; concurrent callers share its bytes."""
    return body.replace(DAY.encode(), day.encode()).replace(ORIGIN.encode(), origin.encode())


def pack(content: bytes) -> bytes:
    """Compress a page's content; the same bytes each time."""
    return gzip.compress(content, _LEVEL, mtime=0)


_LEVEL: Final = 6
"""Beyond it 2 MB take three times as long, for one part in a hundred."""


def takes_gzip(encodings: str) -> bool:
    """Return whether gzip is accepted and not refused (RFC 9110, 12.5.3)."""
    for each in encodings.split(","):
        coding, _, weight = each.partition(";")
        if coding.strip().lower() == "gzip":
            return not _NONE.fullmatch(weight.strip())
    return False


_NONE: Final = re.compile(r"q=0(?:\.0{0,3})?")


def openapi_pages(
    surfaces: Iterable[Surface],
    today: Callable[[], str],
    origin: Callable[[], str] = lambda: ORIGIN,
) -> Mapping[str, Page]:
    """
    Return the OpenAPI documents by path, of the surfaces that have one.

    ``today`` is the day of their examples, ``YYYY-MM-DD`` in UTC; ``origin`` is where clients
    made of them go, and no request decides it. They are written here: it takes 0.2 s, in which
    a listener would serve no one.

    Raises:
        ValueError: Two shapes would have one name.
    """
    return {
        path: page
        for surface in surfaces
        if surface.name in _DESCRIBED
        for path, page in _pages(surface, today, origin)
    }


def _pages(
    surface: Surface, today: Callable[[], str], origin: Callable[[], str]
) -> Iterator[tuple[str, Page]]:
    prefix, title = _DESCRIBED[surface.name]
    written = document(surface, title)
    name, kind = f"{surface.name}.openapi_json", "application/json; charset=utf-8"
    yield f"{prefix}/openapi.json", Page(name, kind, as_json(written), today=today, origin=origin)
    if surface.name == _IN_YAML:
        name, kind = f"{surface.name}.openapi_yaml", "application/yaml; charset=utf-8"
        yield (
            f"{prefix}/openapi.yaml",
            Page(name, kind, as_yaml(written), today=today, origin=origin),
        )
