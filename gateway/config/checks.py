"""
Reasons why a configuration is unfit to serve, beyond the form of each setting.

Pure: nothing is opened, resolved or called.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
import sqlite3
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import combinations
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from gateway.config.reading import hint
from gateway.config.redis_url import Kind, RedisUrl, parse
from gateway.config.settings import Settings
from gateway.config.values import Secret
from gateway.core.account import Environment

LEAST_KEY_BYTES = 32
"""Of a pepper in production, and of a sealing key everywhere: exactly."""

LEAST_SECRET_BYTES = 16
"""Of what a bank signs its callbacks with; how long it is beyond that is the bank's choice."""

SAFE_SQLITE = (3, 51, 3)
"""The oldest SQLite library that production may use: earlier ones can lose a commit."""

_LEAST_DISTINCT = 8
_SANDBOX_ADAPTER = "sandbox"
_HEADER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}", re.ASCII)
_REPORTS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~/?=&%-]*)?", re.ASCII)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason not to start: the path of the setting, and its error."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


Check = Callable[[Settings], Iterator[Finding]]


def check(
    settings: Settings,
    adapters: Collection[str],
    sqlite_version: tuple[int, ...] = sqlite3.sqlite_version_info,
    *,
    serves: bool = True,
) -> list[Finding]:
    """
    Return every reason not to start with these settings.

    Args:
        settings: As read.
        adapters: The names of the provider adapters that exist.
        sqlite_version: Of the library in use.
        serves: False for a worker, which does not open the public port.
    """
    findings = [finding for each in _ALWAYS for finding in each(settings)]
    findings += _ports(settings, serves=serves)
    findings += _unknown_adapters(settings, adapters)
    if settings.environment is Environment.PRODUCTION:
        findings += [finding for each in _PRODUCTION for finding in each(settings)]
    findings += unsafe_sqlite(settings, sqlite_version)
    return findings


def remarks(settings: Settings) -> list[Finding]:
    """Return remarks on permitted but risky settings, in production and in an open sandbox."""
    if settings.environment is not Environment.PRODUCTION:
        return [*_open_sandbox(settings)]
    switched = {
        "approvals.credentials": (settings.approvals.credentials, "issues credentials that pay"),
        "approvals.people": (settings.approvals.people, "gives roles that move money"),
    }
    alone = [
        Finding(path, f"is false: one person alone {does}")
        for path, (on, does) in switched.items()
        if not on
    ]
    return [*alone, *_open_database(settings), *_open_cache(settings)]


def _open_sandbox(settings: Settings) -> Iterator[Finding]:
    for name, provider in settings.providers.items():
        fails_for_all = provider.adapter == "sandbox" and provider.breaker.whole_bank
        if settings.sandbox.open and fails_for_all and not provider.read_only:
            path = f"providers.{name}.breaker.whole_bank"
            yield Finding(path, "is true: partners who make their calls fail stop everybody's")


def _open_database(settings: Settings) -> Iterator[Finding]:
    """Require TLS with a checked name, and a password, for PostgreSQL on another host."""
    parts = _parts_of_many(settings.store_url)
    if parts is None or not parts.scheme.startswith("postgres"):
        return
    asked = parse_qs(parts.query)
    named = [parts.hostname] if parts.hostname else []
    hosts = [*named, *(each.rpartition(":")[0] or each for each in asked.get("host", []))]
    if not any(_is_elsewhere(host) for host in hosts):
        return
    mode = [*asked.get("sslmode", []), *asked.get("ssl", [])]
    if mode != ["verify-full"]:
        yield Finding(
            "database.url",
            "the server is on another host, and TLS does not prove who it is: sslmode=verify-full",
        )
    if not parts.password:
        yield Finding("database.url", "the server is on another host, and there is no password")


def _open_cache(settings: Settings) -> Iterator[Finding]:
    """Require TLS and a password for Redis or Valkey on another host."""
    place = _redis(settings.cache.url)
    if place is None or not any(_is_elsewhere(host) for host, _ in place.hosts):
        return
    if not place.tls:
        yield Finding("cache.url", "the server is on another host, and there is no TLS: rediss://")
    if not place.password:
        yield Finding("cache.url", "the server is on another host, and there is no password")


