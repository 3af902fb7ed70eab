"""Identity and the panel, served; and a gateway with one person of each role."""

from tests.surfaces.panel.api import world
from tests.world.gateway.identity_api_fixtures import api_client, clock, kind, maria, store, url

__all__ = ["api_client", "clock", "kind", "maria", "store", "url", "world"]
