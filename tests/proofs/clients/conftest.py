"""The gateways that clients pay through; one has the documents that clients are built from."""

from tests.world.gateway.world_fixtures import described_world as world
from tests.world.gateway.world_fixtures import hurried_world

__all__ = ["hurried_world", "world"]
