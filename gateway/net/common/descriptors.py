"""
Limits of file descriptors, for callers and for our own connections.

The system always gives out the lowest free number. So a connection whose descriptor is number
n shows, at no cost, that all numbers below n are in use.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final

if sys.platform != "win32":  # which has no such limit
    import resource

NO_LIMIT: Final = sys.maxsize
RESERVED: Final = 16
"""Of the operations listener: a scrape, probes of two load balancers, and an operator with curl."""
_WORK_SHARE: Final = 8
"""One eighth is for banks, database and files: a caller whose call cannot be made gains nothing."""


def descriptor_limit() -> int:
    """Return the process's limit of open descriptors (the soft ``RLIMIT_NOFILE``)."""
    if sys.platform == "win32":
        return NO_LIMIT
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return NO_LIMIT if soft == resource.RLIM_INFINITY else soft


def raise_descriptor_limit(wanted: int) -> int:
    """
    Raise the soft limit to ``wanted``, as far as the hard one lets us; return what it is then.

    Most systems start a process with a soft limit of 1,024 and a hard one of half a million. The
    small one protects programs that call ``select``, which we do not.
    """
    limit = descriptor_limit()
    if sys.platform == "win32" or limit >= wanted:
        return limit
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    possible = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit, possible), hard))
    except (OSError, ValueError):  # a sandbox may forbid it; the lower limit is reported
        return limit
    return descriptor_limit()


def callers_below(limit: int) -> int:
    """Return the descriptor number from which callers are turned away."""
    return limit if limit == NO_LIMIT else max(1, limit - RESERVED - limit // _WORK_SHARE)


def ours_below(limit: int) -> int:
    """Return the descriptor number from which we open no connections of our own."""
    return limit if limit == NO_LIMIT else max(1, limit - RESERVED)


def descriptor_of(transport: asyncio.BaseTransport) -> int:
    """Return the number of a connection's descriptor; -1 without one."""
    socket = transport.get_extra_info("socket")
    return socket.fileno() if socket is not None else -1
