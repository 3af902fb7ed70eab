"""``clients/typescript`` at a running gateway: each call, and errors the bank's books prove."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from gateway.app.failpoints import NAMES
from gateway.config.settings import RateLimits
from gateway.core.limits import CallRate
from gateway.events.model import Cursor
from tests.proofs.clients import schemas
from tests.proofs.clients.lossy_proxy import LossyProxy
from tests.proofs.clients.typescript_package import (
    FOR_EVER_S,
    SOURCE,
    Package,
    Partner,
    built,
    order,
    partner_at,
    partner_of,
)
from tests.proofs.torture.gateway_client import GatewayClient, torture_world_in
from tests.servers.clients import programs
from tests.servers.process import free_port
from tests.servers.streams import listening
from tests.world.extent import SEED, WHOLE
from tests.world.gateway.world import FREE, World, opened, sandbox
from tests.world.tree import PROJECT
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAYOUTS = 2_000 if WHOLE else 200
DEADLINE_S = 20
"""Five attempts."""
FATES = {
    "": 50,
    "777.02": 5,
    "777.03": 5,
    "777.04": 5,
    "777.05": 5,
    "777.07": 5,
    "777.08": 10,
    "777.11": 10,
}
"""What the bank does with a payout: the amounts of the partner guide, and those that settle."""
POINTS = NAMES if WHOLE else ("after_body",)
_LATER_S = 120
"""Longer than the lease and the quiet period after it."""
EXAMPLE = re.compile(r"^```ts\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return await built(programs(), tmp_path_factory.mktemp("typescript"))


@pytest.fixture
def partner(package: Package, world: World) -> Partner:
    return partner_of(package, world)


async def test_the_types_are_those_of_the_documents():
    """Otherwise: ``make client-types``."""
    assert schemas.WRITTEN.read_text("utf-8") == await asyncio.to_thread(schemas.types, programs())


async def test_the_package_is_of_this_version_and_stands_on_nothing():
    described = json.loads((SOURCE / "package.json").read_text())

    assert described["version"] == PROJECT["project"]["version"]
    assert f"pixgate-client-{described['version']}.tgz" in (SOURCE / "README.md").read_text()
    assert [name for name in described if name.lower().endswith("dependencies")] == []


async def test_the_client_s_own_tests_pass(package: Package):
    files = sorted((package.folder / "test").glob("*.test.mjs"))
    said = await package.run("node", "--test", *files)

    assert "# fail 0" in said
    assert int(re.findall(r"^# pass (\d+)$", said, re.MULTILINE)[-1]) >= 25


async def test_a_bundle_for_browsers_pays(package: Package, world: World, tmp_path: Path):
    """The whole client without a module of Node's; amounts beyond a float of 32 bits."""
    bundle, inputs = tmp_path / "bundle.mjs", tmp_path / "inputs.json"
    await package.run(
        *(package.tools.esbuild, package.module, "--bundle", "--platform=browser", "--format=esm"),
        *("--minify", f"--outfile={bundle}", f"--metafile={inputs}", "--log-level=warning"),
    )
    bundled = partner_of(package.bundled(bundle), world)
    await topped_up(world)
    amounts = ("131072.01", "1234567.89")

    for value in amounts:
        await bundled.call("pay", order(f"bundle {value}", world.today(), value))
        found = await bundled.call("waitFor", f"bundle {value}", {"deadlineS": FOR_EVER_S})
        assert (found["answer"]["status"], found["answer"]["value"]) == ("paid", value)

    executed = [await world.executions(f"bundle {value}") for value in amounts]
    assert executed == [[13107201], [123456789]]
    assert {Path(each).parts[-2] for each in json.loads(inputs.read_text())["inputs"]} == {"dist"}


async def topped_up(world: World) -> None:
    """Put two million reais on the main account."""
    account = world.demo["accounts"]["main"]["id"]
    await world.control.post("accounts", account, "top-up", body={"value": 2_000_000})


