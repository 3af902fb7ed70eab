"""What happens to a test whose server is not on this machine."""

import os
from typing import NoReturn

import pytest


def absent(name: str, reason: str) -> NoReturn:
    """
    Skip for the reason given; fail instead where ``TEST_REQUIRE`` names the server.

    ``TEST_REQUIRE`` is a list with commas, for example ``postgres,redis,browser``: a pipeline
    that has everything must not turn green because a server did not start.
    """
    if demanded(name):
        pytest.fail(f"TEST_REQUIRE names {name}: {reason}")
    pytest.skip(reason)


def demanded(name: str) -> bool:
    """Say whether ``TEST_REQUIRE`` names it."""
    return name in os.environ.get("TEST_REQUIRE", "").replace(" ", "").split(",")
