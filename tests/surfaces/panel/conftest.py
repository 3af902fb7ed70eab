"""Identity and the panel, served."""

from tests.world.gateway.identity_api_fixtures import api_client, clock, kind, maria, store, url

__all__ = ["api_client", "clock", "kind", "maria", "store", "url"]
