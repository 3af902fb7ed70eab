"""
A real Prometheus scrapes a pair of gateways and HAProxy: rules, dashboards' queries, six alerts.

In this order: the last test breaks what the others look at.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from gateway.payouts.model import PayoutState
from gateway.store.tables.core import payouts
from tests.deploy.dashboards import filled, queries, variables
from tests.deploy.exporters import FOREIGN
from tests.deploy.observed import RUNBOOKS, Observed, load, observing
from tests.deploy.rule_cases import ALERTS, PLACE, RECORDS, RULES
from tests.servers.postgres import PostgresServer
from tests.servers.promtool import promtool
from tests.world.gateway.world import order
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

DATABASE = f"test_{uuid.uuid4().hex}"
EMPTY = {
    "Alerts that fire": "none fires",
    "Banks that fail": "none may within five minutes of the load",
    "Days left of partitions": "the hourly task has not run",
    "Outside of what is usual": "the guard has no payouts to compare with",
    "Tasks that fail": "none fails",
    "Days left of certificates": "the sandbox has none",
}
"""Panels without a value in a pair that works, and why."""
NOT_RUN = ("pg_", "node_", "redis_", "probe_")
"""Of exporters that do not run here: their queries are evaluated, and find nothing."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def observed(
    postgres_server: PostgresServer,
    migrated_database: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Observed]:
    """A pair that has answered and paid, and whose figures were scraped since."""
    url = await postgres_server.create(DATABASE, template=migrated_database)
    async with observing(tmp_path_factory.mktemp("observed"), url) as made:
        await load(made)
        for task in ("gauges", "unsettled payouts", "tasks"):
            await made.world.run_task(task)
        await made.until("query", has_samples, query="up")
        await made.read_statement()  # the shared cache is away for the second time
        # twice: a rate needs two samples
        await made.until("query", has_samples, query="rate(pixgate_errors_total[1m])")
        yield made
    await postgres_server.drop(DATABASE)


async def test_scraped_pages_are_valid_for_prometheus(observed: Observed):
    """``promtool check metrics`` reports nothing."""
    url = f"http://127.0.0.1:{observed.world.gateway.operations.port}/metrics"
    async with observed.world.session.get(url) as answer:
        scraped = await answer.read()

    said = await asyncio.to_thread(promtool, "check", "metrics", typed=scraped)

    assert said == (0, "")


async def test_every_rule_is_healthy_and_none_fires(observed: Observed):
    said = await observed.until("rules", all_evaluated)

    rules = [
        each for group in said["groups"] if group["file"] == str(ALERTS) for each in group["rules"]
    ]
    assert len(rules) == len(RULES) + len(RECORDS)
    assert {rule["health"] for rule in rules} == {"ok"}
    assert {rule["name"] for rule in rules if rule.get("state") == "firing"} == set()


async def test_every_dashboard_query_returns_data(observed: Observed):
    wrong, empty = {}, []
    for title, query in queries():
        said = await observed.ask("query", query=query)
        if "error" in said:
            wrong[title, query] = said["error"]
        elif not said["result"] and title not in EMPTY and not is_of_an_exporter(query):
            empty.append(query)

    assert wrong == {}
    for query in empty:  # a series was scraped once, and its rate needs two samples
        await observed.until("query", has_samples, query=query)


def is_of_an_exporter(query: str) -> bool:
    return any(name.startswith(NOT_RUN) and name in query for name in FOREIGN)


async def test_a_slow_or_failed_request_leads_to_its_trace(observed: Observed):
    """The query that Grafana sends for a panel's exemplars."""
    query = filled(
        'pixgate_http_request_duration_seconds_bucket{environment=~"$environment",surface="banking"}'
    )
    now = time.time()
    found = await observed.until(
        "query_exemplars", bool, query=query, start=str(now - 3600), end=str(now + 60)
    )

    traces = {each["labels"]["trace_id"] for series in found for each in series["exemplars"]}
    assert traces
    assert "" not in traces


