"""What several tests of registry share."""

from gateway.telemetry.metrics.families import Vocabulary
from gateway.telemetry.metrics.registry import Instance

INSTANCE = Instance(
    version="1.2.3",
    commit="0123456789ab",
    environment="sandbox",
    config_digest="abc",
    routes=13,
    policies=5,
    providers=1,
)
WORDS = Vocabulary(
    surface=frozenset({"banking"}),
    route=frozenset({"banking.balance"}),
    provider=frozenset({"sandbox"}),
    operation=frozenset({"get_balance"}),
    policy=frozenset({"read"}),
)
