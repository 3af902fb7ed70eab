"""Limits of a store: little patience, and enough for any machine."""

from gateway.store.kernel.database import Limits

SHORT = Limits(
    pool_size=2,
    checkout_s=1.0,
    connect_s=2.0,
    statement_s=1.0,
    busy_s=1.0,
    whole_s=3.0,
)
"""Long enough for what answers at once, also on a machine that is busy with others."""

LONG = Limits(checkout_s=60, connect_s=60, statement_s=60, busy_s=60, whole_s=120)
"""For tests of what is stored: a busy machine that answers 503 would prove nothing of that."""
