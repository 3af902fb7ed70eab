"""What befalls a life, from its first step until everything has come to rest."""

from __future__ import annotations

import asyncio
from functools import partial

from tests.proofs.simulation.partners import partners
from tests.proofs.simulation.returns import verify
from tests.proofs.simulation.world import Node, World, call_of

_REST_S = 80 * 3600.0
"""Longer than the longest schedule, a window and a night."""
_DEEP_S = 14 * 3600.0


async def live(world: World) -> None:
    """Live: troubled first, then calm until every payout has ended; then compare the books."""
    for node in world.nodes:
        start(world, node)
    asked = [world.loop.create_task(partner.pay()) for partner in partners(world)]
    troubles = [world.loop.create_task(_restore(world))] if world.scenario.restore else []
    await asyncio.gather(*asked)
    await asyncio.gather(*troubles)
    await _calm(world)
    await _rest(world)
    await _read_back(world)
    # a look may have learnt what a payout in review was waiting for
    await _rest(world)
    world.oracle.end()
    await _compare_returns(world)


def start(world: World, node: Node) -> None:
    """Start a node's process, and plan how it ends."""
    node.start()
    assert node.process is not None
    world.processes.append(node.process)
    if world.bank.calm:
        return
    chance, scenario = world.chance, world.scenario
    while world.counts["planned crashes"] < scenario.crashes and chance.random() < 0.6:
        world.counts["planned crashes"] += 1
        node.process.plan[_moment(world)] = partial(_crash, world, node)
    while world.counts["planned stops"] < scenario.stops and chance.random() < 0.6:
        world.counts["planned stops"] += 1
        node.process.plan[_moment(world)] = partial(_stop, world, node)
    while world.counts["planned pauses"] < scenario.pauses and chance.random() < 0.6:
        world.counts["planned pauses"] += 1
        pause_s = chance.choice((1.0, 30.0, 90.0, 1500.0)) * chance.random()
        node.process.plan[_moment(world)] = partial(node.pause, pause_s)


def _moment(world: World) -> tuple[str, int]:
    """Draw the step something happens before: most are amid a caller's request."""
    if world.chance.random() < 0.75:
        return "call", 1 + int(world.chance.random() * 70)
    return "any", 1 + int(world.chance.random() * 300)


def _crash(world: World, node: Node) -> None:
    node.crash()
    if not world.stopped:
        after = world.chance.choice((0.5, 10.0, 200.0)) * (0.5 + world.chance.random())
        world.loop.call_later(after, _start_again, world, node, context=world.outside)


def _stop(world: World, node: Node) -> None:
    node.stop()
    world.loop.call_later(70.0, _start_again, world, node, context=world.outside)


def _start_again(world: World, node: Node) -> None:
    if not node.up and not world.stopped and not world.over:
        start(world, node)


async def _restore(world: World) -> None:
    """Back up, work on, lose everything, wait until nothing moves, restore, look first."""
    chance = world.chance
    await asyncio.sleep(chance.random() * chance.choice((0.0, 0.0, 1.0, 10.0, 100.0)))
    backup = world.life_world.disk.copied()
    world.note("BACKUP")
    await asyncio.sleep(chance.random() * chance.choice((2.0, 60.0, 600.0)))
    world.stopped = True
    for node in world.nodes:
        node.crash()
    await asyncio.sleep(_DEEP_S if world.deep else 900.0)
    world.life_world.disk.restore(backup)
    backup.close()
    world.note("RESTORED")
    world.counts["restores"] += 1
    world.oracle.restored()
    world.look_first, world.stopped = True, False
    for node in world.nodes:
        start(world, node)


async def _calm(world: World) -> None:
    """Nothing fails any more; dead processes are started, paused ones continue."""
    world.note("CALM")
    world.bank.calm = True
    for process in world.processes:
        process.plan.clear()
    for node in world.nodes:
        node.resume()
        if not node.up:
            start(world, node)


async def _rest(world: World) -> None:
    """Wait until every payout has ended or waits for a person, and nothing is on its way."""
    until = world.loop.time() + _REST_S
    while True:
        # a rule may be broken by what arrives last
        await asyncio.sleep(_DEEP_S if world.deep else 600.0)
        if world.oracle.at_rest():
            return
        if world.loop.time() > until:
            world.fail("I11 never comes to rest")


async def _read_back(world: World) -> None:
    for number in range(world.scenario.references):
        call = call_of("GET", f"order-{number}", 0)
        answer = await world.nodes[number % 2].ask(call, None)
        expected = 200 if call.key in world.oracle.rows else 404
        if answer.status != expected:
            world.fail(f"I3 a stored payout is not readable: {answer}")


async def _compare_returns(world: World) -> None:
    """Verify once, which reports returns whose callbacks were lost; then compare."""
    node = world.nodes[0]
    await world.loop.create_task(verify(node), context=node.context.copy())
    returns = world.bank.returns()
    world.oracle.compare_returns({key: [each.id for each in returns[key]] for key in returns})
    world.oracle.compare_debits(world.bank.debits())
