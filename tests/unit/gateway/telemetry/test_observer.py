"""One record, two readers: the metrics and the log."""

import json
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gateway.telemetry.logs.lines import LineBuffer
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import OTHER
from gateway.telemetry.metrics.registry import MetricRegistry
from gateway.telemetry.observer import TelemetryObserver
from gateway.telemetry.ports import Event
from gateway.telemetry.records import AccessRecord, ProviderCall, Unsettled, begin_record
from tests.world.metrics import INSTANCE, WORDS, samples, shown, timed

BALANCE = ("banking", "banking.balance", "GET", "2xx")


class World:
    """An observer, its metrics and what it wrote."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.values = MetricRegistry(INSTANCE, WORDS)
        self.observer = TelemetryObserver(
            self.values,
            LineBuffer(self.written.append),
            lambda: datetime(2026, 11, 20, tzinfo=UTC),
            {"worker": "1"},
        )

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written]


@pytest.fixture
def world() -> World:
    return World()


def served(**fields: Any) -> AccessRecord:
    return AccessRecord(
        **{
            "trace_id": "t",
            "surface": "banking",
            "route": "banking.balance",
            "method": "GET",
            "status": 200,
            "duration_s": 0.030,
            "provider_s": 0.028,
            "auth": "ok",
            **fields,
        }
    )


def called(**fields: Any) -> ProviderCall:
    return ProviderCall(
        **{
            "provider": "sandbox",
            "operation": "get_balance",
            "outcome": "ok",
            "duration_s": 0.028,
            "http_status": 200,
            "bytes_left": True,
            "trace_id": "t",
            **fields,
        }
    )


def test_a_request_is_counted_timed_and_logged(world: World):
    world.observer.request(served())

    assert shown(world.values, series.REQUESTS, "banking", "banking.balance", "GET", "200") == 1
    assert timed(world.values, series.REQUEST_DURATION, *BALANCE) == (1, 0.030)
    count, seconds = timed(world.values, series.OVERHEAD, "banking.balance")
    assert (count, round(seconds, 6)) == (1, 0.002)
    assert shown(world.values, series.AUTH_ATTEMPTS, "basic", "ok") == 1
    assert [(line["event"], line["worker"]) for line in world.lines()] == [("access", "1")]


@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        ({"duration_s": 0.249}, []),
        ({"duration_s": 0.25}, ["a" * 64]),
        ({"duration_s": 12.0}, ["a" * 64]),
        ({"status": 401, "code": "SVC.AUT.010", "auth": "invalid"}, ["a" * 64]),
    ],
    ids=["fast", "slow", "slowest", "refused"],
)
def test_a_slow_or_refused_request_has_its_trace_id_as_exemplar(
    world: World, fields: dict[str, Any], ids
):
    """An exemplar; OpenMetrics forbids ids of more than 120 characters, we stop at 64."""
    for trace_id in ("a" * 64, "b" * 65, "c" * 128):
        world.observer.request(served(trace_id=trace_id, **fields))

    found = samples(world.values, series.REQUEST_DURATION)
    assert [each.exemplar.labels["trace_id"] for each in found if each.exemplar] == ids
    assert sum(each.value for each in found if each.name.endswith("_count")) == 3


def test_a_differing_w3c_trace_id_is_logged_as_well(world: World):
    """A partner's trace and our log can be joined by either."""
    world.observer.request(served())
    world.observer.request(served(w3c_trace_id="4bf92f3577b34da6a3ce929d0e0e4736"))

    ids = [(line["trace_id"], line.get("w3c_trace_id")) for line in world.lines()]
    assert ids == [("t", None), ("t", "4bf92f3577b34da6a3ce929d0e0e4736")]


def test_unknown_methods_share_one_label_value(world: World):
    for number in range(100):
        world.observer.request(served(method=f"X{number}", status=405))

    assert shown(world.values, series.REQUESTS, "banking", "banking.balance", OTHER, "405") == 100
    assert {line["method"] for line in world.lines()} == {OTHER}


