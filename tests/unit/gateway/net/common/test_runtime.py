"""What a client takes from outside."""

from __future__ import annotations

import random

from gateway.net.common.runtime import chance


def test_random_numbers_do_not_change_the_shared_generator():
    """A property test beside a running loop sees every draw of the shared generator."""
    shared = random.getstate()

    drawn = {chance() for _ in range(100)}

    assert random.getstate() == shared
    assert len(drawn) == 100
    assert all(0 <= each < 1 for each in drawn)
