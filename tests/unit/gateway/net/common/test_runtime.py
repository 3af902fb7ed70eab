"""What a client takes from outside."""

from __future__ import annotations

import random

from gateway.net.common.runtime import chance


def test_chance_is_of_the_system_and_moves_nothing_that_others_share():
    """A property that is tested beside a running loop sees every draw of the shared generator."""
    shared = random.getstate()

    drawn = {chance() for _ in range(100)}

    assert random.getstate() == shared
    assert len(drawn) == 100
    assert all(0 <= each < 1 for each in drawn)
