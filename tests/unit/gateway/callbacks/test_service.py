"""The row of callbacks received."""

from __future__ import annotations

from dataclasses import replace

from gateway.callbacks.model import (
    Callback,
    CallbackSearch,
)
from gateway.callbacks.service import Callbacks
from gateway.callbacks.store import CallbackRecords
from gateway.domain.bank.provider_callbacks import CallbackKind
from gateway.domain.kernel.windows import Paging
from tests.unit.gateway.http.backoffice.registers import AdminWorld
from tests.world.standing import NOON

FIRST = CallbackSearch(paging=Paging(1, 25))


async def test_who_is_limited_is_shown_what_banks_say_of_their_accounts(admin_world: AdminWorld):
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
    shown = [list((await Callbacks(records).search(who.staff, FIRST)).items) for who in everybody]

    assert shown == [[told, ours], [ours], []]
    assert told.to_document(None).body == "\N{REPLACEMENT CHARACTER}"
