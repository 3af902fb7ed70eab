"""A command line, with and without a bank beside it."""

from tests.world.commands import bank, demo_shell, fresh_shell, shell

__all__ = ["bank", "demo_shell", "fresh_shell", "shell"]
