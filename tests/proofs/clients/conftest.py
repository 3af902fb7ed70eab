"""The gateway that the generated clients pay through."""

from tests.world.gateway.world_fixtures import world

__all__ = ["world"]
