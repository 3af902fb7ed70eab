"""The gateway that the generated clients pay through, with the documents they are built from."""

from tests.world.gateway.world_fixtures import described_world as world

__all__ = ["world"]
