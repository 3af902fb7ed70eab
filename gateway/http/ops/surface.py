"""The operations surface: liveness, readiness, metrics, configuration digest."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import orjson
from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from gateway.core import trace
from gateway.core.catalogue import ErrorCode
from gateway.core.clocks import Monotonic
from gateway.core.errors import INTERNAL, METHOD_NOT_ALLOWED, ROUTE_UNKNOWN
from gateway.net.server.refusals import SERVER, error_body
from gateway.telemetry.metrics.registry import MetricRegistry

_log = logging.getLogger(__name__)
_JSON: Final = "application/json; charset=utf-8"
_METRICS_S: Final = 5.0
"""How long one rendering of the metrics is given out."""


def check_ops_address(host: str, *, allow_public: bool) -> None:
    """
    Admit an address that only this machine can reach, or any address if allowed.

    Raises:
        ValueError: with one line for the operator. A name other than
            ``localhost`` counts as public: its address can change.
    """
    if allow_public or _is_loopback(host):
        return
    message = (
        f"the operations listener would be reachable on {host or 'every address'!r}: "
        "use a loopback address, or allow a public one explicitly"
    )
    raise ValueError(message)


@dataclass(slots=True, kw_only=True)
class OpsSurface:
    """
    Answers the four reads of the second listener; it must not be reachable from outside.

    A ``gateway.net.server.listener.Listener`` serves ``application``.

    Once every check has passed, a store that is away leaves the process ready: it answers requests
    with an error of the contract, and a load balancer could only do worse. A store that answers
    and takes no writes takes the process out.

    Attributes:
        ready: Every readiness check by name (store, migrations), True when it
            passes; may raise, which counts as not passed.
        draining: Whether the process is being stopped; then it is not ready.
        has_worker: Whether a worker is alive; shown, but no reason to be not ready.
        ready_deadline_s: How long ``ready`` may take; load balancers wait longer.
    """

    ready: Callable[[], Awaitable[Mapping[str, bool]]]
    draining: Callable[[], bool]
    metrics: MetricRegistry
    config_digest: str
    version: str
    has_worker: Callable[[], bool] = lambda: True
    ready_deadline_s: float = 1.0
    clock: Monotonic = time.monotonic
    _was_ready: bool = False
    _rendering: asyncio.Lock = field(default_factory=asyncio.Lock)
    _rendered: dict[tuple[bool, bool], tuple[float, bytes, str]] = field(default_factory=dict)

    def change_digest(self, digest: str) -> None:
        """Use another configuration digest from now on."""
        self.config_digest = digest
        self._rendered.clear()

    def application(self) -> web.Application:
        """Build the application; every answer has a trace id, every error our body."""
        app = web.Application(middlewares=[self._observe])
        app.add_routes(
            [
                web.get("/livez", self._live),
                web.get("/readyz", self._ready),
                web.get("/metrics", self._metrics),
                web.get("/config/digest", self._digest),
            ]
        )
        return app

    @web.middleware
    async def _observe(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Begin the trace, and render every exception."""
        sent = request.headers.getall("X-Trace-ID", [])
        trace_id = trace.accepted(sent) or trace.new_trace_id()
        trace.begin(trace_id)
        try:
            answer = await handler(request)
        except web.HTTPMethodNotAllowed as problem:
            answer = _refusal(METHOD_NOT_ALLOWED, trace_id)
            answer.headers[hdrs.ALLOW] = ", ".join(sorted(problem.allowed_methods))
        except web.HTTPException:
            answer = _refusal(ROUTE_UNKNOWN, trace_id)
        except Exception:  # noqa: BLE001 - the outermost place: nothing leaves without our error body
            _log.exception("operations request failed")
            answer = _refusal(INTERNAL, trace_id)
        answer.headers["X-Trace-ID"] = trace_id
        answer.headers[hdrs.CACHE_CONTROL] = "no-store"
        answer.headers[hdrs.SERVER] = SERVER
        return answer

    async def _live(self, request: web.Request) -> web.Response:
        """Return that the process answers, and nothing else."""
        return _json({"status": "alive", "version": self.version})

    async def _ready(self, request: web.Request) -> web.Response:
        """Return readiness and the result of each check; 503 if not ready."""
        checks, draining = await self._checks(), self.draining()
        passed = bool(checks) and all(checks.values())
        self._was_ready = self._was_ready or passed
        # One that answers and takes no writes may be the wrong one, of this process alone.
        is_away = not checks.get("store", False)
        ready = not draining and (passed or (self._was_ready and is_away))
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        word = "ready" if ready else "unready"
        document = {"status": word, "draining": draining, "checks": checks}
        return _json({**document, "worker": self.has_worker()}, status)

    async def _metrics(self, request: web.Request) -> web.Response:
        """Return the metrics, in the OpenMetrics format and compressed if requested."""
        as_openmetrics = "application/openmetrics-text" in request.headers.get(hdrs.ACCEPT, "")
        zipped = "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, "")
        async with self._rendering:
            body, content_type = await self._render(as_openmetrics=as_openmetrics, zipped=zipped)
        headers = {hdrs.CONTENT_TYPE: content_type}
        if zipped:
            headers[hdrs.CONTENT_ENCODING] = "gzip"
        return web.Response(body=body, headers=headers)

    async def _digest(self, request: web.Request) -> web.Response:
        """Return the digest of the current configuration, so that nodes can be compared."""
        return _json({"digest": self.config_digest, "version": self.version})

    async def _checks(self) -> dict[str, bool]:
        """Run the checks; the text of a failure stays inside."""
        try:
            async with asyncio.timeout(self.ready_deadline_s):
                found = await self.ready()
        except Exception:  # noqa: BLE001 - the caller wants yes or no, and a failing check is a no
            _log.exception("readiness could not be checked")
            return {"readiness": False}
        return {name: bool(passed) for name, passed in found.items()}

    async def _render(self, *, as_openmetrics: bool, zipped: bool) -> tuple[bytes, str]:
        """Render in a thread, unless it was done a moment ago."""
        form, now = (as_openmetrics, zipped), self.clock()
        kept = self._rendered.get(form)
        if kept is None or now - kept[0] >= _METRICS_S:
            render = self.metrics.render
            text = await asyncio.to_thread(render, as_openmetrics=as_openmetrics, zipped=zipped)
            kept = self._rendered[form] = (now, *text)
        return kept[1:]


def _refusal(error: ErrorCode, trace_id: str) -> web.Response:
    body = error_body(error, trace_id)
    return web.Response(status=error.status, body=body, headers={"Content-Type": _JSON})


def _json(document: Mapping[str, object], status: int = HTTPStatus.OK) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(document), headers={"Content-Type": _JSON})


def _is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)
