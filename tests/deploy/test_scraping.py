"""A real Prometheus scrapes a gateway and evaluates every rule."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.deploy.rule_cases import ALERTS, RULES
from tests.servers.process import serving
from tests.servers.promtool import program, promtool
from tests.world.gateway.world import World, opened, order, sandbox
from tests.world.waiting import until

LISTENING = re.compile(r'msg="Listening on" address=127\.0\.0\.1:(\d+)')


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A gateway of this test's own, which has answered and paid."""
    async with opened(sandbox(tmp_path)) as world:
        await world.ask("GET", world.at("/balance"))
        await world.pay(order("scraped", world.today()))
        await world.settled("scraped")
        yield world


async def test_what_is_scraped_is_as_prometheus_wants_it(world: World):
    """``promtool check metrics`` says nothing."""
    url = f"http://127.0.0.1:{world.gateway.operations.port}/metrics"
    async with world.session.get(url) as answer:
        scraped = await answer.read()

    said = await asyncio.to_thread(promtool, "check", "metrics", typed=scraped)

    assert said == (0, "")


async def test_prometheus_scrapes_it_and_evaluates_every_rule(world: World, tmp_path: Path):
    target = f"127.0.0.1:{world.gateway.operations.port}"
    config = tmp_path / "prometheus.json"  # JSON is YAML
    config.write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(ALERTS)],
                "scrape_configs": [
                    {"job_name": "gateway", "static_configs": [{"targets": [target]}]}
                ],
            }
        )
    )
    log = tmp_path / "prometheus.log"
    command = [
        program("prometheus"),
        f"--config.file={config}",
        f"--storage.tsdb.path={tmp_path / 'series'}",
        "--web.listen-address=127.0.0.1:0",
    ]
    stack = serving(command, log=log, ready=lambda: LISTENING.search(log.read_text()))
    process = await asyncio.to_thread(stack.__enter__)
    try:
        port = LISTENING.findall(log.read_text())[0]
        url = f"http://127.0.0.1:{port}/api/v1"
        scraped = await found(world.session, f"{url}/targets", is_scraped)
        rules = await found(world.session, f"{url}/rules", all_evaluated)
    finally:
        await asyncio.to_thread(stack.__exit__, None, None, None)

    assert process.returncode == 0
    assert scraped["activeTargets"][0]["lastError"] == ""
    assert len(listed(rules)) == len(RULES)
    assert {rule["health"] for rule in listed(rules)} == {"ok"}
    assert {rule["name"] for rule in listed(rules) if rule["state"] == "firing"} == set()


async def found(session: aiohttp.ClientSession, url: str, holds: Any) -> dict[str, Any]:
    """Ask until an answer holds, and return it."""
    data: dict[str, Any] = {}

    async def asked() -> bool:
        nonlocal data
        async with session.get(url) as answer:
            data = (await answer.json())["data"] if answer.ok else {}
        return bool(holds(data))

    await until(asked)
    return data


def is_scraped(targets: dict[str, Any]) -> bool:
    """Say whether the gateway answered."""
    return [each["health"] for each in targets.get("activeTargets", ())] == ["up"]


def all_evaluated(rules: dict[str, Any]) -> bool:
    """Say whether every rule was evaluated once."""
    return bool(listed(rules)) and all(each["health"] != "unknown" for each in listed(rules))


def listed(rules: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rules of every group."""
    return [rule for group in rules.get("groups", ()) for rule in group["rules"]]
