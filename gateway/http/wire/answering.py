"""What goes back over a connection: our headers on every answer, our body on every refusal."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final, cast

from aiohttp import hdrs, web
from aiohttp.web_protocol import RequestHandler, RequestPayloadError

from gateway.domain.errors import INTERNAL, ErrorCode
from gateway.http.wire.body import MalformedBody
from gateway.http.wire.faults import describe
from gateway.http.wire.refusals import find_code, find_code_of, is_foreign
from gateway.http.wire.request import WireRequest

if TYPE_CHECKING:
    from gateway.http.wire.server import WireServer

_log: Final = logging.getLogger("gateway.http.wire")


class Answering(RequestHandler):
    """
    aiohttp's handler of one connection, its every answer in our form.

    Attributes:
        limits: The listener's limits.
    """

    __slots__ = ("_server", "limits")

    def __init__(self, server: WireServer, loop: asyncio.AbstractEventLoop) -> None:
        limits = server.limits
        super().__init__(
            server,
            loop=loop,
            keepalive_timeout=limits.keepalive_s,
            lingering_time=limits.linger_s,
            max_line_size=limits.request_line_bytes,
            max_field_size=limits.header_line_bytes,
            max_headers=limits.headers,
            auto_decompress=False,
            access_log=cast("logging.Logger", None),
            logger=_log,
        )
        self.limits = limits
        self._server = server

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """
        Answer what the application did not; nothing of the request is answered or logged.

        Raises:
            ConnectionError: part of an answer is out already, or nobody is there
                to read one.
        """
        if request.writer.output_size > 0 or self.transport is None:
            problem = "no answer can be given any more"
            raise ConnectionError(problem) from exc
        error = find_code(exc, status)
        response = self._refuse(request, error)
        if error is INTERNAL:
            _log.error("%s, trace id %s", describe(exc), response.headers["X-Trace-ID"])
        return response

    def _refuse(self, request: web.BaseRequest, error: ErrorCode) -> web.StreamResponse:
        refusals = self._server.refusals
        return refusals.answer(error, refusals.find_trace_id(request))

    def log_exception(self, *args: object, **kw: object) -> None:
        """Log where it happened; aiohttp's own way would print the request's bytes."""
        raised = kw.get("exc_info")
        problem = raised if isinstance(raised, BaseException) else None
        known = isinstance(problem, (ConnectionError, MalformedBody, RequestPayloadError))
        level = logging.DEBUG if known else logging.ERROR
        _log.log(level, "connection ended by %s", describe(problem))

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Write the answer, or a 500 for one that cannot be written."""
        answer = self._make_presentable(request, resp)
        try:
            return await super().finish_response(request, answer, start_time)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the caller gets an answer
            apology = self.handle_error(request, 500, problem)
        return await super().finish_response(request, apology, start_time)

    def _make_presentable(
        self, request: web.BaseRequest, answer: web.StreamResponse | None
    ) -> web.StreamResponse:
        """Put our answer in the place of none, and our body in the place of aiohttp's."""
        if not isinstance(answer, web.StreamResponse):
            return self.handle_error(request, 500, TypeError())
        if not is_foreign(answer):
            return answer
        refusal = self._refuse(request, find_code_of(answer.status))
        if "Allow" in answer.headers:
            refusal.headers["Allow"] = answer.headers["Allow"]
        return refusal

    def dress(self, request: WireRequest, response: web.StreamResponse) -> None:
        """
        Put the listener's own headers on an answer, last before it is written.

        An answer given before the whole request has arrived is the connection's
        last: what still comes is thrown away, never read as a request.
        """
        response.headers.popall(hdrs.SERVER, None)
        if "X-Trace-ID" not in response.headers:
            response.headers["X-Trace-ID"] = self._server.refusals.find_trace_id(request)
        if self._server.draining or not request.is_complete:
            response.force_close()
            response.headers["Connection"] = "close"
