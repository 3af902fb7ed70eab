"""Which cache and which limits the configuration asks for."""

from gateway.app.cache import build_cache, build_limits
from gateway.config.settings import Cache, Settings
from gateway.config.values import Address
from gateway.process.cache import MemoryCache
from gateway.process.shared import SharedCache
from gateway.security.keys import Derivation
from gateway.telemetry.ports import Event

DERIVATION = Derivation({"new": b"n" * 32}, "new")


def count(_event: Event, _label: str) -> None: ...


async def test_memory_is_the_default():
    cache = build_cache(Settings(), DERIVATION, count)

    assert isinstance(cache, MemoryCache)
    assert build_limits(DERIVATION, cache, count) is None


async def test_a_url_makes_a_shared_cache():
    settings = Settings(cache=Cache(url=Address("redis://127.0.0.1:1/0")))

    cache = build_cache(settings, DERIVATION, count)

    assert isinstance(cache, SharedCache)
    limits = build_limits(DERIVATION, cache, count)
    assert limits is not None
    assert (limits.remote, limits.namespace) == (cache.remote, cache.namespace)
    await cache.close()