def drawn(chance: Random, number: int, day: str) -> dict[str, Any]:
    """Draw an order: its amount, and now and then a tax number that is refused."""
    [fate] = chance.choices(list(FATES), list(FATES.values()))
    value = fate or str(Decimal(chance.randrange(100, 5_000)) / 100)
    made = order(f"drawn/{number}", day, value)
    made["destination"]["key"] = f"payee-{number}@example.com"
    if chance.random() < 0.05:
        made["destination"]["tax_number"] = "529.982.247-26"
    return made


def is_true(outcome: dict[str, Any], wanted: dict[str, Any], executed: list[int]) -> bool:
    """Say whether the bank's books agree with what the client said."""
    nothing, once = executed == [], executed == [int(Decimal(wanted["value"]) * 100)]
    if outcome["kind"] == "answer" and outcome["answer"]["status"] == "processing":
        # Of the magic amounts one fails when it settles, and two never reach the books.
        return once or (nothing and wanted["value"] in {"777.02", "777.05", "777.07"})
    if outcome["kind"] in {"answer", "NotSent", "Refused"}:
        return nothing
    return outcome["kind"] == "Unknown" and (nothing or once)


async def test_no_payout_is_paid_twice_and_every_error_is_true(
    package: Package, partner: Partner, world: World
):
    """
    Seeded payouts through a proxy that loses, answers and repeats; the bank refuses and fails too.

    Then every one that the bank would settle is paid again under its reference: once.
    """
    chance = Random(f"{SEED} typescript")
    orders = [drawn(chance, number, world.today()) for number in range(PAYOUTS)]
    proxy = LossyProxy(world.port, f"{SEED} typescript")
    await topped_up(world)

    async with listening(proxy.serve) as port:
        outcomes = await partner_of(package, world, port).calls(
            *(
                ("pay", [each, {"first": number % 2 == 0, "deadlineS": DEADLINE_S}])
                for number, each in enumerate(orders)
            )
        )
    await proxy.deliver_late()
    books = [await world.executions(each["reference"]) for each in orders]

    wrong = [
        (each["reference"], outcome, executed)
        for each, outcome, executed in zip(orders, outcomes, books, strict=True)
        if not is_true(outcome, each, executed)
    ]
    kinds = Counter(each["kind"] for each in outcomes)
    assert wrong == []
    assert set(kinds) == {"answer", "NotSent", "Unknown", "Refused"}, kinds
    assert len(proxy.fates) == 7, proxy.fates
    await each_is_paid_once(partner, world, [each for each in orders if will_settle(each)])


def will_settle(each: dict[str, Any]) -> bool:
    return each["value"] not in FATES and each["destination"]["tax_number"].endswith("25")


async def each_is_paid_once(partner: Partner, world: World, orders: list[dict[str, Any]]) -> None:
    for_ever = {"deadlineS": FOR_EVER_S}
    taken = await partner.calls(*(("pay", [each, for_ever]) for each in orders))
    assert {each["kind"] for each in taken} == {"answer"}
    ended = await partner.calls(*(("waitFor", [each["reference"], for_ever]) for each in orders))
    assert {each["answer"]["status"] for each in ended} == {"paid"}
    assert [each["answer"]["value"] for each in ended] == [
        f"{Decimal(each['value']):.2f}" for each in orders
    ]
    books = [await world.executions(each["reference"]) for each in orders]
    assert books == [[int(Decimal(each["value"]) * 100)] for each in orders]


async def test_a_payout_whose_gateway_is_killed_is_unknown_and_then_paid_once(
    package: Package, tmp_path: Path
):
    """At every point between reading the request and answering it; then the gateway is back."""
    async with torture_world_in(tmp_path) as torture_world:
        for point in POINTS:
            await killed_at(package, await torture_world.gateway_client(point), point)


