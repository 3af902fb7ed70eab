"""The gateway these tests call on."""

from tests.surfaces.world_fixtures import world

__all__ = ["world"]
