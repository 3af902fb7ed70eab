"""Asking a bank about a payout now: at most so often, never about one that has ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core.audit_context import AuditContext
from gateway.core.errors import PAYOUT_NOT_FOUND, TOO_MANY_REQUESTS
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.staff import PayoutProbes
from tests.unit.refusals import refused
from tests.unit.standing_payouts import company_and_accounts, stand
from tests.world.registers import Registers
from tests.world.stores.samples import ACCOUNT, payout


async def probes(office: Registers, found: Payout | None) -> PayoutProbes:
    """Build the probes, over an unknown payout; the bank's answer is ``found``."""
    await company_and_accounts(office.store)
    await stand(office.store, payout(), PayoutState.UNKNOWN)

    async def look(_account_id: str, _reference: str) -> Payout | None:
        return found

    return PayoutProbes(payouts=office.store.payouts, look=look, audit=office.store.audit)


def ana(office: Registers) -> AuditContext:
    return AuditContext("user:ana@example.com", office.clock)


async def test_a_probe_shows_its_result_and_stays_on_record(office: Registers):
    paid = replace(payout(), state=PayoutState.PAID)
    asks = await probes(office, paid)

    before, after = await asks.probe(ana(office), ACCOUNT, "order-1")

    assert (before.state, after.state) == (PayoutState.UNKNOWN, PayoutState.PAID)
    act = (await office.acts())[-1]
    assert (act.actor, act.action) == ("user:ana@example.com", "payout.probed")
    assert act.details == {"before": "unknown", "after": "paid"}


async def test_a_second_probe_at_once_is_refused_with_retry_after(office: Registers):
    asks = await probes(office, None)
    acts = len(await office.acts())

    with refused(TOO_MANY_REQUESTS) as refusal:
        await asks.probe(ana(office), ACCOUNT, "order-1")

    assert refusal.value.headers["Retry-After"] == "5"
    assert len(await office.acts()) == acts


async def test_probing_an_absent_payout_is_refused(office: Registers):
    asks = await probes(office, payout())

    with refused(PAYOUT_NOT_FOUND):
        await asks.probe(ana(office), ACCOUNT, "another")


@pytest.mark.parametrize("state", [PayoutState.PAID, PayoutState.FAILED, PayoutState.REJECTED])
async def test_probing_a_final_payout_is_refused(office: Registers, state: PayoutState):
    asks = await probes(office, payout())
    await stand(office.store, payout("ended"), state)

    with refused(NOT_POSSIBLE):
        await asks.probe(ana(office), ACCOUNT, "ended")
