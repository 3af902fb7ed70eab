"""Which of several attempts wins, and what becomes of the others."""

from __future__ import annotations

import asyncio
import time

import pytest

from gateway.banks.client.connector import first_to_succeed
from tests.world.leaping import leaping


class Attempt:
    """Takes a while, and then succeeds or fails."""

    def __init__(self, name: str, seconds: float, problem: Exception | None = None) -> None:
        self.name = name
        self.seconds = seconds
        self.problem = problem
        self.began: float | None = None
        self.cancelled = False

    async def __call__(self) -> str:
        self.began = time.monotonic()
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self.problem:
            raise self.problem
        return self.name


def refused(seconds: float = 0.0, text: str = "") -> Attempt:
    return Attempt("refused", seconds, OSError(text))


@leaping
async def test_the_next_attempt_starts_a_quarter_of_a_second_later():
    slow = [Attempt("a", 10.0), Attempt("b", 10.0), Attempt("c", 0.1)]
    began = time.monotonic()

    assert await first_to_succeed(slow) == "c"

    assert [each.began - began for each in slow] == pytest.approx([0, 0.25, 0.5], abs=0.02)
    assert [each.cancelled for each in slow] == [True, True, False]


@leaping
async def test_the_next_attempt_starts_at_once_after_a_failure():
    second = Attempt("b", 0.1)
    began = time.monotonic()

    assert await first_to_succeed([refused(), second]) == "b"

    assert second.began - began < 0.05


@leaping
async def test_the_first_attempt_may_win_after_the_second_started():
    second = Attempt("b", 10.0)

    assert await first_to_succeed([Attempt("a", 0.4), second]) == "a"

    assert second.cancelled


@leaping
async def test_a_fast_first_attempt_starts_no_second():
    second = Attempt("b", 0.1)

    assert await first_to_succeed([Attempt("a", 0.1), second]) == "a"

    assert second.began is None


@pytest.mark.parametrize("first_s", [0.0, 0.6])
def test_when_all_addresses_fail_the_last_failure_is_reported(first_s: float):
    @leaping
    async def run() -> None:
        with pytest.raises(OSError, match="last"):
            await first_to_succeed(
                [
                    refused(first_s, "last" if first_s else ""),
                    refused(0.1, "" if first_s else "last"),
                ]
            )

    run()


@leaping
async def test_a_cancelled_race_cancels_every_attempt():
    slow = [Attempt("a", 10.0), Attempt("b", 10.0)]

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await first_to_succeed(slow)

    assert [each.cancelled for each in slow] == [True, True]
