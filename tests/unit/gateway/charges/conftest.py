"""A store in a file."""

from tests.unit.gateway.store.conftest import store, url

__all__ = ["store", "url"]