def _is_elsewhere(host: str) -> bool:
    """Return whether a host is another one; a path is a socket of this one."""
    host = unquote(host)
    return bool(host) and not host.startswith("/") and not is_loopback(host)


def _parts_of_many(url: str) -> SplitResult | None:
    """Split a URL that may name its hosts in parameters; None for an invalid one."""
    try:
        return urlsplit(url)
    except ValueError:
        return None


def unsafe_sqlite(
    settings: Settings, version: tuple[int, ...] = sqlite3.sqlite_version_info
) -> Iterator[Finding]:
    """Check that production uses PostgreSQL, or permits SQLite explicitly."""
    is_file = settings.store_url.startswith("sqlite")
    if not is_file or settings.environment is not Environment.PRODUCTION:
        return
    if not settings.database.allow_sqlite_in_production:
        yield Finding(
            "database.url",
            "production needs PostgreSQL; database.allow_sqlite_in_production permits SQLite",
        )
    elif version < SAFE_SQLITE:
        wanted, found = (".".join(map(str, each)) for each in (SAFE_SQLITE, version))
        yield Finding("database.url", f"production needs SQLite {wanted}, this one is {found}")


def sqlite_remark(
    settings: Settings, version: tuple[int, ...] = sqlite3.sqlite_version_info
) -> str:
    """Return a remark on the sandbox's SQLite library; empty without one."""
    if version >= SAFE_SQLITE or not settings.store_url.startswith("sqlite"):
        return ""
    wanted, found = (".".join(map(str, each)) for each in (SAFE_SQLITE, version))
    return (
        f"SQLite {found} is fine for a sandbox. For data that must last use {wanted} or newer: on "
        "rare occasions an older one damages its file. Production refuses it."
    )


def sealing_key(text: str) -> bytes:
    """Read 32 bytes from base64 of either alphabet; the ValueError names the defect."""
    problem = "wants 32 bytes in base64, as from `openssl rand -base64 32`"
    if _BASE64.fullmatch(text) is None:
        raise ValueError(problem)
    bare = text.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        key = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except binascii.Error as malformed:
        raise ValueError(problem) from malformed
    if len(key) != LEAST_KEY_BYTES:
        raise ValueError(problem)
    return key


