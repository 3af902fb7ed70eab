"""A till, as the tests of single modules have it."""

from tests.unit.conftest import clock, store_file, till

__all__ = ["clock", "store_file", "till"]
