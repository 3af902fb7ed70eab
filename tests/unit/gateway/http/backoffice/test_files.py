"""Lists as files, on the wire of the back office."""

from __future__ import annotations

from gateway.http.backoffice.files import table
from gateway.reports.files import DownloadFile
from tests.unit.gateway.http.backoffice.surface import STAFF


def test_a_table_is_kept_and_not_guessed_at():
    shown = table("a.csv")(DownloadFile(b"x"), STAFF)

    assert (shown.content, shown.rest) == (b"x", None)
    assert shown.headers["Content-Disposition"] == 'attachment; filename="a.csv"'
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert shown.content_type == "text/csv; charset=utf-8"
