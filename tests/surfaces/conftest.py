"""The gateway these tests call on."""

from tests.world.gateway.world_fixtures import (
    hurried_world,
    prepared,
    settings_on_either_store,
    world,
)

__all__ = ["hurried_world", "prepared", "settings_on_either_store", "world"]
