"""One gateway, and an account at every simulated bank."""

from tests.surfaces.banks.every_bank import every_bank

__all__ = ["every_bank"]
