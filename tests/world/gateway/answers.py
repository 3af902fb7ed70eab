"""An answer to a partner, and what must hold for every answer to any request."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from multidict import CIMultiDictProxy

from gateway.core.errors import CATALOGUE
from tests.world.gateway.sayings import means

JSON = "application/json; charset=utf-8"
WAITING = frozenset({429, 502, 503})
REFUSED = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: CIMultiDictProxy[str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of an error body; empty for anything else."""
        return str(self.document.get("code", "")) if self.status >= REFUSED and self.body else ""

    @property
    def verdict(self) -> tuple[int, str]:
        """Status and code; what a partner branches on."""
        return self.status, self.code

    @property
    def trace_id(self) -> str:
        return self.headers["X-Trace-ID"]

    @property
    def without_trace(self) -> bytes:
        """The body with the trace id blanked: what may be compared byte by byte."""
        return self.body.replace(self.trace_id.encode(), b"-")


def check(answer: Answer, method: str, content_type: str = JSON) -> None:
    """Demand what contract 1 and 2.2 promise of every answer."""
    headers = answer.headers
    assert len(headers.getall("X-Trace-ID", [])) == 1, headers
    assert answer.trace_id
    assert headers["Server"] == "pixgate"
    assert "Set-Cookie" not in headers
    assert headers.getall("Cache-Control") == ["no-store"]
    assert headers.getall("Content-Type") == [content_type]
    assert ("WWW-Authenticate" in headers) is (answer.status == 401)
    if answer.status in WAITING:
        assert int(headers["Retry-After"]) >= 1
    if answer.status >= REFUSED and method != "HEAD":
        _check_refusal(answer)


def _check_refusal(answer: Answer) -> None:
    """Demand the one error body: as it is catalogued, or naming a field."""
    document = answer.document
    assert list(document) == ["code", "message", "trace_id"]
    assert document["trace_id"] == answer.trace_id
    known = (each for each in CATALOGUE if (each.status, each.code) == answer.verdict)
    assert any(means(document["message"], each) for each in known), document
