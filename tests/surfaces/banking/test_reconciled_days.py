"""A day as the worker compares it, beside the book of the bank itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from gateway.closings.days import DayState
from gateway.closings.model import Rule
from gateway.config.settings import Settings
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.money import Money, Sum
from gateway.core.windows import local_end, local_start
from gateway.statements.model import local_day
from tests.world.gateway.world import World, opened, order
from tests.world.waiting import until

_INSTANT = timedelta(microseconds=1)
_RETURNED = 777.09
_RETURNS = ("pix_returned", "pix_refund")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


async def test_every_figure_of_every_account_equals_the_bank_s_book(
    settings_on_either_store: Settings,
):
    """With a TED that the bank alone knows, a refund, a return, fees, and the edges of the day."""
    async with opened(settings_on_either_store) as world:
        main = world.demo["accounts"]["main"]["id"]
        day = local_day(world.gateway.kernel.now())
        await _busy_day(world, main, day)
        noon_after = local_end(day) + timedelta(hours=12)
        services = world.gateway.services

        await replace(services.reconciliation, now=lambda: noon_after).turn()

        who = Staff(AuditContext("test", lambda: noon_after))
        found = {}
        for account in await world.gateway.kernel.store.accounts.list():
            reading = await services.day_readings.of(account.id, day)
            if account.active and reading is not None and reading.read_at is not None:
                shown = {name: getattr(reading, name) for name in _FIGURES}
                found[account.id] = shown
                assert shown == _in_book(world, account.provider_account, day), account.name
        assert main in found
        kept = await services.day_readings.of(main, day)
        assert kept
        assert [(each.rule, each.bank) for each in kept.lines] == [(Rule.BANK_ONLY, Sum(800_00))]
        seen = await services.closing_days.of(who, day)
        states = {each.account_id: each.state for each in seen.exceptions}
        assert states[main] is DayState.DIFFERS
        month = await services.closing_days.month(who, day.replace(day=1))
        assert month.total.credits == sum(each["credits"] for each in found.values())
        assert month.total.debits == sum(each["debits"] for each in found.values())


_FIGURES = ("opening", "credits", "debits", "fees", "returns", "closing")


async def _busy_day(world: World, main: str, day: date) -> None:
    """Let everything happen to an account, also in the first and the last instant of the day."""
    begins, ends = local_start(day), local_end(day)
    for reference, value in (("paid", 10.5), ("comes-back", _RETURNED)):
        await world.pay(order(reference, world.today(), value=value))
        await world.settled(reference)
    came_in = await world.control.post("accounts", main, "incoming", body={"value": Money(50_00)})
    refund = {"e2e_id": came_in["e2e_id"], "value": Money(12_34), "key": "refund-1"}
    await world.control.post("accounts", main, "refunds", body=refund)
    for kind, value, at in (
        ("fee", 1_00, begins - _INSTANT),
        ("ted_in", 2_00, begins),
        ("ted_out", 800_00, begins + timedelta(hours=1)),
        ("fee", 99, ends - _INSTANT),
        ("ted_in", 3_00, ends),
    ):
        said = {"kind": kind, "value": Money(value), "at": f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"}
        await world.control.post("accounts", main, "movements", body=said)
    name = (await world.gateway.kernel.store.accounts.find(main)).provider_account  # type: ignore[union-attr]

    async def both_went_back() -> bool:
        booked = {(kind, centavos) for kind, centavos, _ in _lines(world, name)}
        return {("pix_returned", 777_09), ("pix_refund", -12_34)} <= booked

    await until(both_went_back)


def _in_book(world: World, account: str, day: date) -> Mapping[str, int]:
    """Compute the figures of a day from the lines of the bank's book."""
    begins, ends = ((each(day) - _EPOCH) // _INSTANT for each in (local_start, local_end))
    lines = _lines(world, account)
    of_day = [(kind, centavos) for kind, centavos, at in lines if begins <= at < ends]
    others = [each for kind, each in of_day if kind != "fee" and kind not in _RETURNS]
    return {
        "opening": sum(centavos for _, centavos, at in lines if at < begins),
        "credits": sum(each for each in others if each > 0),
        "debits": -sum(each for each in others if each < 0),
        "fees": -sum(each for kind, each in of_day if kind == "fee"),
        "returns": sum(each for kind, each in of_day if kind in _RETURNS),
        "closing": sum(centavos for _, centavos, at in lines if at < ends),
    }


def _lines(world: World, account: str) -> list[tuple[str, int, int]]:
    with closing(sqlite3.connect(world.gateway.kernel.settings.bank_file)) as book:
        wanted = "SELECT kind, centavos, at FROM statement WHERE account_id = ?"
        return book.execute(wanted, (account,)).fetchall()
