"""The gateway these tests call on."""

from tests.world.gateway.world_fixtures import described_world, prepared, world

__all__ = ["described_world", "prepared", "world"]
