"""Two cells behind the HAProxy of ``deploy``: one dies, and a company moves while others pay."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.app.failpoints import OF_A_MOVE
from tests.proofs.operating.cells import NORTH, SOUTH, Cells, cells_in
from tests.proofs.torture.sites import Account
from tests.world.waiting import until

pytestmark = pytest.mark.timeout(900)


@dataclass(slots=True)
class Partner:
    """
    A partner who pays until told to stop, and repeats a payout until it is answered 200.

    Attributes:
        answers: How many there were of each status and code.
        paid: References that were answered 200.
    """

    cells: Cells
    account: Account
    name: str
    answers: Counter[tuple[int, object]] = field(default_factory=Counter)
    paid: list[str] = field(default_factory=list)
    ends: bool = False

    async def work(self) -> None:
        """Pay one after the other."""
        number = 0
        while not self.ends:
            number += 1
            await self.pay(f"{self.name}-{number}")
            await asyncio.sleep(0.1)

    async def pay(self, reference: str) -> None:
        """Pay once."""
        while (said := await self.cells.pay(self.account, reference)).status != 200:
            self.answers[said.status, said.document["code"]] += 1
            await asyncio.sleep(0.1)
        self.answers[200, ""] += 1
        self.paid.append(reference)

    async def is_paid_once_each(self) -> bool:
        """Say whether the bank has made each payout exactly once."""
        found = [await self.cells.executions(self.account, each) for each in self.paid]
        return found == [1] * len(self.paid)


def spellings(account: str) -> list[str]:
    """An account's id as others than its partners might spell it, to get past a map."""
    hexed = f"%{ord(account[0]):02x}{account[1:]}"
    return [
        *(account, account.upper(), hexed, hexed.upper(), f"{account}%20", f"%2e/{account}"),
        *(f"./{account}", f"x/../{account}", f"/{account}", f"{account};a", f"{account}%00"),
        *(f"{account}%2f..%2f{account}", account.replace("-", ""), f"{{{account}}}"),
    ]


async def test_each_request_goes_to_the_cell_of_its_credential(tmp_path: Path):
    """An account of another cell is answered like an unknown one, in any spelling."""
    async with cells_in(tmp_path) as cells:
        north, south = (cells.gateways[each].account for each in (NORTH, SOUTH))
        for account in (north, south):
            assert (await cells.pay(account, "first")).status == 200
            assert await cells.executions(account, "first") == 1
            assert (await cells.balance(account)).status == 200
        foreign = [
            await cells.ask("GET", f"/baas/v1/account/{each}/balance", south)
            for each in (*spellings(north.id), "11111111-2222-4333-8444-555555555555")
        ]
        unknown = {(each.status, each.document["code"]) for each in (*foreign[:2], foreign[-1])}
        assert unknown == {(404, "SVC.ACC.001")}
        assert {each.status for each in foreign} <= {400, 404}
        assert {await cells.server_of(each) for each in foreign} == {"reads-south"}

        with_account = f"/baas/v1/account/{south.id}/balance"
        nobody = await cells.ask("GET", with_account, None)
        assert (nobody.status, await cells.server_of(nobody)) == (401, "reads-south")
        for host, server in (("south.example", "reads-south"), ("nowhere.example", "reads-north")):
            info = await cells.ask("GET", "/iam/v1/info", None, host=host)
            assert (info.status, await cells.server_of(info)) == (200, server)
        for name, gateway in cells.gateways.items():
            config = ("callbacks", "--json", "--config", str(gateway.config))
            _, said = await cells.command(*config)
            path = "/callbacks/" + said.partition("/callbacks/")[2].partition('"')[0]
            told = await cells.ask("POST", path, None, b"{}")
            assert (told.status < 500, await cells.server_of(told)) == (True, f"gateways-{name}")

        await is_dead_alone(cells, north, south)


