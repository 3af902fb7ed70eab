"""What several tests of identity records share."""

from __future__ import annotations

from gateway.identity.model import Mail
from tests.world.stores.samples import NOW

MAIL = Mail(id="m1", to="maria@example.com", subject="Olá", text="link", created_at=NOW)
