"""The fixtures of the simulated bank: what it keeps is seen through the sandbox's documents."""

from tests.unit.provider_adapters.testing.bank.conftest import (
    account,
    balanced_in_the_end,
    books,
    caller,
    open_account,
    order,
    run_bank,
    wall,
)

__all__ = [
    "account",
    "balanced_in_the_end",
    "books",
    "caller",
    "open_account",
    "order",
    "run_bank",
    "wall",
]