def is_loopback(host: str) -> bool:
    """Return whether ``host`` is a loopback address; names do not count."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _listeners(settings: Settings) -> Iterator[Finding]:
    """Check that no unguarded listener is public."""
    if not (settings.admin.allow_public or is_loopback(settings.admin.host)):
        yield Finding("admin.host", "is not loopback; admin.allow_public permits that")
    bank = settings.sandbox_bank
    if bank.start and not is_loopback(bank.host):
        yield Finding("sandbox_bank.host", "must be loopback: it asks nobody who they are")


def _ports(settings: Settings, *, serves: bool) -> Iterator[Finding]:
    """Check that no port is used twice."""
    bank = settings.sandbox_bank
    public = ("server.port", settings.server.host, settings.server.port)
    bound = [("admin.port", settings.admin.host, settings.admin.port)]
    if serves:
        bound = [public, *bound]
        if bank.start:
            bound.append(("sandbox_bank.port", bank.host, bank.port))
            bound.append(("sandbox_bank.control_port", bank.host, bank.control_port))
    for (first, host, port), (second, other_host, other_port) in combinations(bound, 2):
        if port and port == other_port and _overlap(host, other_host):
            yield Finding(second, f"{port} is the port of {first} too")


def _processes(settings: Settings) -> Iterator[Finding]:
    """Check that SQLite has a single process."""
    server = settings.server
    if settings.store_url.startswith("sqlite"):
        problem = "needs PostgreSQL: an SQLite store has one process"
        if server.reuse_port:
            yield Finding("server.reuse_port", problem)
        if settings.worker.run == "apart":
            yield Finding("worker.run", f"apart {problem}")
    if server.reuse_port and server.single_process:
        yield Finding("server.reuse_port", "must be false with server.single_process")


def _proxies(settings: Settings) -> Iterator[Finding]:
    """Check that client addresses are trusted from our own proxies alone."""
    server = settings.server
    try:
        networks = server.trusted_networks
    except ValueError as problem:
        yield Finding("server.trusted_peers", f"wants networks separated by commas: {problem}")
        return
    if any(each.prefixlen == 0 for each in networks):
        yield Finding("server.trusted_peers", "trusts everybody; name the proxies' own networks")
    if server.client_address != "peer" and not networks:
        yield Finding(
            "server.client_address", f"{server.client_address} needs server.trusted_peers"
        )
    if server.policy_reports and _REPORTS.fullmatch(server.policy_reports) is None:
        yield Finding("server.policy_reports", "wants https://host/path")
    if server.certificate_header and _HEADER_NAME.fullmatch(server.certificate_header) is None:
        yield Finding("server.certificate_header", "is no name of a header")
    if server.certificate_header and server.client_address != "forwarded":
        yield Finding("server.certificate_header", "needs server.client_address: forwarded")


def _production_proxies(settings: Settings) -> Iterator[Finding]:
    """Check that callers behind a proxy are not all counted as one address."""
    server = settings.server
    if server.trusted_peers.strip() and server.client_address == "peer":
        yield Finding(
            "server.client_address",
            "must be forwarded or proxy_protocol in production with trusted_peers:"
            " one stranger would shut everybody else out",
        )


def _overlap(host: str, other: str) -> bool:
    everywhere = {"", "0.0.0.0", "::"}  # noqa: S104 - compared, not bound
    mine, theirs = ({"localhost": "127.0.0.1"}.get(each, each) for each in (host, other))
    return mine == theirs or bool({mine, theirs} & everywhere)


def _keys(settings: Settings) -> Iterator[Finding]:
    for path, key in named_keys(settings).items():
        if not key and ".retired_" in path:
            yield Finding(path, "is empty")
        elif key and path.startswith(("sealing.", "notifications.")):
            try:
                sealing_key(key)
            except ValueError as problem:
                yield Finding(path, str(problem))


def named_keys(settings: Settings) -> dict[str, Secret]:
    """Return every key by its path."""
    basic, sealing, identity = settings.auth.basic, settings.sealing, settings.identity
    named = {
        "auth.basic.pepper": basic.pepper,
        "sealing.key": sealing.key,
        "identity.pepper": identity.pepper,
        "notifications.push_key": settings.notifications.push_key,
    }
    for path, retired in (
        ("auth.basic.retired_peppers", basic.retired_peppers),
        ("sealing.retired_keys", sealing.retired_keys),
        ("identity.retired_peppers", identity.retired_peppers),
    ):
        named |= {f"{path}.{name}": key for name, key in retired.items()}
    return named


def _deadlines(settings: Settings) -> Iterator[Finding]:
    """Check that each wait is longer than the operation it waits for."""
    for name, provider in settings.providers.items():
        path = f"providers.{name}"
        if provider.connect_timeout_s >= provider.read_timeout_s:
            yield Finding(f"{path}.connect_timeout_s", "must be below read_timeout_s")
        if provider.read_timeout_s > provider.payout_timeout_s:
            yield Finding(f"{path}.read_timeout_s", "must not be above payout_timeout_s")
        if provider.waiting_s >= provider.read_timeout_s:
            yield Finding(f"{path}.waiting_s", "must be below read_timeout_s")
        if provider.payout_timeout_s >= settings.server.drain_s:
            yield Finding(f"{path}.payout_timeout_s", "must be below server.drain_s")
        if provider.breaker.open_s > provider.breaker.longest_open_s:
            yield Finding(f"{path}.breaker.open_s", "must not be above longest_open_s")
    if settings.database.auth_timeout_s > settings.database.timeout_s:
        yield Finding("database.auth_timeout_s", "must not be above database.timeout_s")


def _cache(settings: Settings) -> Iterator[Finding]:
    """Check that the cache has a valid URL and room for its entries."""
    place = _redis(settings.cache.url)
    if settings.cache.url and place is None:
        yield Finding(
            "cache.url",
            "wants redis://host:port/number, redis+cluster://host:port,... or"
            " redis+sentinel://host:port,.../service; with TLS rediss",
        )
    if settings.cache.ca and not (place and place.tls):
        yield Finding("cache.ca", "needs a cache.url of rediss://")
    if settings.cache.sentinel_password and not (place and place.kind is Kind.SENTINEL):
        yield Finding("cache.sentinel_password", "needs a cache.url of redis+sentinel://")
    if settings.statements.snapshot_bytes > settings.cache.memory_bytes:
        yield Finding("statements.snapshot_bytes", "must not be above cache.memory_bytes")


def _production_cache(settings: Settings) -> Iterator[Finding]:
    """Check that the pages of a statement agree, whichever process answers."""
    has_one_process = settings.server.single_process or settings.store_url.startswith("sqlite")
    if not (settings.cache.url or has_one_process):
        yield Finding(
            "cache.url",
            "production needs a Redis or Valkey that all processes share: set PIXGATE_CACHE_URL;"
            " server.single_process permits one server process without",
        )


def _tracing(settings: Settings) -> Iterator[Finding]:
    """Check that the collector of spans can be called."""
    tracing = settings.telemetry.tracing
    if tracing.endpoint and not _is_http(tracing.endpoint):
        yield Finding(
            "telemetry.tracing.endpoint", "wants http://host:port/v1/traces or https://..."
        )
    for name, value in tracing.headers.items():
        if _HEADER_NAME.fullmatch(name) is None:
            yield Finding("telemetry.tracing.headers", "has a name that is no name of a header")
        elif not (value.isascii() and value.isprintable() and value.strip()):
            yield Finding(f"telemetry.tracing.headers.{name}", "is no value of a header")


def _parts(url: str) -> SplitResult | None:
    """Split a URL; None for an invalid URL or port."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.hostname else None


