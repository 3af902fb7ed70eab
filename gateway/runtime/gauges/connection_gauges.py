"""Gauges that change with every request: sampled ten times a second instead."""

from __future__ import annotations

from collections.abc import Callable

from gateway.net.server.listener import Listener
from gateway.store.kernel.usage import Usage
from gateway.telemetry.ports import Gauge, Show


def connection_gauges(show: Show, public: Listener, usage: Usage) -> Callable[[], None]:
    """Return what shows the connections of callers and to the database as they are now."""

    def sample() -> None:
        show(Gauge.STORE_IN_USE, usage.in_use)
        show(Gauge.STORE_WAITING, usage.waiting)
        if not public.is_open:
            return
        show(Gauge.CONNECTIONS_OPEN, public.server.open_connections)
        for reason, times in public.server.turned_away.items():
            show(Gauge(f"turned_away.{reason}"), times)

    return sample
