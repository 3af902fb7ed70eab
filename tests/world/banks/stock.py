"""
The road to a bank over aiohttp's own client: the witness against which ours is compared.

It keeps no cookie, follows no redirect, reads no proxy from the environment,
takes no compressed answer, and sends nothing twice. No product code uses it.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from types import SimpleNamespace

import aiohttp
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from gateway.banks.client.addresses import require_public
from gateway.banks.client.messages import ProviderAnswer, ProviderRequest, SendProgress, SendRefused
from gateway.banks.client.tls import TlsFiles
from gateway.banks.client.transport import LONGEST_S
from gateway.banks.port.providers import BadReply, ProviderError, Reason, Unavailable, Unreachable
from gateway.core import trace
from gateway.core.account import Environment
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.limits import ClientLimits

FIXED = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "pixgate",
}


def timed_out(progress: SendProgress) -> ProviderError:
    """Name the failure of a call whose whole time is over."""
    return Unavailable(Reason.TIMEOUT) if progress.bytes_left else Unreachable(Reason.TIMEOUT)


class _PublicResolver(ThreadedResolver):
    """Resolves public names alone, as ours must."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await super().resolve(host, port, family)
        require_public([each["host"] for each in found])
        return found


class StockTransport:
    """The transport over ``aiohttp.ClientSession``; made as ours is."""

    def __init__(
        self,
        base_url: str,
        limits: ClientLimits,
        environment: Environment,
        runtime: Runtime | None = None,
        tls: TlsFiles | None = None,
    ) -> None:
        self._base_url = base_url
        self._limits = limits
        self._environment = environment
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        public = self._environment is not Environment.SANDBOX
        resolver = _PublicResolver() if public else None
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, resolver=resolver),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=self._limits.connect_s),
            auto_decompress=False,
            trust_env=False,
            headers=FIXED,
            trace_configs=[_witness()],
        )
        # aiohttp sends GET, PUT and DELETE again by itself when the bank hangs up after reading.
        session._retry_connection = False
        self._session = session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        try:
            async with asyncio.timeout(within_s):
                return await self._exchanged(request, progress)
        except TimeoutError as problem:
            raise timed_out(progress) from problem

    async def _exchanged(self, request: ProviderRequest, progress: SendProgress) -> ProviderAnswer:
        if self._session is None:
            raise Unreachable(Reason.CLOSED)
        progress.connecting()
        try:
            async with self._session.request(
                request.method,
                URL(self._base_url + request.path, encoded=True),
                data=request.body or None,
                headers=_headers(request),
                allow_redirects=False,
                trace_request_ctx=(progress, bool(request.body)),
            ) as response:
                progress.answered(response.status)
                body = await self._body(response)
                return ProviderAnswer(status=response.status, headers=response.headers, body=body)
        except (aiohttp.ClientError, OSError, ValueError, SendRefused) as problem:
            raise named(problem, progress) from problem
        finally:
            progress.end()

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        status = response.status
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise BadReply(Reason.CONTENT_CODING, http_status=status)
        largest = self._limits.answer_bytes
        if (response.content_length or 0) > largest:
            raise BadReply(Reason.TOO_LARGE, http_status=status)
        parts = b""
        async for part in response.content.iter_any():
            parts += part
            if len(parts) > largest:
                raise BadReply(Reason.TOO_LARGE, http_status=status)
        return parts


def named(problem: Exception, progress: SendProgress) -> ProviderError:
    """
    Name the failure of a call that ended without a whole answer.

    Whether a byte left is the progress's word alone: a time-out and a reset
    after the body are connection errors and ``OSError`` too.
    """
    if progress.refused_here:
        return Unreachable(Reason.DEADLINE_PASSED)
    if not progress.bytes_left:
        return Unreachable(_before(problem))
    if isinstance(problem, TimeoutError):
        return Unavailable(Reason.TIMEOUT)
    if isinstance(problem, aiohttp.ClientResponseError):
        return BadReply(Reason.NOT_HTTP)
    if isinstance(problem, aiohttp.ClientPayloadError):
        return BadReply(Reason.ANSWER_CUT_SHORT, http_status=progress.http_status or None)
    return Unavailable(Reason.CONNECTION_LOST)


def _before(problem: Exception) -> Reason:
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        return Reason.DNS_FAILED
    if isinstance(problem, TimeoutError):
        return Reason.CONNECT_TIMEOUT
    if isinstance(problem, aiohttp.ClientSSLError | ssl.SSLError):
        return Reason.TLS_FAILED
    if not isinstance(problem, OSError | aiohttp.ClientConnectionError):
        return Reason.UNSENDABLE
    return Reason.CONNECT_FAILED


def _headers(request: ProviderRequest) -> dict[str, str]:
    traced = {"X-Trace-ID": trace.current_trace_id() or trace.new_trace_id(), **request.headers}
    if request.body:
        traced.setdefault("Content-Type", "application/json")
    return traced


def _witness() -> aiohttp.TraceConfig:
    """Tell the progress: head and body are written next, without a suspension in between."""
    config = aiohttp.TraceConfig()
    config.on_connection_create_end.append(_connected)
    config.on_connection_reuseconn.append(_connected)
    config.on_request_headers_sent.append(_head_leaves)
    config.on_request_chunk_sent.append(_chunk_leaves)
    return config


async def _connected(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    context.trace_request_ctx[0].connected()


async def _head_leaves(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    progress, has_body = context.trace_request_ctx
    if not has_body:
        progress.sending()


async def _chunk_leaves(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    context.trace_request_ctx[0].sending()
