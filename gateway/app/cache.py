"""The cache and the limits of processes, as configured: of this process, or shared by all."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from gateway.config.settings import Settings
from gateway.process.cache import MemoryCache
from gateway.security.keys import Derivation
from gateway.security.sealing import Sealer
from gateway.telemetry.ports import Count

if TYPE_CHECKING:  # an extra
    from gateway.process.limits import ValkeyLimits
    from gateway.process.shared import SharedCache

# A version of what lies in Redis: a gateway that writes it otherwise has another.
_FORM: Final = "v1"
_PURPOSE: Final = "cache"
_LIMITS: Final = "shared limits"


def build_cache(
    settings: Settings, derivation: Derivation, count: Count
) -> MemoryCache | SharedCache:
    """
    Build the cache; nothing is connected yet.

    Two environments that share a server do not meet: neither their keys nor their seals fit.
    """
    asked = settings.cache
    memory = MemoryCache(asked.memory_bytes)
    if not asked.url:
        return memory
    from gateway.process.redis_client import connect  # noqa: PLC0415 - an extra, 9 MB
    from gateway.process.shared import SharedCache  # noqa: PLC0415 - the same

    keys = derivation.keys(_PURPOSE)
    return SharedCache(
        remote=connect(
            asked.url, asked.timeout_s, asked.ca, asked.sentinel_password.encode().decode()
        ),
        namespace=f"pixgate:{_FORM}:{settings.environment.value}",
        sealer=Sealer(keys, next(iter(keys))),
        memory=memory,
        count=count,
        clock=time.monotonic,
    )


def build_limits(
    derivation: Derivation, cache: MemoryCache | SharedCache, count: Count
) -> ValkeyLimits | None:
    """
    Build the limits shared by all processes, on the connections of ``cache``.

    None where the cache is this process's own.
    """
    if isinstance(cache, MemoryCache):
        return None
    from gateway.process.limits import ValkeyLimits  # noqa: PLC0415 - an extra, 9 MB

    secret = derivation.key(_LIMITS)
    return ValkeyLimits(remote=cache.remote, namespace=cache.namespace, secret=secret, count=count)