@pytest.mark.parametrize(
    ("fields", "family", "key"),
    [
        (
            {"code": "SVC.ACC.006", "status": 502},
            series.ERRORS,
            ("banking", "banking.balance", "SVC.ACC.006", "502"),
        ),
        (
            {"code": "SVC.VAL.007", "status": 400},
            series.VALIDATION_FAILURES,
            ("banking.balance", "SVC.VAL.007"),
        ),
        (
            {"code": "SVC.PIX.012", "status": 400},
            series.VALIDATION_FAILURES,
            ("banking.balance", "SVC.PIX.012"),
        ),
        (
            {"code": "SVC.AUT.010", "status": 403, "reason": "scope", "resource": "balance"},
            series.DENIALS,
            ("scope", "balance"),
        ),
        (
            {"code": "SVC.ACC.002", "status": 400, "reason": "inactive", "resource": "withdraw"},
            series.DENIALS,
            ("inactive", "withdraw"),
        ),
        (
            {"code": "SVC.AUT.010", "status": 401, "auth": "revoked"},
            series.AUTH_ATTEMPTS,
            ("basic", "revoked"),
        ),
        ({"payout": "accepted", "payout_method": "pix"}, series.PAYOUTS, ("pix", "accepted")),
        ({"payout": "duplicate", "payout_method": "pix"}, series.IDEMPOTENT_REQUESTS, ("replay",)),
    ],
)
def test_a_request_is_counted_in_every_matching_metric(world: World, fields, family, key):
    world.observer.request(served(**fields))

    assert shown(world.values, family, *key) == 1


KIND = {
    "code": "SVC.AUT.010",
    "status": 403,
    "reason": "scope",
    "resource": "balance",
    "payout": "accepted",
    "payout_method": "pix",
    "address": "127.0.0.1",
    "client_id": "cli_abcdefghij234567abcd",
    "company_id": "company",
    "account_hash": "0123456789abcdef",
    "provider": "sandbox",
    "provider_outcome": "ok",
}
OTHER_KINDS: list[dict[str, Any]] = [
    {"surface": "none"},
    {"route": "none"},
    {"method": "HEAD"},
    {"path_template": "/elsewhere"},
    {"status": 401},
    {"code": "SVC.ACC.002"},
    {"reason": "inactive"},
    {"auth": "invalid"},
    {"resource": "withdraw"},
    {"payout": "conflict"},
    {"payout_method": "none of ours"},
    {"address": "::1"},
    {"client_id": "cli_234567abcdefghijabcd"},
    {"user_id": "maria"},
    {"company_id": "another"},
    {"account_hash": "fedcba9876543210"},
    {"provider": ""},
    {"provider_outcome": "timeout"},
]


def test_requests_differing_in_one_label_are_counted_separately():
    """Whichever of both came first, each is counted and described as its own."""
    for difference in OTHER_KINDS:
        pair = [served(**KIND), served(**{**KIND, **difference})]
        worlds = World(), World()

        for world, records in zip(worlds, (pair, pair[::-1]), strict=True):
            for each in records:
                world.observer.request(each)

        first, second = (
            {(one.name, *sorted(one.labels.items())): one.value for one in counted(world)}
            for world in worlds
        )
        assert first == second
        assert worlds[0].lines() == worlds[1].lines()[::-1]


def test_requests_of_different_accounts_share_their_series(world: World):
    """However many there are, only the first request of a kind creates its series."""
    for number in range(5000):
        account = {"account_id": str(number), "account_hash": f"{number:016x}"}
        world.observer.request(served(**{**KIND, **account}))

    lines = world.lines()
    assert len(world.observer._answers) == 1
    assert [line["account_id_hash"] for line in lines] == [f"{n:016x}" for n in range(5000)]


def counted(world: World) -> list[Any]:
    """Return every sample of ours."""
    text = world.values.render()[0].decode()
    return [
        sample
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("pixgate_")
    ]


def test_a_failed_intent_is_not_counted_as_new_replay_or_mismatch(world: World):
    world.observer.request(served(payout="intent_failed", payout_method="pix"))

    words = ("new", "replay", "mismatch")
    assert [shown(world.values, series.IDEMPOTENT_REQUESTS, word) for word in words] == [0, 0, 0]


