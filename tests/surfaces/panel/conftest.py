"""The house these tests visit."""

from tests.surfaces.house_fixtures import clock, house, kind, maria, store, url

__all__ = ["clock", "house", "kind", "maria", "store", "url"]