async def killed_at(package: Package, site: GatewayClient, point: str) -> None:
    await site.start(failpoint=point)
    partner, day = partner_at(package, site), site.today().isoformat()
    error = await partner.call("pay", order("once", day), {"first": True, "deadlineS": 30})
    assert await site.command.ended() == -signal.SIGKILL

    site.offset_s += _LATER_S
    await site.start()
    for_ever = {"deadlineS": FOR_EVER_S}
    while not await site.executions("once"):
        await partner.call("pay", order("once", day), for_ever)
    ended = await partner.call("waitFor", "once", for_ever)

    assert (point, error["kind"]) == (point, "Unknown")
    assert (point, ended["answer"]["status"]) == (point, "paid")
    assert (point, await site.executions("once")) == (point, [1050])
    site.command.kill()


async def test_every_call_of_the_contract_is_read(partner: Partner, world: World):
    charges, day = world.demo["charges"], world.today()
    wanted = order("read/100%?#é", day, "1.01", description="Olá")
    await partner.call("pay", wanted)
    payout = await partner.call("waitFor", wanted["reference"], {"deadlineS": FOR_EVER_S})
    await topped_up(world)
    [keys] = await partner.calls(("pixKeys", []))
    window = {"init": day, "ends": day, "limit": 5}
    read = await partner.calls(
        *(("balance", []), ("pixKey", [keys["answer"]["data"][0]["id"]])),
        *(("charge", [charges["pending"]]), ("payment", [charges["pending"]])),
        *(("payment", [charges["paid"]]), ("statement", [window]), ("payouts", [window])),
    )
    refused = await partner.calls(
        *(("charge", [charges["expired"]]), ("payout", ["never ordered"])),
        *(("cancel", [wanted["reference"]]), ("closing", [day])),
    )

    balance, key, charge, pending, received, statement, payouts = (each["answer"] for each in read)
    assert payout["answer"]["value"] == "1.01"
    assert payout["answer"]["description"] == "Olá"
    assert Decimal(balance["balance"]) > Decimal(balance["blocked"])
    assert key == keys["answer"]["data"][0]
    assert charge["status"] == "Active"
    assert (pending["status"], received["status"]) == ("pending", "paid")
    assert statement["meta"]["limit"] == 5
    assert statement["meta"]["total"] >= len(statement["data"])
    assert max(len(each["document_number"]) for each in statement["data"]) == 16
    assert {type(each["value"]) for each in statement["data"]} == {str}
    assert payouts["meta"]["total"] >= 1
    assert [each["kind"] for each in refused] == ["NotFound", "NotFound", "Refused", "NotFound"]
    assert (refused[2]["status"], refused[2]["code"]) == (501, "SVC.PIX.018")


async def test_a_gateway_that_is_not_there_is_not_sent_only_the_first_time(
    package: Package, world: World
):
    """Nobody but the caller knows whether an earlier call has sent."""
    partner, wanted = partner_of(package, world, free_port()), order("nowhere", world.today())
    first = await partner.call("pay", wanted, {"first": True, "deadlineS": DEADLINE_S})
    again = await partner.call("pay", wanted, {"deadlineS": DEADLINE_S})

    assert (first["kind"], again["kind"]) == ("NotSent", "Unknown")


async def test_an_exhausted_quota_is_waited_for_then_raised(package: Package, tmp_path: Path):
    """One payout a second: with a deadline that is too short, ``RateLimited``."""
    limits = dict.fromkeys(RateLimits.__struct_fields__, FREE)
    slow = RateLimits(**{**limits, "payout": CallRate(rate=1, burst=1)})
    async with opened(sandbox(tmp_path, ratelimits=slow)) as other:
        partner, day = partner_of(package, other), other.today()
        once = {"first": True, "deadlineS": 0}
        outcomes = await partner.calls(
            *(("pay", [order(f"quick {number}", day), once]) for number in range(20))
        )
        paid = await partner.call("pay", order("patient", day), {"deadlineS": FOR_EVER_S})

        limited = [each for each in outcomes if each["kind"] == "RateLimited"]
        assert limited
        assert {each["retryAfterS"] >= 1 for each in limited} == {True}
        books = [await other.executions(each["reference"]) for each in limited]
        assert books == [[]] * len(limited)
        assert paid["answer"]["status"] == "processing"


