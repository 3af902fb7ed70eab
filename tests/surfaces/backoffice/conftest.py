"""The gateway these tests call on, and its people at their desks."""

from tests.world.backoffice.fixtures import backoffice_client
from tests.world.gateway.world_fixtures import world

__all__ = ["backoffice_client", "world"]