def _is_http(url: str) -> bool:
    """Return whether a URL names a web server."""
    parts = _parts(url)
    return parts is not None and parts.scheme in {"http", "https"}


def _redis(url: str) -> RedisUrl | None:
    try:
        return parse(url)
    except ValueError:
        return None


def _callbacks(settings: Settings) -> Iterator[Finding]:
    """Check that no callback secret can be guessed."""
    for name, provider in settings.providers.items():
        path, given = f"providers.{name}.callbacks", provider.callbacks
        retired = {f"{path}.retired_secrets.{each}": s for each, s in given.retired_secrets.items()}
        for where, secret in {f"{path}.secret": given.secret, **retired}.items():
            if where in retired and not secret:
                yield Finding(where, "is empty")
            elif 0 < len(secret.encode()) < LEAST_SECRET_BYTES:
                yield Finding(where, f"has fewer than {LEAST_SECRET_BYTES} bytes")


def _way_out(settings: Settings) -> Iterator[Finding]:
    """Check that a proxy towards a bank has an address, and a complete user or none."""
    for name, provider in settings.providers.items():
        path, proxy = f"providers.{name}.proxy", provider.proxy
        if proxy.url and not _is_proxy(proxy.url):
            yield Finding(f"{path}.url", "wants http://host:port; its user stands beside it")
        if bool(proxy.user) != bool(proxy.password):
            yield Finding(path, "wants user and password, or neither")
        if ":" in proxy.user or not proxy.user.isprintable():
            yield Finding(f"{path}.user", "must have neither colons nor control characters")
        if proxy.user and not proxy.url:
            yield Finding(f"{path}.url", "is empty, and there is a user")


def _is_proxy(url: str) -> bool:
    """Return whether a URL names a proxy: TLS is with the bank inside, not with the proxy."""
    parts = _parts(url)
    if parts is None or parts.scheme != "http" or not parts.port:
        return False
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return url.isascii() and url.lower().rstrip("/") == f"http://{host}:{parts.port}"


def _throttles(settings: Settings) -> Iterator[Finding]:
    """Check that the throttle's limits increase in order."""
    limits, path = settings.limits.failed_credentials, "limits.failed_credentials"
    if limits.per_address_and_client > limits.per_address:
        yield Finding(f"{path}.per_address_and_client", "must not be above per_address")
    if limits.per_address > limits.hard_per_address:
        yield Finding(f"{path}.per_address", "must not be above hard_per_address")