async def test_the_proxy_exports_the_series_that_rules_use(observed: Observed):
    """Their names, label values and counts, after three calls."""
    answered = 'haproxy_frontend_http_responses_total{proxy="public",code="2xx"}'
    servers = 'haproxy_backend_active_servers{proxy=~"reads|gateways"}'

    await observed.until("query", has_samples, query=f"{answered} >= 3")
    said = await observed.ask("query", query=f"{servers} == 2")

    assert len(said["result"]) == 2
    assert all(PLACE.items() <= each["metric"].items() for each in said["result"])


async def test_the_variables_of_a_dashboard_are_found(observed: Observed):
    found = {
        name: await observed.ask(f"label/{label}/values", **{"match[]": series})
        for name, series, label in variables()
    }

    processes = found.pop("instance")
    assert found == {name: [value] for name, value in PLACE.items()}
    assert len(processes) == 2


async def test_each_alert_fires_for_its_fault(observed: Observed, postgres_server: PostgresServer):
    """Each for its own fault; only the waiting time is shortened."""
    world, faults = observed.world, observed.world.control
    lost = {"operation": "payout", "fault": "reset_before", "count": None}
    silent = {"operation": "payout_read", "fault": "status", "status": 500, "count": None}
    refusing = {"operation": "balance", "fault": "status", "status": 401, "count": 3}
    for fault in (lost, silent, refusing):
        await faults.post("faults", body=fault)

    await world.pay(order("lost", world.today()))
    for _ in range(3):
        await world.ask("GET", world.at("/balance"))
    await a_quarter_of_an_hour_later(observed)
    observed.reload.asked.set()
    await observed.reload.run_once()  # of a file that is not there
    await observed.other.operations.close()
    await refuse_writes(observed, postgres_server)

    wanted = {
        *("GatewayDown", "PayoutUnresolvedOld", "ProviderCredentialsRefused"),
        *("StoreNotWritable", "ConfigReloadFailed", "SharedCacheAway"),
    }

    async def fire() -> bool:
        fired = firing(await observed.ask("alerts"))
        if "SharedCacheAway" not in fired:
            await observed.read_statement()  # the cache is asked again after five seconds
        return wanted <= fired

    await until(fire)
    [shown] = [query for title, query in queries() if title == "Alerts that fire"]

    async def listed() -> Sequence[dict[str, Any]]:
        found: Sequence[dict[str, Any]] = (await observed.ask("query", query=shown))["result"]
        return found if wanted <= {each["metric"]["alertname"] for each in found} else ()

    since = await until(listed)  # their samples are stored after they fire
    assert all(float(each["value"][1]) <= 1000 * time.time() for each in since)


async def a_quarter_of_an_hour_later(observed: Observed) -> None:
    early = observed.world.gateway.kernel.now() - timedelta(minutes=20)
    lost = payouts.update().where(payouts.c.state == PayoutState.UNKNOWN.value)
    async with observed.world.gateway.kernel.store.database.writing() as connection:
        done = await connection.execute(lost.values(created_at=early))
    assert done.rowcount == 1


async def refuse_writes(observed: Observed, server: PostgresServer) -> None:
    """Make the database read-only like a standby, for every later session."""
    await server.make_read_only(DATABASE)
    await observed.world.run_task("store")


def has_samples(said: dict[str, Any]) -> bool:
    return bool(said["result"])


def all_evaluated(said: dict[str, Any]) -> bool:
    """Whether every rule was evaluated once."""
    rules = [rule for group in said["groups"] for rule in group["rules"]]
    return bool(rules) and all(each["health"] != "unknown" for each in rules)


def firing(said: dict[str, Any]) -> set[str]:
    return {
        each["labels"]["alertname"]
        for each in said["alerts"]
        if each["state"] == "firing"
        and PLACE.items() <= each["labels"].items()
        and each["annotations"]["runbook_url"].startswith(RUNBOOKS)
    }
