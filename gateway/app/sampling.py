"""Figures that change with every request: shown ten times a second, not each time."""

from __future__ import annotations

from gateway.app.observing import Observing
from gateway.net.server.listener import Listener
from gateway.store.kernel.usage import Usage


def sample_connections(observing: Observing, public: Listener, usage: Usage) -> None:
    """Show connections of callers and to the database from now on; time the database's work."""
    show = observing.observer.show

    def sample() -> None:
        show("store_in_use", usage.in_use)
        show("store_waiting", usage.waiting)
        if not public.is_open:
            return
        show("connections_open", public.server.open_connections)
        for reason, times in public.server.turned_away.items():
            show(f"turned_away.{reason}", times)

    usage.told = observing.observer.stored
    observing.sampled.append(sample)
