"""The writer of the request log."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from gateway.core.storage import StoreUnavailable
from gateway.request_log.model import LoggedRequest
from gateway.request_log.writer import RequestLogWriter, _logged
from gateway.telemetry.records import AccessRecord
from tests.world.standing import NOON


class Shelf:
    def __init__(self) -> None:
        self.batches: list[Sequence[LoggedRequest]] = []
        self.away = False

    async def add(self, requests: Sequence[LoggedRequest]) -> None:
        if self.away:
            raise StoreUnavailable
        self.batches.append(requests)


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def counted() -> Counter[tuple[str, str]]:
    return Counter()


def keeper(shelf: Shelf, counted: Counter[tuple[str, str]], most: int = 5000) -> RequestLogWriter:
    def seen(event: str, label: str) -> None:
        counted[event, label] += 1

    return RequestLogWriter(shelf.add, seen, most)


def record(trace_id: str = "t", method: str = "POST", **fields: object) -> AccessRecord:
    plain = {"surface": "banking", "route": "banking.payout_create", "client_id": "cli_a"}
    return AccessRecord(trace_id=trace_id, method=method, **({"status": 200} | plain | fields))  # type: ignore[arg-type]


async def test_a_search_waits_for_lines_being_stored():
    """A trace is often looked up within a second of its call."""
    stored: list[str] = []

    async def add(requests: Sequence[LoggedRequest]) -> None:
        await asyncio.sleep(0)
        stored.extend(each.trace_id for each in requests)

    kept = RequestLogWriter(add, lambda *_: None)
    names = [str(number) for number in range(101)]
    for name in names:
        kept.keep(NOON, record(name), {})
    turn = asyncio.create_task(kept.run_once())
    await asyncio.sleep(0)

    await kept.flush()

    assert stored == names
    await turn


async def test_lines_are_stored_in_batches(shelf: Shelf, counted: Counter[tuple[str, str]]):
    kept = keeper(shelf, counted)
    for number in range(101):
        kept.keep(NOON, record(str(number)), {"a": 1})

    stored = await kept.run_once()

    assert stored == 101
    assert [len(each) for each in shelf.batches] == [100, 1]
    first = shelf.batches[0][0]
    assert (first.trace_id, first.status, first.line) == ("0", 200, '{"a":1}')
    assert counted == {("request_log", "kept"): 101}
    assert await kept.run_once() == 0


@pytest.mark.parametrize(
    ("told", "stored"),
    [
        ({"method": "GET"}, 200),
        ({"method": "GET", "status": 401, "client_id": ""}, 200),
        ({"method": "POST", "status": 401, "client_id": ""}, 200),
        ({"method": "GET", "user_id": "maria", "client_id": ""}, 300),
        ({"method": "POST"}, 300),
    ],
    ids=["read", "stranger", "stranger's post", "a person", "change"],
)
async def test_under_load_only_routine_requests_are_thinned_out(
    shelf: Shelf, counted: Counter[tuple[str, str]], told: dict, stored: int
):
    kept = keeper(shelf, counted)
    for _ in range(300):
        kept.keep(NOON, record(**told), {})

    assert await kept.run_once() == stored
    assert counted["request_log", "thinned"] == 300 - stored
    kept.keep(NOON, record(**told), {})
    assert await kept.run_once() == 1, "the next second has its own"


async def test_refusals_of_one_credential_are_kept_up_to_ten_per_second(
    shelf: Shelf, counted: Counter[tuple[str, str]]
):
    """A looping client costs no more rows; the last row has the number of those left out."""
    kept = keeper(shelf, counted)
    cases = [
        ({"status": 429, "code": "SVC.GTW.008", "reason": "credential"}, 300),
        ({"status": 429, "code": "SVC.GTW.008", "reason": "company"}, 12),
        ({"status": 403, "code": "SVC.AUTH.002", "client_id": "cli_b"}, 11),
        ({"status": 404, "code": "SVC.PIX.001"}, 10),
    ]
    for told, times in cases:
        for _ in range(times):
            kept.keep(NOON, record(**told), {})

    await kept.run_once()

    rows = [each for batch in shelf.batches for each in batch]
    stored = Counter((each.client_id, each.status, each.reason) for each in rows)
    thinned = {each.reason: each.line for each in rows if "thinned" in each.line}
    assert stored == {
        ("cli_a", 429, "credential"): 11,
        ("cli_a", 429, "company"): 11,
        ("cli_b", 403, ""): 11,
        ("cli_a", 404, ""): 10,
    }
    assert thinned == {"credential": '{"thinned":289}', "company": '{"thinned":1}'}
    assert counted == {("request_log", "kept"): 43, ("request_log", "thinned"): 290}


async def test_requests_for_static_files_are_kept_only_when_refused(
    shelf: Shelf, counted: Counter[tuple[str, str]]
):
    """A page fetches a dozen of them, which are of no interest."""
    kept = keeper(shelf, counted)
    for status in (200, 304, 404):
        file = record(str(status), "GET", route="panel.static", client_id="", status=status)
        kept.keep(NOON, file, {})
    kept.keep(NOON, record("badges", "GET", route="panel_pages.badges", user_id="maria"), {})

    await kept.run_once()

    assert [each.trace_id for batch in shelf.batches for each in batch] == ["404"]


async def test_an_expired_session_on_an_open_page_is_not_logged_as_a_refusal(
    shelf: Shelf, counted: Counter[tuple[str, str]]
):
    """A wrong password and a call of the API are kept."""
    kept = keeper(shelf, counted)
    for surface, code in (
        ("panel_pages", "SESSION_REQUIRED"),
        ("panel", "PASSWORD_WRONG"),
        ("backoffice", "SESSION_REQUIRED"),
    ):
        kept.keep(
            NOON, record(surface, "GET", surface=surface, client_id="", status=401, code=code), {}
        )

    await kept.run_once()

    assert [each.trace_id for batch in shelf.batches for each in batch] == ["panel", "backoffice"]


@pytest.mark.parametrize(
    ("asks", "kept"),
    [
        ({"client_id": ""}, ""),
        ({"client_id": "cli_a"}, "account"),
        ({"client_id": "", "user_id": "maria"}, "account"),
    ],
    ids=["stranger", "partner", "person"],
)
def test_an_account_named_by_an_unauthorized_caller_is_not_kept(asks: dict, kept: str):
    """Otherwise operators of a company would find requests of strangers under its account."""
    line = _logged(NOON, record(account_id="account", **asks), {})

    assert line.account_id == kept


async def test_surplus_lines_are_dropped_and_counted(
    shelf: Shelf, counted: Counter[tuple[str, str]]
):
    kept = keeper(shelf, counted, most=2)
    for _ in range(5):
        kept.keep(NOON, record(), {})

    assert await kept.run_once() == 2
    assert counted["request_log", "dropped"] == 3


async def test_a_store_outage_blocks_no_caller(shelf: Shelf, counted: Counter[tuple[str, str]]):
    """Its lines are dropped and counted."""
    kept = keeper(shelf, counted)
    kept.keep(NOON, record(), {})
    shelf.away = True

    with pytest.raises(StoreUnavailable):
        await kept.run_once()

    shelf.away = False
    assert await kept.run_once() == 0
    assert counted == {("request_log", "dropped"): 1}
