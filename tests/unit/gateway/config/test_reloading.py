"""What a running process takes of another configuration."""

from __future__ import annotations

import msgspec

from gateway.config.effective import effective
from gateway.config.reloading import RELOADABLE, reloaded
from gateway.config.settings import (
    Auth,
    Basic,
    Database,
    Limits,
    RateLimits,
    Server,
    Settings,
    Telemetry,
)
from gateway.config.upstream import Provider
from gateway.config.values import Secret
from gateway.core.limits import CallRate

CURRENT = Settings(providers={"a": Provider(adapter="sandbox"), "b": Provider(adapter="sandbox")})


def test_equal_settings_have_no_change():
    found = reloaded(CURRENT, msgspec.structs.replace(CURRENT))

    assert (found.settings, found.taken, found.left) == (CURRENT, (), ())


def test_reloadable_settings_are_applied_and_the_others_named():
    fresh = msgspec.structs.replace(
        CURRENT,
        server=Server(connections=7, port=1),
        limits=Limits(in_flight=8),
        ratelimits=RateLimits(read=CallRate(rate=9, burst=100)),
        telemetry=Telemetry(level="error", request_log=False),
        database=Database(pool=11),
        auth=Auth(basic=Basic(pepper=Secret("never to be seen"))),
        providers={
            "a": Provider(adapter="sandbox", in_flight=3),
            "c": Provider(adapter="sandbox"),
        },
    )

    found = reloaded(CURRENT, fresh)

    assert found.taken == (
        *("limits.in_flight", "ratelimits.read.rate", "server.connections", "telemetry.level"),
    )
    assert found.left == (
        *("auth.basic.pepper", "database.pool", "providers.a.in_flight", "providers.b"),
        *("providers.c", "server.port", "telemetry.request_log"),
    )
    assert found.settings == msgspec.structs.replace(
        CURRENT,
        server=Server(connections=7),
        limits=Limits(in_flight=8),
        ratelimits=RateLimits(read=CallRate(rate=9, burst=100)),
        telemetry=Telemetry(level="error"),
    )


def test_unapplied_settings_are_named_at_each_reload():
    fresh = msgspec.structs.replace(CURRENT, database=Database(pool=11))

    once = reloaded(CURRENT, fresh)

    assert reloaded(once.settings, fresh).left == once.left == ("database.pool",)


def test_every_reloadable_path_is_a_setting():
    for path in RELOADABLE:
        value: object = effective(CURRENT)
        for name in path.split("."):
            assert isinstance(value, dict)
            assert name in value
            value = value[name]
