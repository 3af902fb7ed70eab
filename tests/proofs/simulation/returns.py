"""How a node learns what came back of payouts: from a callback, or from the statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.banks.port.providers import ProviderError
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Window
from gateway.payouts.model import FINAL_STATES
from gateway.payouts.verification import Kind, Verification
from tests.world.people import account

if TYPE_CHECKING:
    from tests.proofs.simulation.world import Node, World


def tell(world: World, key: str) -> None:
    """Tell one node that something came back, as the bank does; the message may be lost."""
    world.note(f"bank RETURNS {key[:6]}")
    node = world.nodes[int(world.chance.random() * 2)]
    if not world.bank.may(world.scenario.loss, "callback lost"):
        world.loop.call_later(world.bank.delay(60.0), _hear, node, key, context=world.outside)


def _hear(node: Node, key: str) -> None:
    """Receive a callback; nothing receives it without a running process."""
    if node.process is None or node._stopping:
        return
    hearing = node.world.loop.create_task(look_back(node, key), context=node.context.copy())
    node._serving.append(hearing)


async def look_back(node: Node, key: str) -> None:
    """Look as the product does for a callback about a return; once, whatever comes of it."""
    try:
        payout = await node.due.find_by_key(key)
        if payout is None:
            return
        if payout.state not in FINAL_STATES:
            payout = await node.reconciler.look_at(payout)
        await node.follow_up.look_back(payout, account(), 30.0)
    except (ProviderError, StoreUnavailable):
        node.world.counts["callback in vain"] += 1


async def verify(node: Node) -> None:
    """Compare the bank with the store as ``payouts verify`` does, and keep what came back."""
    verification = Verification(
        payouts=node.payouts.store,
        follow_ups=node.due,
        banks=node.follow_up.banks,
        now=node.world.now,
    )
    days = Window(node.world.start.date(), node.world.now().date())
    report = await verification.verify([account()], days)
    if any(each.kind is Kind.RETURNED for each in report.differences):
        node.world.fail("I14 more came back than was paid")
