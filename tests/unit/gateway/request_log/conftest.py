"""Registers over a real store, and people who read in them."""

from tests.unit.gateway.http.backoffice.conftest import admin_world
from tests.unit.gateway.operations.conftest import office

__all__ = ["admin_world", "office"]
