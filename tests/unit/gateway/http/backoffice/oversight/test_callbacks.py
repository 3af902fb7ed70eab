"""The row of callbacks received."""

from __future__ import annotations

from dataclasses import replace

from gateway.domain.backoffice.callbacks import (
    Callback,
    CallbackSearch,
    CallbackState,
)
from gateway.domain.bank.provider_callbacks import CallbackKind
from gateway.domain.kernel.windows import Paging
from tests.unit.gateway.http.backoffice.registers import AdminWorld, taken
from tests.unit.gateway.http.backoffice.surface import line
from tests.world.standing import NOON


def test_the_row_is_the_one_decided():
    assert line("webhooks") == ("GET", "/webhooks", "webhook:read", 200)


def test_filters_are_read():
    wanted = taken("webhooks", query={"kind": ["payout"], "state": ["done"], "provider": ["p"]})

    assert wanted == CallbackSearch(
        paging=Paging(1, 25), provider="p", kind=CallbackKind.PAYOUT, state=CallbackState.DONE
    )


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
    for each in (told, ours):
        await admin_world.office.store.office.callbacks.add(each)

    shown = [
        list(
            (
                await admin_world.oversight.search_callbacks(
                    who.scope, CallbackSearch(paging=Paging(1, 25))
                )
            ).items
        )
        for who in (
            admin_world.staff(),
            admin_world.staff(admin_world.ours.id),
            admin_world.staff(admin_world.theirs.id),
        )
    ]

    assert shown == [[told, ours], [ours], []]
