"""Requests as a table."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

from gateway.request_log.model import LoggedRequest
from gateway.request_log.report_file import HEAD, lines

ONE = LoggedRequest(
    at=datetime(2026, 11, 20, 2, 30, 11, 771000, UTC),
    trace_id="=HYPERLINK(1)",
    surface="banking",
    route="banking.balance",
    method="GET",
    status=403,
    code="SVC.AUT.010",
    reason="scope",
    client_id="cli_a",
    user_id="",
    company_id="co",
    account_id="ac",
    duration_us=2_134,
    line="{}",
)


def test_a_table_opens_in_a_portuguese_spreadsheet():
    """Byte order mark, semicolons, decimal comma, time of Brasilia; no cell is a formula."""
    written = HEAD + lines([ONE])

    assert written.startswith(b"\xef\xbb\xbf")
    head, line = csv.reader(io.StringIO(written.decode("utf-8-sig")), delimiter=";")
    assert len(head) == len(line) == 13
    assert (line[0], line[1], line[5], line[-1]) == (
        "19/11/2026 23:30:11",
        "'=HYPERLINK(1)",
        "403",
        "2,134",
    )
