"""Payouts put into a store as if they had come to a state by themselves."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from gateway.app.store import Store
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.companies.service import add_company
from gateway.core.money import Money
from gateway.payouts.events import PayoutEvent
from gateway.payouts.model import Change, Payout, PayoutRequest, PayoutState
from gateway.payouts.schedule import Checked
from tests.world.stores import samples
from tests.world.stores.due import claim_due

SENDING, UNKNOWN = PayoutState.SENDING, PayoutState.UNKNOWN
NEVER = datetime(2999, 1, 1, tzinfo=samples.NOW.tzinfo)
ORDER = PayoutRequest(
    reference="order-1",
    method=PayoutMethod.PIX,
    value=Money(1050),
    date=samples.NOW.date(),
    description="",
    destination=samples.payout().destination,
    destination_sent={},
)
_ROADS = {PayoutState.SENDING: (), PayoutState.PAID: (PayoutState.ACCEPTED, PayoutState.PAID)}


async def company_and_accounts(store: Store) -> None:
    await add_company(store.database, samples.company(), samples.event())
    for account_id in (samples.ACCOUNT, samples.SISTER):
        await store.accounts.add(samples.account(account_id), samples.event())


async def stand(store: Store, payout: Payout, state: PayoutState, **last: object) -> Payout:
    """Store a payout and lead it to a state; ``last`` are fields of its last step."""
    if state is PayoutState.HELD:
        await store.payouts.add(samples.held(payout), None)
        return await found(store, payout)
    await store.payouts.add(payout, samples.attempt(started_at=payout.created_at))
    before = SENDING
    road = _ROADS.get(state, (state,))
    for after in road:
        step = Change(
            account_id=payout.account_id,
            reference=payout.reference,
            attempt=1,
            before=frozenset({before}),
            after=after,
            at=payout.created_at + timedelta(seconds=1),
        )
        if after is road[-1]:
            step = replace(step, **last)  # type: ignore[arg-type]
        assert await store.payouts.record(step)
        before = after
    return await found(store, payout)


async def review(store: Store, payout: Payout, heard: PayoutEvent | None = None) -> Payout:
    """Let a payout wait for a person after a look that heard something; others due are claimed."""
    await claim_due(store, "samples", NEVER, samples.NOW)
    look = Checked(
        account_id=payout.account_id,
        reference=payout.reference,
        attempt=1,
        state=payout.state,
        owner="samples",
        at=samples.NOW + timedelta(minutes=5),
        next_check_at=None,
        review=True,
        heard=heard,
    )
    assert await store.follow_ups.checked(look)
    return await found(store, payout)


async def found(store: Store, payout: Payout) -> Payout:
    row = await store.payouts.find(payout.account_id, payout.reference)
    assert row is not None
    return row
