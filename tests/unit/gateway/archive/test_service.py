"""A reference whose payout is archived is paid once, like any other."""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode
from gateway.core.money import Money
from gateway.payouts.model import Failure, PayoutState
from gateway.store.tables import columns
from gateway.store.tables.core import payouts
from tests.world.archive import write
from tests.world.payouts import BAD, FORBIDDEN, OK, PayoutWorld, asking
from tests.world.people import caller
from tests.world.standing import TODAY, Clock
from tests.world.store import open_store

SENT = {"name": "", "tax_number": "529.982.247-25", "key_type": "email", "key": "maria@example.com"}
LATER = timedelta(days=300)
ENDS = [
    (PayoutState.PAID, {}, OK),
    (PayoutState.REJECTED, {"failure": Failure(FailureCode.INSUFFICIENT_FUNDS)}, BAD),
    (PayoutState.FAILED, {"failure": Failure(FailureCode.NOT_SENT, forbidden=True)}, FORBIDDEN),
]


@dataclass
class Node:
    """A node that pays, and the command that archives its payouts."""

    world: PayoutWorld
    store: Store
    clock: Clock
    folder: Path

    async def archive(self) -> None:
        """Archive the payout that stands, ten months later."""
        database = self.store.database
        await database.write(update(payouts).values(destination_sent=columns.written(SENT)))
        self.clock.at += LATER
        assert [stay for _, stay in await write(database, self.folder, self.clock.now)] == [0]
        assert (await database.rows(select(func.count()).select_from(payouts)))[0][0] == 0
        assert (await self.world.row()).archived


@pytest.fixture
async def node(payout_world: PayoutWorld, clock: Clock, tmp_path: Path):
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    yield Node(payout_world, store, clock, tmp_path / "archive")
    await store.close()


@pytest.mark.parametrize("day", [TODAY, TODAY + LATER], ids=["its day", "today"])
@pytest.mark.parametrize(("state", "step", "answer"), ENDS, ids=str)
async def test_a_repetition_gets_the_stored_answer_and_pays_nothing(
    node: Node, state: PayoutState, step: dict[str, object], answer: str, day: date
):
    await node.world.stands(state, **step)
    assert await node.world.post() == answer
    await node.archive()

    assert await node.world.post(asking(day=day)) == answer

    assert (node.world.bank.orders, node.world.bank.lookups) == ([], [])


async def test_the_reference_with_another_content_is_refused(node: Node):
    await node.world.stands(PayoutState.PAID)
    await node.archive()

    assert await node.world.post(asking(value=Money(1), day=TODAY + LATER)) == BAD

    assert node.world.bank.orders == []


async def test_a_read_by_reference_does_not_query_the_bank(node: Node):
    await node.world.stands(PayoutState.PAID, e2e_id="E1", settled_at=node.clock.at)
    before = await node.world.row()
    await node.archive()

    found = await node.world.payouts.read(caller(), "order-1")

    same = ("state", "value", "e2e_id", "date", "settled_at", "description", "method")
    assert [getattr(found, each) for each in same] == [getattr(before, each) for each in same]
    assert found.destination_sent["tax_number"] == "***.982.247-**"
    assert node.world.bank.lookups == []
