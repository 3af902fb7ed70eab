"""
What a day costs, from what one payout and one balance cost.

Everything grows with the number of requests; how many processes share them changes nothing.
``scale.py`` measures whether that is so. What is assumed and not measured is a constant here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, cos, pi
from typing import Final

from gateway.store.kernel import partitions

RECORD: Final = 313_000_000
"""Payouts on the busiest day of the whole network so far."""
READS: Final = 3
"""Reads per payout, each as dear as a balance."""
LOOKS: Final = 0.6
"""What following a payout up costs, in payouts created (docs/performance.md: 0.58 to 0.67)."""
HALF: Final = 0.5
"""How busy a server process may be at the peak: the rest is for a node that is lost."""
PROCESSES: Final = 4
"""Server processes of a node."""
BANK_S: Final = 0.2
"""How long a bank takes for a payout."""
PLACES: Final = 48
"""Calls of one bank at once, per process: ``in_flight`` of 64 without the quarter for follow-up."""
POOL: Final = 10
"""Connections of a process to PostgreSQL (``database.pool``)."""
HAPPENINGS: Final = 4
"""Rows of ``payout_events`` per payout: each try and each step."""
DAYS: Final = partitions.DAYS[partitions.EVENTS.period]
"""Whose events lie in one partition."""
LINES: Final = 1
"""Rows of ``request_log`` per payout: reads that succeed are thinned out."""
SWING: Final = 0.9
"""How far the hours of a day differ from their mean: little at 4, most at 16 o'clock."""
BURST: Final = 2.0
"""How far the busiest minutes of an hour are above its mean: a payday, a match that ends."""
MINUTES: Final = 24 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """
    Of one payout, and of one balance.

    Attributes:
        payout_us, balance_us: CPU of server processes.
        database_us: CPU of PostgreSQL for a payout.
        wal: Bytes of write-ahead log for a payout.
        kept: Bytes of a payout and its try with their indexes, which stay unless they are archived.
    """

    payout_us: float
    balance_us: float
    database_us: float
    wal: float
    kept: float


LIMITS: Final[Mapping[str, tuple[float, str]]] = {
    "connections of PostgreSQL, without a pooler": (500, "a session takes memory and a process"),
    "cores of PostgreSQL": (45, "64 cores, 70 % busy"),
    "WAL, MB a second": (500, "one disk array, one stream to a standby"),
    "WAL a day, TB": (10, "archived and restored within a day at 1 Gbit/s"),
    "kept a year, TB": (30, "a copy of the database within a day"),
    "rows of `payout_events` in a partition, million": (1_000, "one vacuum within a day"),
}
"""What one PostgreSQL server takes, and why; assumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A day: what its peak asks for, and what is left of it in the evening."""

    mean: float
    peak: float
    server_cores: float
    processes: int
    nodes: int
    database_cores: float
    wal_mb_s: float
    wal_tb: float
    kept_gb: float
    event_rows_m: float
    request_rows_m: float
    connections: int

    def asked(self) -> Mapping[str, float]:
        """Return what is asked of PostgreSQL, in the order of ``LIMITS``."""
        asked = (
            *(float(self.connections), self.database_cores, self.wal_mb_s, self.wal_tb),
            *(self.kept_gb * 365 / 1_000, self.event_rows_m),
        )
        return dict(zip(LIMITS, asked, strict=True))


def minutes(payouts: float) -> Iterator[float]:
    """Give the payouts of each minute of a day; every tenth minute is a burst."""
    share = 10 / (9 + BURST)
    for minute in range(MINUTES):
        hour = 1 - SWING * cos(2 * pi * (minute / 60 - 4) / 24)
        yield payouts / MINUTES * hour * share * (1 if minute % 10 else BURST)


def day(costs: Costs, payouts: float = RECORD) -> Demand:
    """Run a day through the model."""
    peak = made = wal = 0.0
    for of_minute in minutes(payouts):
        peak, made = max(peak, of_minute / 60), made + of_minute
        wal += of_minute * costs.wal
    server_cores = peak * (costs.payout_us * (1 + LOOKS) + READS * costs.balance_us) / 1e6
    processes = max(2, ceil(server_cores / HALF), ceil(peak * BANK_S / PLACES))
    return Demand(
        mean=made / MINUTES / 60,
        peak=peak,
        server_cores=server_cores,
        processes=processes,
        nodes=max(2, ceil(processes / PROCESSES)),
        database_cores=peak * costs.database_us * (1 + LOOKS) / 1e6,
        wal_mb_s=peak * costs.wal / 1e6,
        wal_tb=wal / 1e12,
        kept_gb=made * costs.kept / 1e9,
        event_rows_m=made * HAPPENINGS * DAYS / 1e6,
        request_rows_m=made * LINES / 1e6,
        connections=processes * POOL,
    )


def breaks(demand: Demand, payouts: float = RECORD) -> Sequence[tuple[str, float]]:
    """Return how many payouts a day each limit allows, the first one to break first."""
    asked = demand.asked()
    allowed = [(name, payouts * LIMITS[name][0] / asked[name]) for name in LIMITS]
    return sorted(allowed, key=lambda each: each[1])
