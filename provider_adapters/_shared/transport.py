"""
The road to a bank, behind an interface small enough to be built anew.

The present one is aiohttp's ``ClientSession``. It keeps no cookie, follows no
redirect, reads no proxy from the environment, takes no compressed answer, and
sends nothing twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Protocol

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from yarl import URL

from gateway.domain.accounts import Environment
from gateway.domain.providers import BadReply, Unreachable
from gateway.telemetry import trace
from provider_adapters._shared import addresses, faults
from provider_adapters._shared.limits import ClientLimits
from provider_adapters._shared.messages import ProviderAnswer, ProviderRequest
from provider_adapters._shared.passage import Passage, SendRefused
from provider_adapters._shared.reasons import Reason


class Transport(Protocol):
    """Carries one request to one bank, once."""

    async def start(self) -> None:
        """Open what needs an event loop."""
        ...

    async def close(self) -> None:
        """Let go of every connection."""
        ...

    async def call(self, request: ProviderRequest, passage: Passage) -> ProviderAnswer:
        """
        Send a request and read the whole answer, whatever its status.

        Tells ``passage`` how far it is, and asks it in the step that writes the
        first byte. The caller limits the time and may cancel at any point.

        Raises:
            ProviderError: Unreachable when no byte left, else Unavailable or
                BadReply.
        """
        ...


Passing = Callable[[str], None]
"""Told the name of a point that a call which moves money passes; it may end the process there."""


class SessionTransport:
    """
    The transport over ``aiohttp.ClientSession``.

    Args:
        base_url: Ends without a slash.
        limits: Of this provider.
        environment: Decides which addresses may be reached.
        passing: A test's; only with one is a body written in two halves.
    """

    def __init__(
        self,
        base_url: str,
        limits: ClientLimits,
        environment: Environment,
        passing: Passing | None = None,
    ) -> None:
        self._base_url = base_url
        self._limits = limits
        self._environment = environment
        self._passing = passing
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        """Open the session; the bulkhead, not the pool, bounds its connections."""
        resolver = addresses.resolver_for(self._environment)
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, resolver=resolver),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=self._limits.connect_s),
            auto_decompress=False,
            trust_env=False,
            headers={
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": "pixgate",
            },
            trace_configs=[_witness()],
        )
        # aiohttp sends GET, PUT and DELETE again by itself when the bank hangs up after
        # reading them. There is no public switch; a test counts requests at such a bank.
        session._retry_connection = False  # noqa: SLF001 - see above
        self._session = session

    async def close(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def call(self, request: ProviderRequest, passage: Passage) -> ProviderAnswer:
        """Send a request and read the whole answer; see ``Transport.call``."""
        if self._session is None:
            raise Unreachable(Reason.CLOSED)
        watch = None if passage.send_by is None else self._passing
        _pass(watch, "before_connect")
        passage.connecting()
        try:
            async with self._session.request(
                request.method,
                URL(self._base_url + request.path, encoded=True),
                data=_Halves(request.body, watch) if watch else request.body or None,
                headers=_headers(request),
                allow_redirects=False,
                trace_request_ctx=(passage, bool(request.body), watch),
            ) as response:
                _pass(watch, "before_answer")
                passage.answered(response.status)
                _pass(watch, "mid_answer")
                body = await self._body(response)
                return ProviderAnswer(status=response.status, headers=response.headers, body=body)
        except (aiohttp.ClientError, OSError, ValueError, SendRefused) as problem:
            raise faults.of_exception(problem, passage) from problem
        finally:
            passage.end()

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        """Read the answer's body, but never more than we are willing to hold."""
        status = response.status
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise BadReply(Reason.CONTENT_CODING, http_status=status)
        largest = self._limits.answer_bytes
        if (response.content_length or 0) > largest:
            raise BadReply(Reason.TOO_LARGE, http_status=status)
        parts: list[bytes] = []
        size = 0
        async for part in response.content.iter_any():
            size += len(part)
            if size > largest:
                raise BadReply(Reason.TOO_LARGE, http_status=status)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def _headers(request: ProviderRequest) -> dict[str, str]:
    """Add the trace id, ours where no request of a partner is being served."""
    traced = {"X-Trace-ID": trace.current_trace_id() or trace.new_trace_id(), **request.headers}
    if request.body:
        traced.setdefault("Content-Type", "application/json")
    return traced


def _witness() -> aiohttp.TraceConfig:
    """
    Make the hooks that tell the passage how far a call is.

    A request with a body leaves aiohttp in one piece: the head is only kept
    until the first chunk, and "chunk sent" is signalled just before head and
    chunk go to the transport, with no suspension in between (``StreamWriter.write``
    to ``_send_headers_with_payload``). Without a body, "headers sent" is that
    point (``write_headers``, then ``set_eof``). So these hooks are the last
    step before the write, and one that raises stops it for good. Under uvloop
    the transport hands the bytes to the system at the end of that turn of the
    loop.
    """
    config = aiohttp.TraceConfig()
    config.on_connection_create_end.append(_connected)
    config.on_connection_reuseconn.append(_connected)
    config.on_request_headers_sent.append(_head_leaves)
    config.on_request_chunk_sent.append(_chunk_leaves)
    return config


async def _connected(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    """Hear that there is a connection."""
    _passage(context)[0].connected()
    _pass(context.trace_request_ctx[2], "after_connect")


async def _head_leaves(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    """Hear that the head is ready; without a body it is written next."""
    passage, has_body = _passage(context)
    if not has_body:
        passage.leaving()


async def _chunk_leaves(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    """Hear that head and body are written next."""
    _passage(context)[0].leaving()


def _passage(context: SimpleNamespace) -> tuple[Passage, bool]:
    """Return the call's passage and whether its request has a body."""
    passage, has_body, _ = context.trace_request_ctx
    return passage, has_body


def _pass(watch: Passing | None, name: str) -> None:
    """Pass a point."""
    if watch is not None:
        watch(name)


class _Halves(aiohttp.BytesPayload):
    """A body written in two halves, each left alone on the wire; made only where a test watches."""

    def __init__(self, body: bytes, watch: Passing) -> None:
        super().__init__(body)
        self._watch = watch

    async def write_with_length(
        self, writer: AbstractStreamWriter, content_length: int | None
    ) -> None:
        """Write, and pass a point once a half has reached the kernel."""
        half = len(self._value) // 2
        for part, name in ((slice(half), "mid_body"), (slice(half, None), "after_body")):
            await writer.write(self._value[part])
            await asyncio.sleep(0)  # uvloop writes at the end of a turn of the loop
            await asyncio.sleep(0)
            self._watch(name)