def _night(settings: Settings) -> Iterator[Finding]:
    night = settings.payouts.night
    if night.begins == night.ends:
        yield Finding("payouts.night.ends", "must not be begins: no night would have an end")


def _people(settings: Settings) -> Iterator[Finding]:
    """Check that links can be built, and that token lifetimes are in order."""
    identity = settings.identity
    if identity.origin and not _is_origin(identity.origin):
        yield Finding("identity.origin", "wants https://host, with a port at most behind it")
    if identity.access_s >= identity.refresh_s:
        yield Finding("identity.access_s", "must be below refresh_s")
    if identity.mail.host and not _is_mail_address(identity.mail.sender):
        yield Finding("identity.mail.sender", "is no e-mail address")
    if identity.mail.password and identity.mail.encryption == "none":
        yield Finding("identity.mail.encryption", "a password is not sent in the clear")


def _is_origin(text: str) -> bool:
    """Return whether a text is exactly a scheme, a host and perhaps a port."""
    parts = _parts(text)
    if parts is None or parts.scheme not in {"http", "https"} or parts.port == 0:
        return False
    return text == f"{parts.scheme}://{parts.netloc}"


def _is_mail_address(text: str) -> bool:
    name, _, host = text.rpartition("@")
    return bool(name and host) and text.isascii() and text.isprintable() and " " not in text


def _unknown_adapters(settings: Settings, adapters: Collection[str]) -> Iterator[Finding]:
    """Check that every adapter named exists."""
    for name, provider in settings.providers.items():
        if provider.adapter not in adapters:
            meant = hint(provider.adapter, adapters)
            yield Finding(f"providers.{name}.adapter", f"no adapter of that name{meant}")


def _production_keys(settings: Settings) -> Iterator[Finding]:
    """Check that keys of production are given, long and random."""
    pepper, key = settings.auth.basic.pepper, settings.sealing.key
    if not pepper:
        yield Finding("auth.basic.pepper", "production needs one: set PIXGATE_PEPPER")
    if not key:
        yield Finding("sealing.key", "production needs one: set PIXGATE_SEALING_KEY")
    if pepper and pepper.encode() == key.encode():
        yield Finding("sealing.key", "is the pepper; take another")
    for path, each in named_keys(settings).items():
        content = each.encode()
        if 0 < len(content) < LEAST_KEY_BYTES:
            yield Finding(path, f"has fewer than {LEAST_KEY_BYTES} bytes")
        elif content and len(set(content)) < _LEAST_DISTINCT:
            yield Finding(path, "is not random")


def _production_people(settings: Settings) -> Iterator[Finding]:
    """Check that people reach us encrypted, and that mail reaches people."""
    if not settings.identity.origin.startswith("https://"):
        yield Finding("identity.origin", "production needs https://host: set PIXGATE_ORIGIN")
    if not settings.identity.mail.host:
        yield Finding("identity.mail.host", "production needs a server: set PIXGATE_SMTP_HOST")
    if settings.session.insecure_dev:
        yield Finding("session.insecure_dev", "must be false in production")


def _events(settings: Settings) -> Iterator[Finding]:
    try:
        _ = settings.events.networks
    except ValueError as problem:
        yield Finding("events.own_networks", f"wants networks separated by commas: {problem}")


def _no_sandbox(settings: Settings) -> Iterator[Finding]:
    if settings.sandbox_bank.start:
        yield Finding("sandbox_bank.start", "must be false in production")
    if settings.sandbox.open:
        yield Finding("sandbox.open", "must be false in production")
    if settings.events.allow_local:
        yield Finding("events.allow_local", "must be false in production")
    for name, provider in settings.providers.items():
        if provider.adapter == _SANDBOX_ADAPTER:
            yield Finding(f"providers.{name}.adapter", "the sandbox bank is not for production")


_ALWAYS: tuple[Check, ...] = (
    *(_listeners, _processes, _proxies, _keys, _deadlines),
    *(_cache, _tracing, _way_out, _callbacks, _throttles, _night, _people, _events),
)
_PRODUCTION: tuple[Check, ...] = (
    *(_production_keys, _production_people),
    *(_production_proxies, _production_cache, _no_sandbox),
)
