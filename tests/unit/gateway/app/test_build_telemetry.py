"""What the process says about itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import iscoroutinefunction
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from gateway.app.build_telemetry import build_telemetry, refusals_below
from gateway.app.surfaces import described_surfaces
from gateway.banks.port.providers import (
    ChargeCalls,
    IncomingCalls,
    KeyCalls,
    ProviderAdapter,
    RefundCalls,
)
from gateway.config.settings import Provider, RateLimits, Settings, Telemetry
from gateway.core import errors, user_errors
from gateway.core.errors import HEADERS_TOO_LARGE
from gateway.core.permissions import Resource
from gateway.core.rights import Area
from gateway.http.documents import PAGES
from gateway.net.server.refusals import error_body
from gateway.payouts.model import FINAL_STATES
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import Label
from gateway.telemetry.ports import Event
from gateway.telemetry.records import AccessRecord, ProviderCall
from tests.world.kernel import Witness
from tests.world.metrics import shown
from tests.world.standing import NOON

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def settings(tmp_path) -> Settings:
    """A sandbox without anything."""
    return Settings(var=str(tmp_path), providers={"sandbox": Provider(adapter="sandbox")})


def test_every_route_and_page_is_a_value_of_the_metric_label(settings: Settings):
    """A label has a closed set of values; a new route is included automatically."""
    surfaces = described_surfaces(settings)
    made = build_telemetry(settings, lambda: NOON, surfaces)
    routes = {route.name for gate in surfaces[0].gates for route in gate.routes}

    for route in (*routes, *PAGES, "panel.static", "of.nobody"):
        made.observer.request(AccessRecord(trace_id="a", route=route, method="GET", status=200))

    shown = made.values.render()[0].decode()
    assert all(f'route="{route}"' in shown for route in (*routes, *PAGES, "panel.static"))
    assert "of.nobody" not in shown
    assert made.digest in shown


REASONS = {
    "TOO_MANY_ATTEMPTS": series.LOCKED.values or (),
    "CSRF_FAILED": series.CSRF_REASON.values or (),
}
DENIED_REASONS = series.DENIED.values or ()
CALL = ProviderCall(
    provider="sandbox",
    operation="",
    outcome="ok",
    duration_s=0.1,
    http_status=200,
    bytes_left=True,
    trace_id="a",
)
DENIED = AccessRecord(
    trace_id="a", surface="backoffice", method="GET", status=403, code="FORBIDDEN"
)


def calls_of_the_port() -> Iterator[str]:
    """Name what a bank can be asked, what it must answer and what it may."""
    for port in (ProviderAdapter, KeyCalls, ChargeCalls, IncomingCalls, RefundCalls):
        yield from (name for name, of in vars(port).items() if iscoroutinefunction(of))


def test_every_word_used_as_a_label_is_a_known_value(settings: Settings):
    """Closed sets are completed from the declarations, so a new word is included automatically."""
    made = build_telemetry(settings, lambda: NOON, described_surfaces(settings))
    tell = made.observer

    for quota in RateLimits.__struct_fields__:
        tell.count(Event.QUOTA, f"{quota}.allowed")
        tell.count(Event.QUOTA, f"{quota}.limited")
    for name in {*calls_of_the_port()} - {"start", "close", "__init__"}:
        tell.provider_call(structs.replace(CALL, operation=name))
        tell.provider_retry("sandbox", name)
        tell.count(Event.UNKNOWN_STATUS, f"sandbox.{name}")
    for resource in (*Resource, *Area):
        for reason in DENIED_REASONS:
            tell.request(structs.replace(DENIED, resource=resource, reason=reason))
    for error in (*errors.CATALOGUE, *user_errors.CATALOGUE):
        for reason in REASONS.get(error.code, ("",)):
            tell.request(
                structs.replace(DENIED, status=error.status, code=error.code, reason=reason)
            )
    for state in FINAL_STATES:
        tell.payout_ended("sandbox", state.value, 1.0)
        tell.money("sandbox", state.value, 1)

    text = made.values.render()[0].decode()
    assert [line for line in text.splitlines() if "_OTHER" in line] == []


@pytest.mark.parametrize(
    ("written", "label"),
    [
        (r'TOO_MANY_ATTEMPTS, "(\w+)"', series.LOCKED),
        (r'_key\("(?!account")(\w+)"', series.LOCKED),
        (r'CSRF_FAILED, "(\w+)"', series.CSRF_REASON),
        (r'turned_away\["(\w+)"\]', series.TURNED_AWAY),
    ],
    ids=["refusals", "throttles", "forgeries", "connections"],
)
def test_every_raised_reason_is_a_label_value(written: str, label: Label):
    """Reasons are texts where they are raised; ``account``, which blocks nothing, is not one."""
    files = [file for top in ("gateway", "policies") for file in (ROOT / top).rglob("*.py")]
    raised = {word for file in files for word in re.findall(written, file.read_text())}

    assert raised
    assert raised <= {*(label.values or ())}


def test_lost_log_lines_are_counted(settings: Settings):
    made = build_telemetry(settings, lambda: NOON, described_surfaces(settings))
    made.writer.lost["full"] = 3

    lost = [shown(made.values, series.LOG_LINES_LOST, why) for why in ("full", "failed")]

    assert lost == [3, 0]


def test_the_configuration_digest_depends_on_the_settings(settings: Settings):
    """The same settings have the same digest on every node."""
    louder = msgspec.structs.replace(settings, telemetry=Telemetry(level="debug"))
    surfaces = described_surfaces(settings)

    digests = [
        build_telemetry(each, lambda: NOON, surfaces).digest
        for each in (settings, settings, louder)
    ]

    assert digests[0] == digests[1] != digests[2]


def test_the_listener_s_refusals_are_logged_like_the_application_s():
    """With the same body, the same link to the code's page, and a record each."""
    witness = Witness()
    refusals = refusals_below(witness, {"SVC.GTW.007": "</page>"})

    answer = refusals.answer(HEADERS_TOO_LARGE)

    (record,) = witness.records
    assert answer.body == error_body(HEADERS_TOO_LARGE, record.trace_id)
    assert record.trace_id == answer.headers["X-Trace-ID"]
    assert answer.headers["Link"] == "</page>"
    assert (record.status, record.code) == (431, "SVC.GTW.007")
