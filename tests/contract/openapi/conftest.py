"""The gateway these tests call on."""

from tests.world.gateway.world_fixtures import world

__all__ = ["world"]
