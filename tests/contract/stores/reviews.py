"""What several tests of reviews share."""

from datetime import timedelta

from gateway.app.store import Store
from gateway.payouts.model import Opinion, PayoutState, Verdict
from gateway.payouts.schedule import Checked
from tests.world.stores.due import claim_due
from tests.world.stores.samples import ACCOUNT, NOW, attempt, change, payout

SENDING, UNKNOWN, PAID = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.PAID
MARIA = Opinion(
    account_id=ACCOUNT,
    reference="order-1",
    verdict=Verdict.PAID,
    reason="no extrato \u2028",
    by="maria",
    at=NOW,
    attempt=1,
    state=UNKNOWN,
)


async def in_review(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, UNKNOWN))
    later = NOW + timedelta(hours=26)
    await claim_due(store, "one", later, later)
    look = Checked(
        account_id=ACCOUNT,
        reference="order-1",
        attempt=1,
        state=UNKNOWN,
        owner="one",
        at=later,
        next_check_at=None,
        review=True,
    )
    assert await store.follow_ups.checked(look)
