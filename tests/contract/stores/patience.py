"""Little patience, and how to see that it was kept."""

import contextlib
import time
from collections.abc import Iterator

from gateway.store.kernel.database import Limits

SHORT = Limits(
    pool_size=2,
    checkout_s=0.4,
    connect_s=0.5,
    statement_s=0.4,
    busy_s=0.4,
    whole_s=1.2,
)


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is inside takes no longer."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds
