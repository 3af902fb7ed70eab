"""The registers of a real store."""

from tests.unit.gateway.operations.conftest import office

__all__ = ["office"]
