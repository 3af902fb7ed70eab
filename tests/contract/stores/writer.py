"""A process that stores one payout after another and reports each, until it is killed."""

import asyncio
import sys
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.world.store import open_store
from tests.world.stores.samples import attempt, payout


async def _write(url: str) -> None:
    store = open_store(url)
    for number in count():
        await store.payouts.add(payout(f"o-{number}"), attempt())
        sys.stdout.write(f"o-{number}\n")
        sys.stdout.flush()


asyncio.run(_write(sys.argv[1]))
