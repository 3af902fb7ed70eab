"""A collector of spans, which takes OTLP over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenSpan:
    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Collector:
    """
    The collected spans.

    Attributes:
        hangs: Whether it answers nobody until it is ``over``.
        raw: The bodies, as bytes.
    """

    url: str = ""
    hangs: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    spans: list[TakenSpan] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.raw.append(body)
        self.headers.append(dict(request.headers))
        for told in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append(_attributes(told.resource.attributes))
            self.spans += [_span(span) for scope in told.scope_spans for span in scope.spans]
        if self.hangs:
            await self.over.wait()
        return web.Response()

    def tree(self, trace: str) -> dict[str, str]:
        """Return each span of a trace with its parent: by name, or by id if that is not ours."""
        ours = [span for span in self.spans if span.trace == trace]
        names = {span.id: span.name for span in ours}
        return {span.name: names.get(span.parent, span.parent) for span in ours}

    def named(self, name: str) -> TakenSpan:
        [found] = [span for span in self.spans if span.name == name]
        return found


@asynccontextmanager
async def collecting(*, hangs: bool = False) -> AsyncIterator[Collector]:
    collector = Collector(hangs=hangs)
    app = web.Application()
    app.router.add_post("/v1/traces", collector.take)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1/traces"
    try:
        yield collector
    finally:
        collector.over.set()
        await runner.cleanup()


def _attributes(told: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in told}


def _span(told: Any) -> TakenSpan:
    return TakenSpan(
        name=told.name,
        trace=told.trace_id.hex(),
        id=told.span_id.hex(),
        parent=told.parent_span_id.hex(),
        attributes=_attributes(told.attributes),
    )
