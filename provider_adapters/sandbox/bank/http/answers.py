"""Answers: documents as responses, refusals in the bank's error shape."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from provider_adapters.sandbox.bank.kernel.faults import Fault
from provider_adapters.sandbox.bank.kernel.refusals import Code, Refusal

_LOG = logging.getLogger(__name__)
_CODES: Final = {
    401: Code.UNAUTHORIZED,
    404: Code.NOT_FOUND,
    405: Code.METHOD_NOT_ALLOWED,
    413: Code.TOO_LARGE,
    429: Code.TOO_MANY_REQUESTS,
}
_SERVER_ERROR = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    The bank's answer to a request.

    Attributes:
        fault: What a magic amount does to the answer.
    """

    document: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None

    def body(self) -> bytes:
        """Encode the document as JSON, UTF-8."""
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":")).encode()


def refusal(problem: Refusal) -> Answer:
    """Return the answer of a refusal."""
    return error(problem.status, problem.code, problem.message)


def error(status: int, code: str, message: str) -> Answer:
    """Return an error in the bank's shape."""
    return Answer(document={"error": {"code": code, "message": message}}, status=status)


def failure(status: int) -> Answer:
    """Return the error of a bare HTTP status; the code says no more than the status."""
    fallback = Code.INTERNAL if status >= _SERVER_ERROR else Code.INVALID_REQUEST
    return error(status, _CODES.get(status, fallback), "the request failed")


def respond(answer: Answer) -> web.Response:
    """Build the HTTP response of an answer."""
    return web.Response(
        body=answer.body(),
        status=answer.status,
        headers=answer.headers,
        content_type="application/json",
    )


@web.middleware
async def show_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every refusal and every failure in the bank's error shape."""
    try:
        return await handler(request)
    except Refusal as problem:
        return respond(refusal(problem))
    except web.HTTPException as problem:
        allowed = problem.headers.getall("Allow", [])
        shown = failure(problem.status)
        headers = {"Allow": allowed[0]} if allowed else {}
        return respond(Answer(document=shown.document, status=shown.status, headers=headers))
    except Exception:  # noqa: BLE001 - the last resort: JSON even for a mistake of the bank's own
        _LOG.exception("the sandbox bank failed")
        return respond(failure(_SERVER_ERROR))
