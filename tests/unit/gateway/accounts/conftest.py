"""A command line, and the registers of a real store."""

from tests.unit.gateway.operations.conftest import office
from tests.world.commands import shell

__all__ = ["office", "shell"]