async def test_the_feed_is_read_and_gone_on_with(partner: Partner, world: World):
    told = [f"told {number}" for number in range(3)]
    before = await partner.call("events", {"types": ["payout.paid"], "waitS": 0})
    for number, reference in enumerate(told):
        await partner.call("pay", order(reference, world.today(), f"2.0{number + 1}"))
        await partner.call("waitFor", reference, {"deadlineS": FOR_EVER_S})

    cursor = before["answer"][-1]["cursor"] if before["answer"] else ""
    feed = {"types": ["payout.paid"], "waitS": 0}
    events = await until(lambda: some(partner, {**feed, "after": cursor}, 3))
    none = await partner.call("events", {**feed, "after": events[-1]["cursor"]})

    assert [each["data"]["reference"] for each in events] == told
    assert none["answer"] == []


async def some(partner: Partner, feed: dict[str, Any], count: int) -> list[dict[str, Any]] | None:
    """Read the feed; nothing while it has fewer events."""
    events: list[dict[str, Any]] = (await partner.call("events", feed))["answer"]
    return events if len(events) >= count else None


async def test_a_bad_cursor_raises_its_own_error_type(partner: Partner, world: World):
    account, now = world.demo["accounts"]["main"]["id"], world.gateway.kernel.now()
    old = str(Cursor(account, 0, now - timedelta(days=31)))
    wrong = [{"after": "nonsense"}, {"after": old}, {"types": ["payout.dreamt"]}]
    outcomes = await partner.calls(*(("events", [{**each, "waitS": 0}]) for each in wrong))

    assert [each["kind"] for each in outcomes] == ["CursorInvalid", "CursorExpired", "Refused"]


async def test_the_examples_of_the_readme_run(package: Package, world: World):
    """As one program, compiled strictly: it pays, reads, follows events and takes deliveries."""
    await topped_up(world)
    folder = package.folder / "readme"
    (folder / "node_modules").mkdir(parents=True)
    (folder / "node_modules/pixgate-client").symlink_to(package.folder)
    examples = "\n".join(EXAMPLE.findall((SOURCE / "README.md").read_text("utf-8")))
    here = (Path(__file__).parent / "uses_readme.ts").read_text("utf-8")
    for written, run in {
        "utcDay()": f'"{world.today()}"',
        "utcDay, ": "",
        "  // Once you have": "  ends.abort(); // Once you have",
    }.items():
        assert written in examples
        examples = examples.replace(written, run)
    (folder / "readme.ts").write_text(examples + here, "utf-8")
    await package.run(
        *(package.tools.tsc, "--strict", "--target", "es2022", "--module", "nodenext"),
        *("--lib", "es2023,dom,dom.iterable", folder / "readme.ts"),
    )
    pair = world.pair("full")
    cursor = await newest(world)

    said = await package.run(
        "node",
        folder / "readme.js",
        PIXGATE_URL=f"http://127.0.0.1:{world.port}",
        PIXGATE_ACCOUNT=world.demo["accounts"]["main"]["id"],
        PIXGATE_CLIENT_ID=pair["client_id"],
        PIXGATE_CLIENT_SECRET=pair["client_secret"],
        PIXGATE_CURSOR=cursor,
        PIXGATE_ENDPOINT_SECRETS="whsec_AAAA whsec_c2VjcmV0",
    )

    lines = said.splitlines()
    assert lines[0] == "paid 1234567.89 "
    assert re.match(r"to spend, in centavos: \d+n$", lines[1])
    assert any(re.match(r"Pix Out 1234567\.89 0 ", each) for each in lines)
    assert any(re.match(r"payout\.paid [0-9a-f-]{36}$", each) for each in lines)
    assert lines[-3:] == ["evt_1 payout.paid", "204", "401"]


async def newest(world: World) -> str:
    """Return the cursor behind all events of the main account."""
    path = f"/events/v1/account/{world.demo['accounts']['main']['id']}/events?limit=100"
    part, after = await world.ask("GET", path), ""
    while part.document["data"]:
        after = part.document["next"]
        part = await world.ask("GET", f"{path}&after={after}")
    return after
