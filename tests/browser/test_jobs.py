"""What a back office does every day takes no more clicks and filled fields than the table says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.browser import jobs, panel_site
from tests.browser.jobs import ADMIN, DECIDES, ORDERS, SECOND, Job, Office

MOST: Mapping[Job, Mapping[str, int]] = {
    jobs.money_that_did_not_arrive: {ORDERS: 2},
    jobs.failures_of_yesterday: {ORDERS: 4},
    jobs.one_company_stopped: {ORDERS: 5},
    jobs.everything_stopped: {ORDERS: 5},
    jobs.a_received_pix_refunded: {ORDERS: 6, DECIDES: 4},
    jobs.a_file_of_payouts_paid: {ORDERS: 6, DECIDES: 4},
    jobs.an_own_order_withdrawn: {ORDERS: 4},
    jobs.an_own_order_corrected: {ORDERS: 4},
    jobs.a_secret_rotated: {ORDERS: 7, DECIDES: 3},
    jobs.acts_of_last_friday: {ORDERS: 4},
    jobs.acts_of_a_person: {ORDERS: 3},
    jobs.a_bank_down: {ORDERS: 2},
    jobs.a_bank_s_payouts_stopped: {ORDERS: 6},
    jobs.a_day_closed: {DECIDES: 3, SECOND: 3},
    jobs.a_client_with_an_account: {ADMIN: 11},
    jobs.a_colleague_in: {ORDERS: 6, DECIDES: 3},
    jobs.a_colleague_out: {ORDERS: 3},
    jobs.a_payout_by_its_end_to_end_id: {ORDERS: 1},
    jobs.a_payment_by_its_end_to_end_id: {ORDERS: 1},
    jobs.a_refund_by_its_end_to_end_id: {ORDERS: 1},
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def office(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Office]:
    """A gateway of this module alone: much changes."""
    wanted = panel_site.settings(tmp_path_factory.mktemp("jobs"))
    async with (
        panel_site.serving(wanted, jobs.plant) as site,
        jobs.sitting(browser, site) as made,
    ):
        yield made


@pytest.mark.parametrize("job", MOST, ids=lambda job: job.__name__)
async def test_a_job_takes_few_clicks(office: Office, job: Job):
    for who in MOST[job]:
        await office.hands[who].begin()

    await job(office)

    counts = {who: office.hands[who].count for who in MOST[job]}
    findings = [each for who in MOST[job] for each in office.hands[who].tab.findings]
    assert {who: count for who, count in counts.items() if count > MOST[job][who]} == {}
    assert findings == []
