"""The limits as settings."""

from __future__ import annotations

import msgspec
import pytest

from provider_adapters.kit.limits import BreakerLimits, BulkheadLimits, ClientLimits
from tests.world.tables import cases


def test_the_defaults_are_the_documented_ones():
    assert ClientLimits() == ClientLimits(
        connect_s=2,
        read_s=8,
        payout_s=20,
        answer_bytes=1024 * 1024,
        retry_share=0.1,
        retry_after_s=0.05,
        retry_spread_s=0.1,
        breaker=BreakerLimits(
            consecutive=5, share=0.5, calls=20, window_s=30, open_s=10, longest_open_s=120,
            jitter=0.2,
        ),
        bulkhead=BulkheadLimits(in_flight=64, waiting=64, wait_s=1),
    )  # fmt: skip


@cases(
    "given",
    [
        {"connect_s": 0},
        {"read_s": -1},
        {"payout_s": "20"},
        {"reads_s": 8},
        {"answer_bytes": 1},
        {"breaker": {"share": 2}},
        {"bulkhead": {"in_flight": 0}},
    ],
)
def test_an_invalid_limit_is_refused(given: dict[str, object]):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given, ClientLimits)
