"""A day that the operator signed, read by the partner over the socket."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from msgspec import structs
from sqlalchemy import delete, insert

from gateway.closings.model import Closing
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import day_closings
from tests.world.gateway.world import NOBODY, World

pytestmark = pytest.mark.asyncio(loop_scope="module")

DAY = date(2026, 11, 20)
AT = datetime(2026, 11, 21, 12, 0, 30, 500, tzinfo=UTC)


def closing(world: World, day: str = "2026-11-20", account: str = "main") -> str:
    return f"/events/v1/account/{world.demo['accounts'][account]['id']}/closings/{day}"


async def sign(world: World, account: str = "main", **changed: object) -> None:
    """Store a day as two people leave it, each in their turn."""
    account_id = world.demo["accounts"][account]["id"]
    signed = Closing(
        account_id=account_id,
        day=DAY,
        opening=10_000,
        credits=5_050,
        debits=3_000,
        fees=99,
        returns=-50,
        closing=11_901,
        paid=3_000,
        differences=1,
        digest="0" * 64,
        movements="0" * 64,
        signed_by="user:maria",
        signed_at=AT,
    )
    made = structs.replace(signed, **changed)
    async with world.gateway.kernel.store.database.writing() as connection:
        await connection.execute(delete(day_closings))
        await connection.execute(insert(day_closings), row_of(made))


async def test_a_signed_day_is_read_with_its_figures(world: World):
    """Not with the people, nor with what they compared it with."""
    await sign(world)

    answer = await world.ask("GET", closing(world))

    assert answer.status == 200
    assert answer.document == {
        "account_id": world.demo["accounts"]["main"]["id"],
        "day": "2026-11-20",
        "opening": 100.00,
        "credits": 50.50,
        "debits": 30.00,
        "fees": 0.99,
        "returns": -0.50,
        "closing": 119.01,
        "status": "signed",
        "signed_at": "2026-11-21T12:00:30Z",
        "locked_at": "",
    }
    assert b'"opening":100.00,' in answer.body


async def test_a_day_that_a_second_person_signed_is_locked(world: World):
    await sign(world, locked_by="user:joao", locked_at=AT)

    answer = await world.ask("GET", closing(world))

    assert (answer.document["status"], answer.document["locked_at"]) == (
        "locked",
        "2026-11-21T12:00:30Z",
    )
    assert b"joao" not in answer.body


async def test_sums_above_the_largest_amount_are_shown(world: World):
    huge = 10**15 * 9
    await sign(world, opening=-huge, credits=2 * huge, closing=huge)

    body = (await world.ask("GET", closing(world))).body

    assert b'"opening":-90000000000000.00,"credits":180000000000000.00' in body


@pytest.mark.parametrize(
    ("by", "account", "said"),
    [
        ("full", "main", (200, "")),
        ("transaction:read", "main", (200, "")),
        (NOBODY, "main", (401, "SVC.AUT.001")),
        ("none", "main", (403, "SVC.AUT.010")),
        ("event:read", "main", (403, "SVC.AUT.010")),
        ("balance:manage", "main", (403, "SVC.AUT.010")),
        ("transaction:read", "sister", (403, "SVC.AUT.010")),
        ("company", "sister", (404, "SVC.GTW.012")),
        ("full", "other_company", (404, "SVC.ACC.001")),
        ("company", "inactive", (400, "SVC.ACC.002")),
    ],
)
async def test_a_closing_is_for_credentials_that_may_read_movements_of_its_account(
    world: World, by: str, account: str, said: tuple[int, str]
):
    await sign(world)

    assert (await world.ask("GET", closing(world, account=account), by=by)).verdict == said


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("2026-11-19", (404, "SVC.GTW.012")),
        ("2999-01-01", (404, "SVC.GTW.012")),
        ("2026-02-30", (400, "SVC.VAL.007")),
        ("20261120", (400, "SVC.VAL.007")),
        ("2026-11-20T00:00:00Z", (400, "SVC.VAL.007")),
        ("today%00", (400, "SVC.VAL.007")),
    ],
)
async def test_another_day_is_none_and_a_bad_one_is_refused(
    world: World, day: str, said: tuple[int, str]
):
    """Nothing of it is repeated."""
    await sign(world)

    answer = await world.ask("GET", closing(world, day))

    assert answer.verdict == said
    assert day not in answer.body.decode()
