"""What a search is read from."""

from __future__ import annotations

import pytest

from gateway.core.user_errors import VALIDATION_FAILED
from tests.unit.gateway.http.registers import taken
from tests.unit.refusals import refusal_of


@pytest.mark.parametrize(
    "query",
    [{"status_class": ["6"]}, {"status_class": ["4xx"]}, {"before": ["x"]}, {"slower_ms": ["-1"]}],
)
@pytest.mark.parametrize("name", ["requests", "requests_summary", "requests_export"])
def test_a_filter_of_another_form_is_refused(name: str, query: dict[str, list[str]]):
    assert refusal_of(lambda: taken(name, query=query)) is VALIDATION_FAILED


@pytest.mark.parametrize("status", ["2000", "20", "abc", "-20", "٢٠٠"])
def test_a_status_has_three_digits(status: str):
    assert refusal_of(lambda: taken("requests", query={"status": [status]})) is VALIDATION_FAILED