def test_a_request_without_authentication_counts_as_no_attempt(world: World):
    world.observer.request(served(auth=""))

    text = world.values.render()[0].decode()
    assert 'pixgate_auth_attempts_total{result="ok",scheme="basic"} 0.0' in text
    assert 'scheme="_OTHER"' not in text


def test_a_bank_call_is_counted_timed_and_logged(world: World):
    world.observer.provider_call(called())

    assert shown(world.values, series.PROVIDER_REQUESTS, "sandbox", "get_balance", "ok") == 1
    assert timed(world.values, series.PROVIDER_DURATION, "sandbox", "get_balance") == (1, 0.028)
    assert [line["event"] for line in world.lines()] == ["provider_call"]


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        ({}, 0),
        ({"operation": "list_statement"}, 0),
        ({"outcome": "timeout"}, 1),
        ({"operation": "create_payout"}, 1),
        ({"operation": "find_payout"}, 1),
    ],
    ids=str,
)
def test_a_successful_bank_read_within_a_request_is_logged_only_with_the_request(
    world: World, told: dict[str, str], lines: int
):
    """What failed, moves money or is asked in the background has a line of its own."""

    def served_with_it() -> None:
        begin_record(AccessRecord(trace_id="t"))
        world.observer.provider_call(called(**told))

    copy_context().run(served_with_it)

    assert len(world.lines()) == lines


@pytest.mark.parametrize("outcome", series.OUTCOMES_NOT_SENT)
def test_a_call_refused_here_has_no_duration(world: World, outcome: str):
    """Zeros would hide how slow a bank is."""
    world.observer.provider_call(called(outcome=outcome, duration_s=0.0, bytes_left=False))

    assert shown(world.values, series.PROVIDER_REQUESTS, "sandbox", "get_balance", outcome) == 1
    assert timed(world.values, series.PROVIDER_DURATION, "sandbox", "get_balance") == (0, 0)


@pytest.mark.parametrize(
    ("state", "value", "level"),
    [("closed", 0, "info"), ("half_open", 1, "warning"), ("open", 2, "warning")],
)
def test_a_breaker_is_shown_counted_and_logged(world: World, state: str, value: int, level: str):
    world.observer.breaker("sandbox", "read", state)

    assert shown(world.values, series.BREAKER_STATE, "sandbox", "read") == value
    assert shown(world.values, series.BREAKER_TRANSITIONS, "sandbox", "read", state) == 1
    (line,) = world.lines()
    assert (line["event"], line["breaker_state"], line["level"]) == ("breaker", state, level)


def test_an_undeclared_breaker_state_is_not_shown(world: World):
    world.observer.breaker("sandbox", "read", "melted")

    assert shown(world.values, series.BREAKER_STATE, "sandbox", "read") == 0
    assert shown(world.values, series.BREAKER_TRANSITIONS, "sandbox", "read", OTHER) == 1


def test_calls_in_flight_are_shown_with_their_limit(world: World):
    world.observer.in_flight("sandbox", 3, 64)

    assert shown(world.values, series.PROVIDER_IN_FLIGHT, "sandbox") == 3
    assert shown(world.values, series.PROVIDER_IN_FLIGHT_LIMIT, "sandbox") == 64


def test_our_certificate_s_expiry_is_shown_as_unix_time(world: World):
    world.observer.certificate("sandbox", datetime(2026, 11, 20, tzinfo=UTC))

    assert shown(world.values, series.CERTIFICATE_ENDS, "sandbox") == 1_795_132_800


def test_a_repeated_read_is_counted(world: World):
    world.observer.provider_retry("sandbox", "get_balance")

    assert shown(world.values, series.PROVIDER_RETRIES, "sandbox", "get_balance") == 1


