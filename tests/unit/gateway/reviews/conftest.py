"""A command line, a bank beside it, and the registers of a real store."""

from tests.unit.gateway.operations.conftest import office
from tests.world.commands import bank, demo_shell, fresh_shell, shell

__all__ = ["bank", "demo_shell", "fresh_shell", "office", "shell"]
