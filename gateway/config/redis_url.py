"""The URL of a Redis or Valkey: one server, a Cluster, or servers that Sentinels watch."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379
_FORM: Final = re.compile(
    r"(?P<scheme>rediss?)(\+(?P<kind>cluster|sentinel))?://"
    r"((?P<user>[^/?#@:]*)(:(?P<password>[^/?#@]*))?@)?"
    r"(?P<hosts>[^/?#@]+)(/(?P<path>[^?#]*))?"
)
_SERVICE: Final = re.compile(r"[\w.-]+", re.ASCII)


class Kind(Enum):
    """The number of servers, and the way to find the primary."""

    SERVER = "server"
    CLUSTER = "cluster"
    SENTINEL = "sentinel"


class RedisUrl(NamedTuple):
    """
    A read URL.

    Attributes:
        hosts: The servers; with Sentinels, the Sentinels.
        service: The name under which Sentinels watch the servers.
    """

    kind: Kind
    tls: bool
    user: str
    password: str
    hosts: tuple[tuple[str, int], ...]
    database: int
    service: str


def parse(url: str) -> RedisUrl:
    """
    Read ``redis://``, ``redis+cluster://`` or ``redis+sentinel://``, or with TLS ``rediss``.

    Raises:
        ValueError: it is none of those.
    """
    found = _FORM.fullmatch(url)
    if found is None:
        raise ValueError
    kind = Kind(found["kind"] or "server")
    hosts = tuple(_host(each, kind) for each in found["hosts"].split(","))
    service, number = "", found["path"] or ""
    if kind is Kind.SENTINEL:
        service, _, number = number.partition("/")
        if _SERVICE.fullmatch(service) is None:
            raise ValueError
    if number and not (number.isascii() and number.isdigit()):
        raise ValueError
    database = int(number or 0)
    # a Cluster has one database
    if (kind is Kind.SERVER and len(hosts) > 1) or (kind is Kind.CLUSTER and database):
        raise ValueError
    user, password = unquote(found["user"] or ""), unquote(found["password"] or "")
    return RedisUrl(kind, found["scheme"] == "rediss", user, password, hosts, database, service)


def _host(text: str, kind: Kind) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise ValueError
    return parts.hostname, parts.port or (_SENTINEL_PORT if kind is Kind.SENTINEL else _PORT)
