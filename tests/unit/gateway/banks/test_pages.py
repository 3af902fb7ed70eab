"""Banks on their page: what each offers, and until when calls of one are kept back."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest
from aiohttp import web

from gateway.banks.model import status_of
from gateway.banks.pages import matrix
from gateway.http.panel.pages.templates import Templates
from gateway.http.panel.pages.visit import Language
from tests.unit.gateway.banks.samples import provider
from tests.world.standing import NOON

CAPABILITIES = {
    "destinations": ["pix"],
    "repeat": "same_answer",
    "lookup": ["key"],
    "absent_after": 60,
    "calls": ["get_balance"],
    "callback_proofs": [],
}


async def shown(*, is_open: bool) -> str:
    until = f"{NOON + timedelta(seconds=75):%Y-%m-%dT%H:%M:%SZ}"
    bank = provider(
        name="ipe",
        breakers={"read": "open"} if is_open else {},
        open_until={"read": until} if is_open else {},
        read_only=True,
    )
    templates = Templates(lambda name: name)
    templates.set_up(web.Application())
    await templates.loaded()
    visit = SimpleNamespace(address="/panel/providers", is_partial=True)
    data = {"visit": visit, "banks": [status_of(bank, None, None)], "now": NOON, "is_open": is_open}
    page = await templates.render(
        "operations/_providers.html", Language.PORTUGUESE, {**data, "may_stop": False}
    )
    return page.decode()


async def test_an_open_breaker_counts_down_and_refreshes_often():
    page = await shown(is_open=True)

    ends = int((NOON + timedelta(seconds=75)).timestamp() * 1000)
    assert f'data-until="{ends}">1 min 15 s<' in page
    assert 'data-over="Leituras: pronto para tentar"' in page
    assert "panel:tick" in page


@pytest.mark.parametrize("word", ["data-until", "panel:tick"])
async def test_a_page_without_an_open_breaker_refreshes_each_minute(word: str):
    page = await shown(is_open=False)

    assert word not in page
    assert "panel:minute" in page


@pytest.mark.parametrize(
    ("read_only", "by_key", "by_account"), [(False, True, False), (True, "read_only", False)]
)
def test_a_read_only_bank_offers_no_payouts(read_only, by_key, by_account):
    """Its adapter could; the configuration forbids it."""
    table = dict(matrix([provider(capabilities=CAPABILITIES, read_only=read_only)]))

    assert (table["pay_pix"], table["pay_bank_account"]) == ([by_key], [by_account])
    assert table["get_balance"] == [True]
