"""What several tests of watching share."""

from __future__ import annotations

import uuid
from dataclasses import replace

from gateway.core.account import Environment
from gateway.payouts.model import provider_key
from tests.world.gateway.world import World, order
from tests.world.stores import samples
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


async def held(world: World) -> str:
    """Make a payout of the demo's partner that is held for half an hour more."""
    reference, account = f"held-{uuid.uuid4()}", world.demo["accounts"]["main"]["id"]
    first = f"first-{uuid.uuid4()}"
    await world.pay(order(first, world.today()))
    stored, now = world.gateway.kernel.store.payouts, world.gateway.kernel.now()
    sent = await stored.find(account, first)
    assert sent is not None
    about = replace(
        sent,
        reference=reference,
        provider_key=provider_key(Environment.SANDBOX, account, reference),
        e2e_id="",
        provider_id="",
        settled_at=None,
        created_at=now,
    )
    assert await stored.add(samples.held(about), None) is None
    return reference
