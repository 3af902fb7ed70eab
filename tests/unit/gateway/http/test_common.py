"""The shapes of the answers, as OpenAPI shows them."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.charges import documents as charges
from gateway.core import schemas
from gateway.payouts import documents


def pattern(kind: object) -> re.Pattern[str]:
    found: str = msgspec.json.schema(kind)["pattern"]
    return re.compile(found)


def described(shape: type) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.schema(shape)["$defs"][shape.__name__]
    return found


@pytest.mark.parametrize(
    ("kind", "text", "fits"),
    [
        (schemas.Instant, "2026-09-22T13:40:11Z", True),
        (schemas.Instant, "", True),
        (schemas.Instant, "2026-09-22T13:40:11+00:00", False),
        (schemas.Instant, "2026-09-22 13:40", False),
        (schemas.Moment, "2026-09-22T13:40:11Z", True),
        (schemas.Moment, "2026-09-22T13:40:11.123Z", False),
        (schemas.Moment, "", False),
        (charges.Minute, "2026-09-22 13:40", True),
        (charges.Minute, "", True),
        (charges.Minute, "2026-09-22T13:40:11Z", False),
    ],
)
def test_each_kind_of_time_has_its_pattern(kind: object, text: str, fits: bool):
    """Contract 2.1 and 2.4."""
    assert (pattern(kind).search(text) is not None) is fits


def test_the_failure_document_lists_every_failure_code():
    words = described(documents.FailureDocument)["properties"]["code"]["enum"]

    assert sorted(words) == sorted(each.value for each in FailureCode)
