"""What several tests of followups share."""

from datetime import timedelta

from gateway.payouts.model import PayoutState
from gateway.payouts.schedule import Checked
from tests.world.stores.samples import ACCOUNT, NOW

LATER = NOW + timedelta(seconds=10)
LOOK = Checked(
    account_id=ACCOUNT,
    reference="order-1",
    attempt=1,
    state=PayoutState.UNKNOWN,
    owner="one",
    at=LATER,
    next_check_at=None,
    review=True,
)
