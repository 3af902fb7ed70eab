"""Fixtures of identity."""

from tests.unit.identity_fixtures import identity_world, maria, panel_world

__all__ = ["identity_world", "maria", "panel_world"]
