"""What several tests of stops share."""

from datetime import timedelta

from gateway.domain.payouts.stops import Stop, StopScope
from tests.world.stores.samples import ACCOUNT, NOW

END = NOW + timedelta(hours=2)
STOP = Stop(
    id="5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7b01",
    scope=StopScope.ACCOUNT,
    subject=ACCOUNT,
    reason="contas erradas \u2028",
    created_by="maria",
    created_at=NOW,
    ends_at=END,
)
