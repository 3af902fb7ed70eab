"""Lists as files, on the wire of the back office."""

from __future__ import annotations

from gateway.domain.kernel.company_scope import EVERY_COMPANY
from gateway.http.backoffice.files import as_reader, table
from gateway.operations.backoffice.downloads.files import DownloadFile
from tests.unit.gateway.http.backoffice.surface import STAFF


def test_a_table_is_kept_and_not_guessed_at():
    shown = table("a.csv")(DownloadFile(b"x"), STAFF)

    assert (shown.content, shown.rest) == (b"x", None)
    assert shown.headers["Content-Disposition"] == 'attachment; filename="a.csv"'
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert shown.content_type == "text/csv; charset=utf-8"


async def test_a_file_is_read_in_the_turn_and_the_scope_of_the_caller():
    async def run(user_id: str, scope: object, taken: str) -> DownloadFile:
        return DownloadFile(f"{user_id} {scope == EVERY_COMPANY} {taken}".encode())

    found = await as_reader(run)(STAFF, "it")

    assert found.first.decode() == f"{STAFF.person.user_id} {STAFF.scope == EVERY_COMPANY} it"
