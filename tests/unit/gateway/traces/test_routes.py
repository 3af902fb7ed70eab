"""The routes of traces and explanations."""

from __future__ import annotations

from tests.unit.gateway.http.surface import line


def test_both_routes_need_the_right_to_read_the_request_log():
    trace = "/traces/{trace_id}"

    assert line("trace") == ("GET", trace, "request_log:read", 200)
    assert line("trace_explanation") == ("GET", f"{trace}/explanation", "request_log:read", 200)
