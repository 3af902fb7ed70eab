"""Several processes on one port."""

from __future__ import annotations

import msgspec

from gateway.config.settings import Settings


def as_worker(settings: Settings, number: int) -> Settings:
    """Return the settings of worker ``number``, counted from 0: a shared port, its own ops port."""
    admin = settings.admin
    port = admin.port + number if admin.port else 0
    return msgspec.structs.replace(
        settings,
        server=msgspec.structs.replace(settings.server, reuse_port=True),
        admin=msgspec.structs.replace(admin, port=port),
    )
