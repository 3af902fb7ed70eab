"""The list of callbacks received."""

from __future__ import annotations

from dataclasses import replace

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import Callback, CallbackSearch
from gateway.callbacks.service import Callbacks
from gateway.callbacks.store import CallbackRecords
from gateway.core.windows import Paging
from tests.unit.gateway.http.registers import AdminWorld
from tests.world.exports import exports
from tests.world.standing import NOON
from tests.world.stores.samples import attempt, payout

FIRST = CallbackSearch(paging=Paging(1, 25))


async def test_a_limited_user_sees_callbacks_of_their_accounts(admin_world: AdminWorld):
    told = Callback(
        id="1",
        provider="p",
        event="e",
        kind=CallbackKind.OTHER,
        subject="",
        received_at=NOON,
        body=b"\xff",
    )
    ours = replace(told, id="2", event="e2", company_id=admin_world.ours.id)
    records = CallbackRecords(admin_world.office.store.database)
    for each in (told, ours):
        await records.add(each)

    everybody = (
        admin_world.staff(),
        admin_world.staff(admin_world.ours.id),
        admin_world.staff(admin_world.theirs.id),
    )
    callbacks = Callbacks(records, exports())
    shown = [list((await callbacks.search(who.staff, FIRST)).items) for who in everybody]

    assert shown == [[told, ours], [ours], []]
    assert told.to_document(None).body == "\N{REPLACEMENT CHARACTER}"


async def test_a_payout_is_found_in_scope(admin_world: AdminWorld):
    paid = payout(account_id=admin_world.account.id)
    await admin_world.office.store.payouts.add(paid, attempt())
    told = Callback(
        id="1",
        provider="p",
        event="e",
        kind=CallbackKind.PAYOUT,
        subject=paid.provider_key,
        received_at=NOON,
        body=b"{}",
    )
    callbacks = Callbacks(CallbackRecords(admin_world.office.store.database), exports())

    ours = await callbacks.payouts(admin_world.staff(admin_world.ours.id).staff, [told])
    theirs = await callbacks.payouts(admin_world.staff(admin_world.theirs.id).staff, [told])

    assert ({key: each.reference for key, each in ours.items()}, theirs) == (
        {paid.provider_key: "order-1"},
        {},
    )
