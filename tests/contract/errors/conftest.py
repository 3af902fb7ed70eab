"""The gateway these tests call on."""

from tests.surfaces.stage import world

__all__ = ["world"]
