"""Registers over a real store, people who read in them, and a command line."""

from tests.unit.gateway.http.backoffice.conftest import admin_world
from tests.unit.gateway.operations.conftest import office
from tests.world.commands import bank, demo_shell, fresh_shell, shell

__all__ = ["admin_world", "bank", "demo_shell", "fresh_shell", "office", "shell"]
