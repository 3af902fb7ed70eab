"""Banks by their numbers."""

from __future__ import annotations

from tests.unit.gateway.http.backoffice.surface import ROWS, STAFF, line


def test_the_row_is_the_one_decided():
    assert line("bank_numbers") == ("GET", "/bank-numbers", "payout:read", 200)


async def test_every_bank_has_both_numbers_once():
    shown = await ROWS["backoffice.bank_numbers"].serve(STAFF, None)  # type: ignore[arg-type]

    data = shown["data"]  # type: ignore[index]
    assert {"compe": "341", "ispb": "60701190"}.items() <= next(
        each for each in data if each["compe"] == "341"
    ).items()
    assert len({each["compe"] for each in data}) == len(data) > 400
    assert {len(each["ispb"]) for each in data} == {8}
