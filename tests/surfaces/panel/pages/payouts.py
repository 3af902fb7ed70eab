"""What several tests of payouts share."""

from __future__ import annotations

from uuid import uuid4

from tests.world.gateway.world import World


def ordered(world: World, **more: str) -> dict[str, str]:
    return {
        "step": "look",
        "account_id": world.demo["accounts"]["main"]["id"],
        "key_type": "email",
        "key": "maria@example.com",
        "tax_number": "529.982.247-25",
        "value": "10,50",
        "description": "painel",
        "reference": f"painel-{uuid4().hex[:8]}",
        **more,
    }
