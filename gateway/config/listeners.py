"""Settings of the two listeners. Times are seconds, sizes bytes."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Literal

from msgspec import Struct

from gateway.config.values import (
    Count,
    Port,
    Seconds,
    SecondsOrNone,
    read_networks,
    written,
)


class Server(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The public listener.

    Attributes:
        host: The address it binds.
        port: 0 takes a free one.
        request_line_bytes: Longest request line; above: 431.
        header_line_bytes: Longest single header line; above: 431.
        headers: Most header lines; above: 431.
        header_deadline_s: From the first byte to the end of the headers; then 408.
        body_deadline_s: To read a body; then 408.
        keep_alive_s: How long an idle connection is kept.
        connections_per_address: Open at once from one peer address.
        connections: Open at once in all, per process.
        drain_accept_s: How long a stopping process still serves new requests.
        drain_s: How long it then waits for requests in flight.
        reuse_port: Lets several processes of one system user bind the same port; needs
            PostgreSQL.
        single_process: There is one server process of this store, anywhere; then production
            needs no cache that processes share.
        openapi: Serves the OpenAPI documents, and their page at ``/docs/api``, publicly.
        docs: Serves the documentation site at ``/docs``, publicly, where it is built; errors then
            carry a ``Link`` to the page of their code.
        panel: Serves the operator's panel, its pages and the sessions of browsers.
        policy_reports: Where browsers report violations of the pages' Content-Security-Policy,
            a collector of yours, ``https://...``; empty for nowhere.
        trusted_peers: Networks of our own proxies, separated by commas; they
            hold more connections than one partner may.
        client_address: The source of a request's address: ``peer`` the socket,
            ``forwarded`` the header ``X-Forwarded-For``, ``proxy_protocol`` a
            PROXY header (version 1 or 2) before the first request. The last two
            are accepted from ``trusted_peers`` alone.
        certificate_header: The header in which our proxies pass on the certificate that their
            caller showed, such as ``Client-Cert`` (RFC 9440), with ``forwarded`` alone;
            the proxy must replace it in every request. Empty accepts none.
    """

    host: str = "127.0.0.1"
    port: Annotated[Port, written("${PIXGATE_PORT:-8080}")] = 8080
    request_line_bytes: Count = 16_384
    header_line_bytes: Count = 8_190
    headers: Count = 64
    header_deadline_s: Seconds = 10.0
    body_deadline_s: Seconds = 15.0
    keep_alive_s: Seconds = 75.0
    connections_per_address: Count = 100
    connections: Count = 10_000
    drain_accept_s: SecondsOrNone = 5.0
    drain_s: Seconds = 30.0
    reuse_port: Annotated[bool, written("${PIXGATE_REUSE_PORT:-false}")] = False
    single_process: bool = False
    openapi: bool = False
    docs: bool = False
    panel: bool = True
    policy_reports: str = ""
    trusted_peers: str = ""
    client_address: Literal["peer", "forwarded", "proxy_protocol"] = "peer"
    certificate_header: str = ""

    @property
    def trusted_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The networks of our own proxies; ValueError names an invalid one."""
        return read_networks(self.trusted_peers)


class Admin(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The operations listener: metrics, health, readiness, configuration digest.

    Attributes:
        host: The address it binds.
        port: 0 takes a free one.
        allow_public: Permits an address that is not loopback; the network must
            then keep strangers out, there is no credential.
    """

    host: str = "127.0.0.1"
    port: Annotated[Port, written("${PIXGATE_OPS_PORT:-9090}")] = 9090
    allow_public: bool = False


class Trace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The caller's trace id.

    Attributes:
        accept: ``token`` takes 1 to 128 of ``A-Za-z0-9._:-``, ``uuid`` only
            hyphenated UUIDs; anything else is replaced by a new one.
    """

    accept: Literal["token", "uuid"] = "token"