async def is_dead_alone(cells: Cells, dead: Account, other: Account) -> None:
    """Kill a cell: its partners get our 503, nothing is sent, the other's partners see nothing."""
    cells.gateways[NORTH].command.kill(signal.SIGKILL)
    partner = Partner(cells, other, "beside")
    working = asyncio.create_task(partner.work())
    said: Counter[int] = Counter()

    async def is_out() -> bool:
        said[(await cells.pay(dead, "dead")).status] += 1
        answer = await cells.balance(dead)
        return answer.status == 503 and answer.document["code"] == "SVC.GTW.006"

    await until(is_out)
    await until(lambda: len(partner.paid) > 20)
    partner.ends = True
    await working

    assert {*partner.answers} == {(200, "")}
    assert await partner.is_paid_once_each()
    assert set(said) == {503}
    assert await cells.executions(dead, "dead") == 0


async def test_a_company_moves_without_loss_whatever_is_killed(tmp_path: Path, whole: bool):
    """Killed after each step and repeated: each payout is made once, and none is lost."""
    async with cells_in(tmp_path) as cells:
        moved, there = (cells.gateways[each].account for each in (NORTH, SOUTH))
        stays = await cells.another_company(NORTH)
        assert (await cells.cells("map"))[0] == 0
        few = 100 if whole else 10
        partners = [
            Partner(cells, account, name)
            for name, account in {"moved": moved, "stays": stays, "there": there}.items()
        ]
        working = [asyncio.create_task(each.work()) for each in partners]
        await until(lambda: min(len(each.paid) for each in partners) >= few)
        owner = "SELECT company_id FROM accounts WHERE id = $1"
        company = (await cells.rows(NORTH, owner, moved.id))[0]["company_id"]
        points = OF_A_MOVE if whole else ("after_copy", "after_leaving")
        await is_moved_by_and_by(cells, moved, company, points)
        count = len(partners[0].paid)
        await until(lambda: min(len(each.paid) for each in partners) >= count + few)
        for each in partners:
            each.ends = True
        await asyncio.gather(*working)

        assert [await each.is_paid_once_each() for each in partners] == [True] * 3
        assert {*partners[1].answers} == {*partners[2].answers} == {(200, "")}
        assert {*partners[0].answers} <= {(200, ""), (403, "SVC.PIX.010"), (503, "SVC.GTW.006")}
        for reference in partners[0].paid[:few]:
            assert (await cells.pay(moved, reference)).status == 200
            assert await cells.executions(moved, reference) == 1
        await is_whole(cells, moved, company, partners[0].paid)


async def is_moved_by_and_by(
    cells: Cells, moved: Account, company: str, points: Sequence[str]
) -> None:
    """Move a company by a command that is killed at these points."""
    way = ("move", company, "--from", NORTH, "--to", SOUTH)
    status, plan = await cells.cells(*way, "--plan")
    assert (status, "payouts: " in plan) == (0, True), plan
    for point in points:
        status, said = await cells.cells(*way, failpoint=point)
        assert status == -signal.SIGKILL, (point, said)
        balance = await cells.balance(moved)
        # between leaving and the map nobody serves it, and nothing is sent
        assert balance.status == (503 if point == "after_leaving" else 200), (point, balance)
    status, said = await cells.cells(*way)
    assert (status, "the company is in south" in said) == (0, True), said


async def is_whole(cells: Cells, moved: Account, company: str, paid: list[str]) -> None:
    """Each payout is in one cell, with its events; both logs are whole and tell of the move."""
    of_account = "SELECT reference FROM payouts WHERE account_id = $1"
    assert await cells.rows(NORTH, of_account, moved.id) == []
    found = {row["reference"] for row in await cells.rows(SOUTH, of_account, moved.id)}
    assert found == set(paid)
    events = "SELECT kind FROM payout_events WHERE account_id = $1 ORDER BY number LIMIT 1"
    assert [row["kind"] for row in await cells.rows(SOUTH, events, moved.id)] == ["stored"]
    told = (
        "SELECT action FROM audit WHERE subject = $1"
        " AND action NOT LIKE 'outflow.%' ORDER BY number"  # the guard watches meanwhile
    )
    acts = {
        name: [row["action"] for row in await cells.rows(name, told, f"company:{company}")]
        for name in (NORTH, SOUTH)
    }
    assert acts[NORTH][-2:] == ["payouts.stopped", "company.left"]
    assert acts[SOUTH][-1] == "company.moved"
    for gateway in cells.gateways.values():
        verified = await cells.command("audit", "verify", "--config", str(gateway.config))
        assert verified[0] == 0, verified
