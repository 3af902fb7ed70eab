"""How much a campaign does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Between = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """
    The least that a campaign does before it comes to rest.

    Attributes:
        changes: Payouts, payments, refunds and returns, spread over the time.
        seconds: The shortest time of all trouble; 0 goes as fast as it can.
        kills: ``kill -9`` of servers, of workers and of PostgreSQL each.
        lives_s: For how long a server or a worker runs before it is killed.
        store_lives_s: For how long PostgreSQL does.
        walk_every_s: Between two walks of the accounts' statements.
    """

    changes: int
    seconds: float
    kills: int
    lives_s: Between
    store_lives_s: Between
    walk_every_s: float


SMALL: Final = Scale(
    changes=40,
    seconds=0,
    kills=1,
    lives_s=(0.2, 1.5),
    store_lives_s=(1.0, 3.0),
    walk_every_s=1.0,
)
FULL: Final = Scale(
    changes=2_000,
    seconds=300,
    kills=5,
    lives_s=(1.0, 20.0),
    store_lives_s=(10.0, 40.0),
    walk_every_s=5.0,
)
RELEASE: Final = Scale(
    changes=10_000,
    seconds=3_600,
    kills=30,
    lives_s=(2.0, 60.0),
    store_lives_s=(20.0, 120.0),
    walk_every_s=15.0,
)
SCALES: Final[Mapping[str, Scale]] = {"small": SMALL, "full": FULL, "release": RELEASE}
