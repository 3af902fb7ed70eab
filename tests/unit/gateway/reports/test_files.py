"""Files read page by page: in turns, lazily, and never more than a page ahead."""

from __future__ import annotations

import pytest

from gateway.core import errors
from gateway.core.errors import ServiceError
from gateway.core.exports import MOST_OF_A_PERSON, Export, ExportKind, Turns
from gateway.reports.files import DownloadPage, DownloadReader
from tests.unit.refusals import refused
from tests.world.exports import exports, signed_in


class Pages:
    """A list of so many pages of one number each; notes what was read."""

    def __init__(self, most: int, fails_at: int = -1) -> None:
        self.most, self.fails_at = most, fails_at
        self.seen: list[int] = []

    async def read(self, place: int | None) -> DownloadPage[int, int]:
        number = place or 0
        if number == self.fails_at:
            raise LookupError
        self.seen.append(number)
        return DownloadPage([number], number + 1 if number + 1 < self.most else None)


def reader(pages: Pages, turns: Turns) -> DownloadReader[int, int]:
    export = Export(exports(turns), signed_in(), ExportKind.PAYOUTS, turns.take("maria"))
    return reads(pages, export)


def reads(pages: Pages, export: Export) -> DownloadReader[int, int]:
    return DownloadReader(read=pages.read, write=lambda some: f"{some};".encode(), export=export)


async def test_a_one_page_file_is_complete_and_releases_its_slot():
    turns = Turns()

    file = await reader(Pages(1), turns).file(b"head;")

    assert (file.first, file.rest) == (b"head;[0];", None)
    for _ in range(MOST_OF_A_PERSON):
        await reader(Pages(1), turns).file(b"")


async def test_pages_of_a_file_are_read_on_demand():
    pages = Pages(3)
    file = await reader(pages, Turns()).file(b"")
    assert (file.first, pages.seen) == (b"[0];", [0])

    assert file.rest is not None
    assert await anext(file.rest) == b"[1];"
    assert pages.seen == [0, 1]
    assert [each async for each in file.rest] == [b"[2];"]


async def test_a_failure_on_the_first_page_is_raised_before_the_file_starts():
    with pytest.raises(LookupError):
        await reader(Pages(2, fails_at=0), Turns()).file(b"")


@pytest.mark.parametrize("ends", ["read", "closed", "failed", "dropped"])
async def test_an_export_slot_is_released_however_the_file_ends(ends: str):
    turns = Turns()
    pages = Pages(3, fails_at=2 if ends == "failed" else -1)
    files = [await reader(pages, turns).file(b"") for _ in range(MOST_OF_A_PERSON)]
    with pytest.raises(ServiceError):
        turns.take("maria")

    rest = files.pop().rest
    assert rest is not None
    if ends == "closed":
        await anext(rest)
        await rest.aclose()
    elif ends == "read":
        assert len([each async for each in rest]) == 2
    elif ends == "failed":
        with pytest.raises(LookupError):
            [each async for each in rest]
    del rest

    turns.take("maria")


async def test_a_file_is_cut_off_at_the_user_s_row_limit():
    """Rows above the limit are not written; on the first page no file is started."""
    most = exports(rows=2)
    file = await reads(Pages(4), await most.begin(signed_in(), ExportKind.PAYOUTS)).file(b"")
    assert file.rest is not None

    assert await anext(file.rest) == b"[1];"
    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        await anext(file.rest)

    assert (refusal.value.reason, refusal.value.headers) == ("exported_rows", {"Retry-After": "1"})
    another = await most.begin(signed_in(), ExportKind.PAYOUTS)
    with refused(errors.TOO_MANY_REQUESTS):
        await reads(Pages(1), another).file(b"")
