"""What several tests of watching share."""

from __future__ import annotations

import uuid

from tests.world.gateway.world import World
from tests.world.waiting import until


async def in_review(world: World) -> str:
    """Make a payout that comes into review: the bank settles another amount (.12)."""
    reference = f"review-{uuid.uuid4()}"
    await world.pay(
        {
            "method": "pix",
            "reference": reference,
            "value": 777.12,
            "date": world.today(),
            "destination": {
                "tax_number": "529.982.247-25",
                "key_type": "email",
                "key": "maria@example.com",
            },
        }
    )
    account = world.demo["accounts"]["main"]["id"]

    async def is_in_review() -> bool:
        await world.ask("GET", world.at(f"/withdraw/{reference}"))
        found = await world.gateway.kernel.store.payouts.find(account, reference)
        return found is not None and found.review

    async with world.bank_ahead():
        await world.look_at_unsettled()
        await until(is_in_review)
    return reference
