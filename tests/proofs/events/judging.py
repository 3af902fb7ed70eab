"""
The reckoning.

Each change is in the feed once, and nothing else is; the positions of a feed have no gap, and its
reader has seen it in their order; the endpoint has got each event with one body, signed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from gateway.deliveries.model import DeliveryState
from gateway.events.model import EventType
from tests.proofs.events.feeds import Reader
from tests.proofs.events.picture import Payment, Picture
from tests.proofs.events.world import World


def judge(
    world: World, found: Picture, readers: Sequence[Reader], before: Sequence[Payment]
) -> Iterator[str]:
    """Name every promise that was not kept; ``before`` are payments from before the campaign."""
    yield from _compare(found, before)
    yield from _misnamed(found)
    for reader in readers:
        yield from _read_in_order(found, reader)
    yield from _sent_once(found)
    yield from _accepted(world, found)
    yield from _as_in_the_feed(world, found, readers)
    yield from (f"unsigned: {each}" for each in world.receiver.unsigned)
    yield from _mistakes(world)


def _compare(found: Picture, before: Sequence[Payment]) -> Iterator[str]:
    """Compare the feeds with what happened."""
    optional = {(each.account_id, EventType.PIX_RECEIVED.value, each.e2e_id) for each in before}
    told, happened = found.told, found.happened(before)
    for each, times in (happened - told).items():
        yield f"not told, {times} times: {each}"
    for each in told - happened:
        if each not in optional or told[each] > 1:
            yield f"told {told[each]} times, happened {happened[each]} times: {each}"


def _misnamed(found: Picture) -> Iterator[str]:
    names = {each.e2e_id: each.reference for each in found.payments}
    for row in found.events:
        if row.type == EventType.PIX_RECEIVED and row.reference != names.get(row.e2e_id):
            yield f"{row.e2e_id} pays {names.get(row.e2e_id)!r} and is told of {row.reference!r}"


def _read_in_order(found: Picture, reader: Reader) -> Iterator[str]:
    """Compare the positions of a feed, and what its reader has seen."""
    account_id = reader.account.id
    own = [row for row in found.events if row.account_id == account_id]
    own.sort(key=lambda row: row.position or 0)
    if [row.position for row in own] != [*range(1, len(own) + 1)]:
        yield f"{account_id}: not every position up to {len(own)} is given once"
    seen = [each["id"] for each in reader.seen]
    if seen != [row.id for row in own]:
        missed = {row.id for row in own} - {*seen}
        yield f"{account_id}: read {len(seen)} of {len(own)} events, missed {missed}"


def _sent_once(found: Picture) -> Iterator[str]:
    once = Counter(row.event_id for row in found.sent if not row.is_ping)
    for row in found.events:
        if once.pop(row.id, 0) != 1:
            yield f"not one delivery of {row.id}"
    yield from (f"a delivery of no event: {each}" for each in once)


def _accepted(world: World, found: Picture) -> Iterator[str]:
    """Compare the deliveries with the answers of the endpoint."""
    for row in found.sent:
        if row.state != DeliveryState.DELIVERED:
            yield f"not delivered in the end: {row.event_id} is {row.state} after {row.tries}"
        elif row.event_id not in world.receiver.accepted:
            yield f"noted as delivered, and never accepted: {row.event_id}"


def _as_in_the_feed(world: World, found: Picture, readers: Sequence[Reader]) -> Iterator[str]:
    """Compare what the endpoint has got with what its owner has read."""
    documents = {each["id"]: each for reader in readers for each in reader.seen}
    pings = {row.event_id for row in found.sent if row.is_ping}
    for event_id in world.receiver.taken.keys() - pings:
        bodies = world.receiver.taken[event_id]
        if event_id not in documents:
            yield f"invented: {event_id} {bodies}"
        elif len(bodies) != 1:
            yield f"{event_id} came with {len(bodies)} bodies"
        elif {"id": event_id, **msgspec.json.decode(min(bodies))} != documents[event_id]:
            yield f"{event_id} came as {bodies}, the feed has {documents[event_id]}"


def _mistakes(world: World) -> Iterator[str]:
    """Find every mistake of ours in the logs."""
    for command in world.processes:
        for line in command.log.read_text(errors="replace").splitlines():
            if "Traceback" in line or '"unhandled"' in line:
                yield f"logged: {line[:1500]}"
