"""Clients of the Redis or Valkey that processes share, and its failures in plain words."""

from __future__ import annotations

from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Redis, Sentinel, SentinelConnectionPool
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError
from redis.backoff import NoBackoff
from redis.exceptions import (
    MovedError,
    NoPermissionError,
    RedisClusterException,
    RedisError,
    ResponseError,
)

from gateway.config.redis_url import Kind, RedisUrl, parse

# A walk puts once and a page reads twice: more connections than these would only wait in turn.
_CONNECTIONS: Final = 16
# The pools of a Cluster and of Sentinels let nobody wait for a connection: more than requests.
_CONNECTIONS_OF_MANY: Final = 10_000

Remote = Redis | RedisCluster
FAILURES: Final = (RedisError, RedisClusterException, OSError, TimeoutError)
"""What a call of the server may raise."""


class _SentinelPool(SentinelConnectionPool):
    """Connections to the primary, which close those to the Sentinels with them."""

    async def aclose(self) -> None:
        await super().aclose()
        await self.sentinel_manager.aclose()


def connect(url: str, timeout_s: float, ca: str = "", sentinel_password: str = "") -> Remote:
    """
    Build the client of the servers at ``url``; it connects on first use.

    Args:
        url: As ``gateway.config.redis_url`` reads it.
        timeout_s: For a connection, for an answer, and to wait for a free connection.
        ca: A file with the authorities to trust instead of the system's; with TLS alone.
        sentinel_password: The Sentinels' password; the URL's is for the servers they watch.
    """
    place = parse(url)
    lines: dict[str, Any] = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "retry": Retry(NoBackoff(), 0),
    }
    if place.kind is Kind.SERVER:
        trusted = {"ssl_ca_certs": ca} if ca else {}
        pool = BlockingConnectionPool.from_url(
            url, max_connections=_CONNECTIONS, timeout=timeout_s, **lines, **trusted
        )
        return Redis.from_pool(pool)
    if place.tls:
        lines |= {"ssl": True, "ssl_ca_certs": ca or None}
    lines |= {"username": place.user or None, "password": place.password or None}
    if place.kind is Kind.CLUSTER:
        return RedisCluster(
            startup_nodes=[ClusterNode(host, port) for host, port in place.hosts],
            dynamic_startup_nodes=False,  # names outlive the addresses of pods
            max_connections=_CONNECTIONS_OF_MANY,
            **lines,
        )
    return _watched(place, lines, sentinel_password)


def _watched(place: RedisUrl, lines: dict[str, Any], password: str) -> Redis:
    asked = {**lines, "username": None, "password": password or None}
    sentinel = Sentinel(place.hosts, sentinel_kwargs=asked)  # type: ignore[no-untyped-call]
    remote: Redis = sentinel.master_for(
        place.service,
        connection_pool_class=_SentinelPool,
        max_connections=_CONNECTIONS_OF_MANY,
        db=place.database,
        **lines,
    )
    return remote


def sentence(problem: BaseException) -> str:
    """Return how to mend a failure, or its class; never its text, which may quote an address."""
    behind = problem.__cause__ or problem.__context__
    match problem:
        case MovedError():
            return "the server belongs to a Cluster: write redis+cluster:// or rediss+cluster://"
        case NoPermissionError():
            return "its user may not run every command that docs/operations.md names"
        case MasterNotFoundError():
            return "no Sentinel answers (cache.sentinel_password?) and names that service's primary"
        case RedisClusterException() if isinstance(behind, RedisError | RedisClusterException):
            return sentence(behind)
        case ResponseError() if "cluster support disabled" in str(problem):
            return "the server belongs to no Cluster: write redis:// or rediss://"
        case _:
            return type(problem).__name__
