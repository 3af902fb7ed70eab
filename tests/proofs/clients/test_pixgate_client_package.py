"""``pixgate-client`` as a partner gets it: its wheel, its types, and the examples of its README."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.security.secrets import new_signing_secret
from gateway.security.webhooks import secret_bytes, signed_headers
from tests.world.authors import BIN, Environment, environment_in
from tests.world.gateway.world import World, opened, sandbox
from tests.world.tree import ROOT

PACKAGE = ROOT / "clients/python"
README = PACKAGE / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BODY = json.dumps(
    {"type": "payout.paid", "timestamp": "2026-11-20T13:40:11Z", "data": {"reference": "a"}}
).encode()
USER = """
from decimal import Decimal
from pixgate_client import AsyncClient, Client, PixOrder

def total(client: Client) -> Decimal:
    client.pay(PixOrder(value=Decimal("1"), tax_number="1", key_type="cpf", key="1"))
    return sum((each.value for each in client.pix_payouts), Decimal())

async def keys(client: AsyncClient) -> str:
    return (await client.pix_keys())[0].key
"""
RIGHT = USER.replace(
    "client.pix_payouts", "client.payouts(date(2026, 11, 20), date(2026, 11, 20)).data"
).replace("from decimal", "from datetime import date\nfrom decimal")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the client's wheel alone, and httpx."""
    return environment_in(tmp_path_factory.mktemp("client"), PACKAGE)


@pytest.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[World]:
    async with opened(sandbox(tmp_path)) as made:
        yield made


def of(world: World, program: str) -> str:
    """Put the demo's account, credential and date into an example."""
    pair = world.pair("full")
    given = {
        "https://pix.example.com": f"http://127.0.0.1:{world.port}",
        "ACCOUNT_ID": world.demo["accounts"]["main"]["id"],
        "CLIENT_ID": pair["client_id"],
        "CLIENT_SECRET": pair["client_secret"],
        "PixOrder(\n": f"PixOrder(\n    date=datetime.date.fromisoformat({world.today()!r}),\n",
        "datetime.now(UTC).date()": f"datetime.fromisoformat({world.today()!r}).date()",
    }
    for name, value in given.items():
        program = program.replace(name, value)
    return program


async def test_every_example_of_the_readme_runs(fresh: World, capsys: pytest.CaptureFixture[str]):
    blocks = BLOCK.findall(README.read_text("utf-8"))
    pay, errors, read, events, deliveries, pay_async = (of(fresh, each) for each in blocks)
    secrets = [new_signing_secret(lambda size, each=each: each * size) for each in (b"a", b"b")]
    handled, cursors = [], []

    class EnoughError(Exception):
        """The loop over the feed has no end of its own."""

    def store_cursor(cursor: str) -> None:
        cursors.append(cursor)
        if cursor:  # it is empty in front of the end of the first part
            raise EnoughError

    names: dict[str, Any] = {
        "save": lambda _order: None,
        "later": lambda *given: pytest.fail(f"later: {given}"),
        "tell": lambda *given: pytest.fail(f"tell: {given}"),
        "handle": handled.append,
        "load_cursor": lambda: "",
        "store_cursor": store_cursor,
        "SECRET": secrets[0],
        "FORMER_SECRET": secrets[1],
    }

    for text in ("import datetime\n" + pay, errors, read, deliveries, pay_async):
        await asyncio.to_thread(exec, text, names)  # they share their names
    with pytest.raises(EnoughError):
        await asyncio.to_thread(exec, events, names)
    headers = signed_headers([secret_bytes(secrets[1])], "evt_1", datetime.now(UTC), BODY)
    statuses = [names["receive"](dict(headers), BODY), names["receive"]({}, BODY)]
    await names["pay_all"]([names["order"]])
    await asyncio.to_thread(names["client"].close)

    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[-1]) == ("paid None", "paid")
    assert await fresh.executions(names["order"].reference) == [1050]
    assert handled[0].type in {"payout.paid", "payout.failed", "pix.received"}
    assert len(cursors) == len(handled) - 1
    assert statuses == [204, 401]


async def test_the_wheel_pays_in_an_environment_of_its_own(fresh: World, environment: Environment):
    pay = of(fresh, BLOCK.findall(README.read_text("utf-8"))[0])
    program = environment.folder / "pays.py"
    program.write_text(f"import datetime\nsave = print\n{pay}client.close()\n", "utf-8")

    printed = await asyncio.to_thread(environment.runs, "python", "-I", program)

    assert printed.endswith("paid None\n")


def test_a_user_s_type_checker_sees_the_types(environment: Environment):
    """``py.typed`` is in the wheel: a right program passes, a wrong name is found."""
    (environment.folder / "right.py").write_text(RIGHT, "utf-8")
    (environment.folder / "wrong.py").write_text(USER, "utf-8")
    checks = (
        *(BIN / "mypy", "--strict", "--python-executable", environment.bin / "python"),
        *("--cache-dir", environment.folder / ".mypy_cache"),
    )

    right, wrong = (
        subprocess.run(
            [*map(str, checks), name],
            cwd=environment.folder,
            env=environment.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        for name in ("right.py", "wrong.py")
    )

    assert (right.returncode, right.stdout.startswith("Success")) == (0, True), right.stdout
    assert 'wrong.py:7: error: "Client" has no attribute "pix_payouts"' in wrong.stdout


def test_the_wheel_holds_the_package_its_licence_and_nothing_else(environment: Environment):
    program = (
        "from importlib.metadata import distribution as d\n"
        "found = d('pixgate-client')\n"
        "print(*found.requires)\n"
        "print(*sorted({str(each).split('/')[0] for each in found.files}))\n"
        "print([str(each) for each in found.files if each.name in ('py.typed', 'LICENSE')])\n"
    )

    needs, folders, more = environment.runs("python", "-I", "-c", program).splitlines()

    assert needs == "httpx<1,>=0.28"
    assert folders == "pixgate_client pixgate_client-0.2.0.dist-info"
    assert more.count("py.typed") == more.count("LICENSE") == 1
