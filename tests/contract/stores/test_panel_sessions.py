"""Panel sessions, which browser cookies identify, in the store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from gateway.app.store import Store
from gateway.core.browsers import PanelState
from tests.contract.stores.databases import both
from tests.world.stores.people import END, MARIA, panel, session, signed_in, token
from tests.world.stores.samples import NOW, event

LEASE = NOW + timedelta(seconds=15)


@both
async def test_a_panel_session_is_read_back_unchanged(store: Store):
    await store.identity.panels.add(panel())

    assert await store.identity.panels.find("h1") == panel()
    assert await store.identity.panels.of(MARIA) == [panel()]
    assert await store.identity.panels.find("h2") is None


async def test_a_new_id_replaces_the_old_one(store: Store):
    """The old cookie is invalid from then on."""
    await store.identity.panels.add(panel())

    assert await store.identity.panels.replace("h1", panel("h2"))

    assert await store.identity.panels.find("h1") is None
    assert await store.identity.panels.find("h2") == panel("h2")


async def test_an_absent_id_is_not_replaced(store: Store):
    assert not await store.identity.panels.replace("h1", panel("h2"))

    assert await store.identity.panels.find("h2") is None


@both
async def test_of_ten_concurrent_replacements_of_a_session_one_succeeds(
    store: Store, second: Store
):
    """The old row is updated in the same transaction: both or neither are written."""
    await store.identity.panels.add(panel())
    old = replace(panel(), access_ends_at=None, ends_at=LEASE)
    nodes = [store.identity.panels, second.identity.panels] * 5
    names = [f"n{number}" for number in range(10)]

    won = await asyncio.gather(
        *(
            node.supersede(old, replace(panel(name), delivered=False), NOW)
            for node, name in zip(nodes, names, strict=True)
        )
    )

    assert sum(won) == 1
    new = replace(panel(names[won.index(True)]), delivered=False)
    assert await store.identity.panels.find("h1") == replace(old, version=1)
    assert await store.identity.panels.find(new.id_hash) == new
    assert len(await store.identity.panels.of(MARIA)) == 2
    await second.identity.panels.note_delivery(new.id_hash)
    assert await store.identity.panels.find(new.id_hash) == replace(new, delivered=True)


async def test_a_session_that_is_being_refreshed_is_not_superseded(store: Store):
    await store.identity.panels.add(panel())
    await store.identity.panels.lease("h1", 0, NOW, LEASE)

    assert not await store.identity.panels.supersede(panel(), panel("h2"), NOW)
    assert await store.identity.panels.supersede(panel(), panel("h2"), LEASE)


@both
async def test_of_ten_concurrent_refresh_leases_one_succeeds(store: Store, second: Store):
    await store.identity.panels.add(panel())
    nodes = [store.identity.panels, second.identity.panels] * 5

    leased = await asyncio.gather(*(node.lease("h1", 0, NOW, LEASE) for node in nodes))

    assert sum(leased) == 1


async def test_an_expired_refresh_lease_can_be_taken(store: Store):
    await store.identity.panels.add(panel())
    await store.identity.panels.lease("h1", 0, NOW, LEASE)

    assert await store.identity.panels.lease("h1", 0, LEASE, LEASE)


@both
async def test_saving_raises_the_version_and_ends_the_lease(store: Store):
    await store.identity.panels.add(panel())
    await store.identity.panels.lease("h1", 0, NOW, LEASE)
    fresh = replace(panel(), sealed=b"fresh")

    saved = await store.identity.panels.save(fresh, 0)
    late = await store.identity.panels.save(fresh, 0)

    assert (saved, late) == (True, False)
    assert await store.identity.panels.find("h1") == replace(fresh, version=1)
    assert not await store.identity.panels.lease("h1", 0, NOW, LEASE)


@both
async def test_the_last_seen_time_only_moves_forward(store: Store):
    await store.identity.panels.add(panel())

    await store.identity.panels.touch("h1", NOW + timedelta(minutes=1))
    await store.identity.panels.touch("h1", NOW)

    found = await store.identity.panels.find("h1")
    assert found is not None
    assert found.seen_at == NOW + timedelta(minutes=1)


@both
async def test_a_session_is_removed_once(store: Store):
    await store.identity.panels.add(panel())

    assert [await store.identity.panels.remove("h1") for _ in range(2)] == [True, False]


@both
async def test_idle_and_expired_rows_are_deleted(store: Store):
    for name, seen, ends in (
        ("idle", NOW, END),
        ("over", NOW + timedelta(hours=1), NOW + timedelta(hours=1)),
        ("live", NOW + timedelta(hours=1), END),
    ):
        await store.identity.panels.add(replace(panel(name), seen_at=seen, ends_at=ends))

    forgotten = await store.identity.panels.forget(
        NOW + timedelta(minutes=45), NOW + timedelta(hours=1)
    )

    assert forgotten == 2
    assert [each.id_hash for each in await store.identity.panels.of(MARIA)] == ["live"]


@both
async def test_active_panel_sessions_are_counted_by_state(store: Store):
    """Except idle, ended and expired ones; the old row of a renewed cookie does not count."""
    later = NOW + timedelta(hours=1)
    seen = replace(panel(), seen_at=later)
    await signed_in(store)
    await store.identity.sessions.begin(session("s2"), token(session_id="s2"), event())
    pending = replace(panel("p"), state=PanelState.MFA_PENDING, session_id="")
    for each in (
        seen,
        replace(seen, id_hash="renewed"),
        replace(seen, id_hash="over", ends_at=later),
        replace(panel("idle"), session_id="s2"),
        replace(seen, id_hash="stranger", session_id="nobody's"),
        pending,
        replace(pending, id_hash="p over", ends_at=later),
        replace(pending, id_hash="anonymous", state=PanelState.ANONYMOUS),
    ):
        await store.identity.panels.add(each)

    before = await store.identity.panels.live(NOW, later)
    await store.identity.sessions.end("s1", later, "logout", None)
    after = await store.identity.panels.live(NOW, later)

    assert before == {PanelState.FULL: 1, PanelState.MFA_PENDING: 1}
    assert after == {PanelState.FULL: 0, PanelState.MFA_PENDING: 1}
