"""Trips of the outflow guard, put into the store of a gateway."""

from __future__ import annotations

from uuid import uuid4

from msgspec.structs import replace

from gateway.core.company_scope import StopScope
from gateway.outflow.envelope import Measure
from gateway.outflow.model import Trip
from tests.world.gateway.world import World


async def add_trip(world: World, **changed: object) -> Trip:
    """Add a trip of the main company: new payees got too much money, and nothing is stopped."""
    company, now = world.demo["companies"]["main"]["id"], world.gateway.kernel.now()
    trip = Trip(
        id=str(uuid4()),
        company_id=company,
        scope=StopScope.COMPANY,
        subject=company,
        measure=Measure.NEW_MONEY,
        window_s=300,
        value=9_876_543,
        bound=1_234_567,
        above=0,
        at=now,
        seen_at=now,
        stop_id=None,
    )
    trip = replace(trip, **changed)
    records = world.gateway.services.outflows.records
    async with records.database.writing() as connection:
        await records.trip(connection, trip)
    return trip
