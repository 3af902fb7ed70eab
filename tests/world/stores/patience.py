"""Little patience, and how to see that it was kept; and enough for any machine."""

import contextlib
import time
from collections.abc import Iterator

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


BUSY_S = 15.0
"""What a busy machine may add. A limit that is not kept lasts for ever, or for ``LONG``."""


@contextlib.contextmanager
def within(seconds: float, busy_s: float = BUSY_S) -> Iterator[None]:
    """What is inside takes no longer, on a machine that has nothing else to do."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds + busy_s