@pytest.mark.parametrize(
    ("event", "label", "family", "key"),
    [
        ("quota", "read.allowed", series.QUOTA_DECISIONS, ("read", "allowed")),
        ("quota", "read.limited", series.QUOTA_DECISIONS, ("read", "limited")),
        ("shed", "pages.loop_lag", series.SHED_REQUESTS, ("pages", "loop_lag")),
        ("credential_cache", "negative", series.CREDENTIAL_CACHE, ("negative",)),
        ("trace_id_replaced", "unacceptable", series.TRACE_ID_REPLACED, ("unacceptable",)),
        ("cas_loss", "sandbox", series.PAYOUT_CAS_LOSSES, ("sandbox",)),
        ("payout_returned", "sandbox", series.PAYOUTS_RETURNED, ("sandbox",)),
        (
            "unknown_status",
            "sandbox.get_balance",
            series.PROVIDER_UNKNOWN_STATUS,
            ("sandbox", "get_balance"),
        ),
        ("unknown_field", "banking.balance", series.UNKNOWN_FIELDS, ("banking.balance",)),
        ("not_pix", "sandbox", series.PROVIDER_NOT_PIX, ("sandbox",)),
    ],
)
def test_an_event_without_a_record_is_counted(world: World, event, label, family, key):
    world.observer.count(event, label)

    assert shown(world.values, family, *key) == 1


def test_events_with_many_labels_use_bounded_memory(world: World):
    for number in range(5000):
        world.observer.count(Event.SHED, f"pages.made up {number}")

    assert shown(world.values, series.SHED_REQUESTS, "pages", OTHER) == 5000
    assert len(world.observer._tallies) <= 1024


def test_a_bank_without_unsettled_payouts_shows_zero(world: World):
    """An earlier value must not stay: it raises alerts."""
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    oldest_at = now - timedelta(hours=1)
    stands = Unsettled(provider="sandbox", unresolved=2, oldest_at=oldest_at, review=1)
    gauges = (series.PAYOUT_UNRESOLVED, series.PAYOUT_OLDEST_UNRESOLVED, series.PAYOUT_REVIEW)

    found = []
    for standing in ([stands], []):
        world.observer.unsettled(standing, now)
        found.append([shown(world.values, each, "sandbox") for each in gauges])

    assert found == [[2, 3600, 1], [0, 0, 0]]


def test_callbacks_are_counted_by_bank_and_only_proven_ones_are_dated(world: World):
    """Unproven callbacks do not hide that a bank has stopped sending."""
    for result in ("forged", "taken", "repeated"):
        world.observer.callback("sandbox", result)
    world.observer.callback("nobody", "forged")

    at = datetime(2026, 11, 20, tzinfo=UTC).timestamp()
    assert shown(world.values, series.CALLBACKS, "sandbox", "taken") == 1
    assert shown(world.values, series.CALLBACKS, OTHER, "forged") == 1
    assert shown(world.values, series.CALLBACK_LAST, "sandbox") == at
    assert shown(world.values, series.CALLBACK_LAST, OTHER) == 0


def test_only_the_ten_worst_credentials_have_series(world: World):
    """Their number is bounded, whatever happens; those who are served have no series."""
    for number in range(12):
        who = {"client_id": f"c{number:02}", "company_id": "company"}
        for _ in range(number + 1):
            world.observer.request(served(status=429, code="SVC.GTW.004", **who))
    world.observer.request(served(status=200, client_id="served", company_id="company"))
    world.observer.request(served(status=401, code="SVC.AUT.001"))

    found = {
        (each.labels["credential"], each.labels["result"]): each.value
        for family in world.values.registry.collect()
        for each in family.samples
        if each.name == series.WORST_CREDENTIALS.name
    }
    assert found == {(f"c{number:02}", "limited"): number + 1 for number in range(2, 12)}


def test_only_a_paid_payout_has_a_settlement_time(world: World):
    """A refusal within a second would make the banks look fast."""
    took = {"paid": 30.0, "failed": 1.0, "rejected": 1.0}
    for state, took_s in took.items():
        world.observer.payout_ended("sandbox", state, took_s)

    ended = [shown(world.values, series.PAYOUTS_ENDED, "sandbox", state) for state in took]
    assert ended == [1, 1, 1]
    assert timed(world.values, series.PAYOUT_SETTLEMENT, "sandbox") == (1, 30.0)
