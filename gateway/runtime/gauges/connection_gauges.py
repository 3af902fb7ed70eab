"""Gauges that change with every request: sampled ten times a second instead."""

from __future__ import annotations

from collections.abc import Callable

from gateway.net.server.listener import Listener
from gateway.store.kernel.usage import Usage


def connection_gauges(
    show: Callable[[str, float], None], public: Listener, usage: Usage
) -> Callable[[], None]:
    """Return what shows the connections of callers and to the database as they are now."""

    def sample() -> None:
        show("store_in_use", usage.in_use)
        show("store_waiting", usage.waiting)
        if not public.is_open:
            return
        show("connections_open", public.server.open_connections)
        for reason, times in public.server.turned_away.items():
            show(f"turned_away.{reason}", times)

    return sample
