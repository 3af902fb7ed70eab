"""The client of the partner guide, as it is printed there, against a running gateway."""

from __future__ import annotations

import asyncio
import json
import re
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import PixKeyType, normal_key
from pixgate_client import Client, PixOrder, Refused
from provider_adapters.testing.demo.ensure import Pair
from tests.world.gateway.world import World, opened, order, pair_of, sandbox
from tests.world.signing import Signer
from tests.world.stops import stop_payouts
from tests.world.waiting import until

GUIDE = Path(__file__).parents[3] / "docs/partner-guide.md"
IN_PORTUGUESE = GUIDE.parent / "pt/guia-do-parceiro.md"
DRIVING = re.compile(r"^## (?:Drive the|Controlar o) sandbox\n(.*?)^## ", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETTLES, REFUSED, CUT_SHORT = 10.5, 777.04, 777.08


@pytest.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[World]:
    """A gateway that has not looked for stops yet: the first payout sees those of now."""
    async with opened(sandbox(tmp_path)) as made:
        yield made


def program_of(world: World) -> str:
    """Return the guide's program, for the demo's account and credential."""
    _, program, _ = PROGRAM.findall(GUIDE.read_text(encoding="utf-8"))
    pair = world.pair("full")
    url = "http://127.0.0.1:8080/baas/v1/account/ACCOUNT_ID"
    program = program.replace(url, f"http://127.0.0.1:{world.port}{world.at('')}")
    return program.replace(
        "CLIENT_ID:CLIENT_SECRET", f"{pair['client_id']}:{pair['client_secret']}"
    )


def signing_client_of(world: World, pair: Pair, folder: Path) -> dict[str, Any]:
    """Load the guide's program with a credential, changed to sign as the guide says."""
    text = GUIDE.read_text(encoding="utf-8")
    _, _, signing = PROGRAM.findall(text)
    [line] = re.findall(r"add `(headers .*?)` in `call`", text)
    key = folder / "private.pem"
    key.write_bytes(
        Signer().private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    signing = signing.replace("private.pem", str(key)).replace("THE_KEY_ID", Signer().public.key_id)
    signing = signing.replace("time.time()", str(world.gateway.kernel.now().timestamp()))
    before = "    request = urllib.request.Request("
    names: dict[str, Any] = {}
    full = f"{world.pair('full')['client_id']}:{world.pair('full')['client_secret']}"
    own = f"{pair['client_id']}:{pair['client_secret']}"
    program = program_of(world).replace(full, own)
    signs = f"    if data is not None:\n        {line}\n"
    exec(signing + program.replace(before, signs + before), names)  # noqa: S102 - our own page
    return names


def client_of(world: World) -> dict[str, Any]:
    """Load the guide's program, without running its order."""
    names: dict[str, Any] = {}
    exec(program_of(world), names)  # noqa: S102 - it is our own page
    return names


async def test_the_program_of_the_guide_pays_a_decimal_amount(
    fresh: World, capsys: pytest.CaptureFixture[str]
):
    """As printed, except for the date, because the gateway's clock is not the machine's."""
    now = "datetime.now(timezone.utc).date().isoformat()"
    program = program_of(fresh).replace(now, repr(fresh.today()))

    await asyncio.to_thread(exec, program, {"__name__": "__main__"})

    assert capsys.readouterr().out == "paid\n"
    assert await fresh.executions("order-1044") == [1007]


async def test_the_guide_s_order_by_pixgate_client_is_paid(
    fresh: World, capsys: pytest.CaptureFixture[str]
):
    """The same program in both languages; as printed, but for place, credential and date."""
    guides = (GUIDE, GUIDE.parent / "pt/guia-do-parceiro.md")
    program, portuguese = (PROGRAM.search(each.read_text("utf-8"))[1] for each in guides)
    pair = fresh.pair("full")
    given = {
        "http://127.0.0.1:8080": f"http://127.0.0.1:{fresh.port}",
        "ACCOUNT_ID": fresh.demo["accounts"]["main"]["id"],
        "CLIENT_ID": pair["client_id"],
        "CLIENT_SECRET": pair["client_secret"],
        "PixOrder(\n": f"PixOrder(\n    date=datetime.date.fromisoformat({fresh.today()!r}),\n",
    }
    printed = f"import datetime\n{program}client.close()\n"
    for name, value in given.items():
        printed = printed.replace(name, value)

    await asyncio.to_thread(exec, printed, {})

    assert portuguese == program
    assert capsys.readouterr().out == "paid\n"
    assert await fresh.executions("order-1045") == [1007]


async def test_the_client_of_the_guide_signs(fresh: World, tmp_path: Path):
    pair = pair_of(await fresh.issue())
    await fresh.register_key(pair["client_id"], Signer().pem)
    client, wanted = signing_client_of(fresh, pair, tmp_path), order("order-1", fresh.today())

    paid = await asyncio.to_thread(client["pay"], wanted)
    unsigned = await fresh.pay(order("order-2", fresh.today()), pair=pair)

    assert paid["status"] == "processing"
    assert unsigned.status == 401


async def test_pixgate_client_signs_by_the_function_of_the_guide(fresh: World, tmp_path: Path):
    pair = pair_of(await fresh.issue())
    await fresh.register_key(pair["client_id"], Signer().pem)
    signed = signing_client_of(fresh, pair, tmp_path)["signed"]
    to = (f"http://127.0.0.1:{fresh.port}", fresh.demo["accounts"]["main"]["id"])
    wanted = PixOrder(
        value=Decimal("10.50"),
        tax_number="529.982.247-25",
        key_type="email",
        key="maria@example.com",
        date=fresh.gateway.kernel.now().date(),
    )

    with Client(*to, *pair.values(), sign=signed) as client:
        paid = await asyncio.to_thread(client.pay, wanted)
    with Client(*to, *pair.values()) as client, pytest.raises(Refused) as unsigned:
        await asyncio.to_thread(client.pay, wanted)

    assert paid.status == "processing"
    assert (unsigned.value.status, unsigned.value.code) == (401, "SVC.AUT.010")


@pytest.mark.parametrize("value", [SETTLES, CUT_SHORT], ids=["answered", "the answer cut short"])
async def test_the_client_of_the_guide_pays_once(fresh: World, value: float):
    """A 502 is repeated under the same reference until the outcome is known."""
    client, wanted = client_of(fresh), order("order/1042", fresh.today(), value=value)

    first = await asyncio.to_thread(client["pay"], wanted)
    again = await asyncio.to_thread(client["pay"], wanted)
    ended = await asyncio.to_thread(client["follow"], "order/1042")

    assert (first["status"], again["status"], ended["status"]) == ("processing",) * 2 + ("paid",)
    assert await fresh.executions("order/1042") == [round(value * 100)]


async def test_the_client_of_the_guide_distinguishes_a_refusal_from_a_stop(fresh: World):
    client = client_of(fresh)

    refused = await asyncio.to_thread(client["pay"], order("refused", fresh.today(), value=REFUSED))
    await stop_payouts(fresh.office)
    with pytest.raises(client["Refused"]) as stopped:
        await asyncio.to_thread(client["pay"], order("stopped", fresh.today()))

    assert refused["status"] == "failed"
    assert str(stopped.value).startswith("403 SVC.PIX.010 Payouts are stopped for now")


async def test_other_content_does_not_pay_again(fresh: World):
    """The 400 for a reference in use: its payout may be paid."""
    [row] = re.findall(r"^\| 400 `SVC\.PIX\.010` \|.*$", GUIDE.read_text("utf-8"), re.MULTILINE)
    _, _, _, what_to_do, _ = row.split("|")
    client = client_of(fresh)

    await asyncio.to_thread(client["pay"], order("order/1043", fresh.today(), value=5))
    paid = await asyncio.to_thread(client["follow"], "order/1043")
    with pytest.raises(client["Refused"], match=r"^400 SVC\.PIX\.010 "):
        await asyncio.to_thread(client["pay"], order("order/1043", fresh.today(), value=5.01))

    assert paid["status"] == "paid"
    assert what_to_do.startswith(" **read the reference first.**")


def rows_of(heading: str) -> list[list[str]]:
    """Return the cells of the guide's table whose head begins with ``heading``."""
    _, _, rest = GUIDE.read_text("utf-8").partition(f"| {heading} |")
    rows = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]


def promised(guide: Path) -> list[list[str]]:
    """Return what no language changes of each row of a table: codes, statuses, amounts."""
    rows = re.findall(r"^\|(.*)\|$", guide.read_text("utf-8"), re.MULTILINE)
    found = [re.findall(r"`[^`]+`|\b\d{3}\b(?:\.\d\d)?", row) for row in rows]
    return [[each for each in row if each != "`reference`"] for row in found if row]


def test_the_portuguese_page_promises_the_same():
    """Every row of its tables, and both orders, match the English guide."""
    portuguese = GUIDE.parent / "pt/guia-do-parceiro.md"
    [ours, theirs] = [
        re.findall(r"```json\n(.*?)```", each.read_text("utf-8"), re.DOTALL)
        for each in (GUIDE, portuguese)
    ]

    assert promised(portuguese) == promised(GUIDE)
    assert theirs == ours


def test_every_failure_code_is_explained():
    assert {code for code, _, _ in rows_of("`failure.code`")} == set(FailureCode)


def test_every_type_of_key_is_explained_with_a_valid_example():
    rows = rows_of("`key_type`")

    assert [kind for kind, _, _ in rows] == list(PixKeyType)
    assert all(normal_key(PixKeyType(kind), example) for kind, _, example in rows)


async def is_stored(world: World, reference: str) -> bool:
    account = world.demo["accounts"]["main"]["id"]
    return bool(await world.gateway.kernel.store.payouts.attempts(account, reference))


async def test_the_client_of_the_guide_repeats_an_unsent_payout(fresh: World):
    """502 ``SVC.ACC.005`` while the bank is unreachable, and paid once when it is back."""
    client = client_of(fresh)

    async with fresh.failing("*", "refuse"):
        paying = asyncio.ensure_future(
            asyncio.to_thread(client["pay"], order("away", fresh.today(), value=SETTLES))
        )
        await until(partial(is_stored, fresh, "away"))
        sent_meanwhile = paying.done()
    accepted = await paying
    ended = await asyncio.to_thread(client["follow"], "away")

    assert (sent_meanwhile, accepted["status"], ended["status"]) == (False, "processing", "paid")
    assert await fresh.executions("away") == [1050]


@pytest.mark.parametrize("guide", [GUIDE, IN_PORTUGUESE], ids=["english", "portuguese"])
async def test_the_commands_of_the_guide_drive_the_sandbox(fresh: World, guide: Path):
    """As printed, except for the address and the date."""
    [driving] = DRIVING.findall(guide.read_text(encoding="utf-8"))
    script = "".join(SHELL.findall(driving))
    for shown, own in (
        ("http://127.0.0.1:8080", f"http://127.0.0.1:{fresh.port}"),
        ("$(date -u +%F)", fresh.today()),
    ):
        assert shown in script
        script = script.replace(shown, own)

    own = 'echo "$OWN"'
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", f"{script}{own}"), stdout=PIPE, stderr=PIPE
    )
    printed, complaints = await process.communicate()
    *said, feed, made = [json.loads(line) for line in printed.splitlines()]

    assert complaints == b""
    assert [each.get("status", each.get("code", "")) for each in said] == [
        *("Active", "", "paid"),
        *("processing", "paid"),
        *("", "processing", "failed"),
        *("", "SVC.PIX.010", "processing", "paid"),
    ]
    assert feed.keys() == {"data", "next"}
    pair = Pair(client_id=made["client_id"], client_secret=made["client_secret"])

    async def told() -> list[str] | None:
        """Return the types of the events of what was driven, once all are told."""
        path = f"/events/v1/account/{made['account_id']}/events"
        part = await fresh.ask("GET", path, pair=pair)
        types = [each["type"] for each in part.document["data"] if each["data"].get("reference")]
        return sorted(types) if len(types) > 3 else None

    assert await until(told) == ["payout.failed", "payout.paid", "payout.paid", "pix.received"]
