"""A second person who lets held payouts go, or refuses them, before their time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.storage import StoreUnavailable
from gateway.payouts.holds import HoldDecisions, RefusalBody
from tests.world.people import account, somebody

if TYPE_CHECKING:
    from tests.proofs.simulation.world import Node, World

_LATEST_S = 2000.0
"""A little longer than a hold: some decisions come too late."""


def plan_decision(world: World, key: str) -> None:
    """Have a person decide on a payout that was just held, at one node, or at both at once."""
    chance = world.chance
    if world.over or chance.random() >= world.scenario.decides:
        return
    after, verb = round(chance.random() * _LATEST_S), chance.choice(("release", "refuse"))
    for node in world.nodes[: chance.choice((1, 2))]:
        world.loop.call_later(after, _decide, node, key, verb, context=world.outside)


def _decide(node: Node, key: str, verb: str) -> None:
    """Start the decision, if the node runs."""
    if node.process is None or node._stopping:
        return
    deciding = node.world.loop.create_task(decide(node, key, verb), context=node.context.copy())
    node._serving.append(deciding)


async def _of_no_file(_account_id: str, _reference: str) -> frozenset[str]:
    return frozenset()


async def decide(node: Node, key: str, verb: str) -> None:
    """Decide as the panel does, once; a refusal is counted."""
    world, person = node.world, somebody(Role.APPROVER, factor_at=node.world.now())
    who = Staff(AuditContext(person.actor, world.now), person=person)
    decisions = HoldDecisions(
        payouts=node.payouts,
        payers=node.payers,  # type: ignore[arg-type]
        people_of_file=_of_no_file,
    )
    try:
        payout = await node.due.find_by_key(key)
        if payout is None:
            return
        world.note(f"person wants to {verb} {key[:6]}")
        if verb == "release":
            await decisions.release(who, account(), payout.reference)
        else:
            why = RefusalBody(reason="unknown payee")
            await decisions.refuse(who, account(), payout.reference, why)
    except (ServiceError, StoreUnavailable):
        world.counts["decision in vain"] += 1
    else:
        world.counts[f"holds {verb}d"] += 1
