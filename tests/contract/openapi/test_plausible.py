"""
What the examples say is possible: a mock server answers with them.

The files among them are compared with what their writers make of the same records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any, Final

import pytest

from gateway.audit.model import AuditDocument
from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.core.account import BankCoordinates, Environment
from gateway.core.errors import CATALOGUE
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.http.introduction import codes
from gateway.payouts import report_file as payouts
from gateway.reports import csv, ofx
from gateway.reports import json as json_report
from gateway.reports.document import Document
from gateway.request_log import report_file as requests
from gateway.request_log.model import LoggedRequest
from tests.world.documents import SURFACES

_FIRST_SECONDS: Final = 1_000_000_000
"""Of September 2001; every number of seconds in the examples is of a later day."""
_AT: Final = datetime(2026, 11, 20, 13, 40, 11, tzinfo=UTC)
_ID: Final = "6f1c2f0e-5d3a-4b7e-9c1d-2a4f6b8c0d1e"
_TRACE: Final = "5f0c7b7e-8c0a-4f0e-9a53-6f4f1f1d2c3b"


def examples() -> Iterator[tuple[str, str, Any]]:
    """Return every example of a body, with its schema and place."""
    for name, each in SURFACES.items():
        for place in each.places:
            shown = each.operation(place)
            for part in (shown.get("requestBody", {}), *shown["responses"].values()):
                for content in part.get("content", {}).values():
                    forms = content.get("examples", {}).values()
                    where = f"{name} {place.route.name}"
                    schema = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
                    for form in [form["value"] for form in forms] or [content["example"]]:
                        yield where, schema, form


def fields(part: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Return every plain value with the name of its field."""
    if isinstance(part, Mapping):
        for word, each in part.items():
            yield from fields(each, word)
    elif isinstance(part, list):
        for each in part:
            yield from fields(each, name)
    else:
        yield name, part


def is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


IMPOSSIBLE: Final[Mapping[str, Callable[[str, Any], bool]]] = {
    "seconds of no such day": lambda name, value: (
        name.endswith("_at") and is_whole(value) and value < _FIRST_SECONDS
    ),
    "a status of no answer": lambda name, value: (
        name in {"status", "http_status"} and is_whole(value) and not 100 <= value <= 599
    ),
    "an end-to-end id of another length": lambda name, value: (
        name in {"e2e_id", "return_id"} and len(value) not in {0, 32}
    ),
}


def test_examples_have_plausible_times_statuses_and_end_to_end_ids():
    wrong = [
        (where, name, value, word)
        for where, _, shown in examples()
        for name, value in fields(shown)
        for word, finds in IMPOSSIBLE.items()
        if finds(name, value)
    ]

    assert wrong == []


def shown_as(schema: str) -> list[Any]:
    """Return the examples of answers and requests of a schema, of every document."""
    found = [shown for _, name, shown in examples() if name == schema]
    assert found, schema
    return found


def test_an_error_code_is_one_of_the_catalogue():
    """With the statuses and the message of the catalogue."""
    known = codes(CATALOGUE)

    for listed in shown_as("ErrorCodeList"):
        assert listed["data"]
        assert all(each in known for each in listed["data"])


def with_codes(part: Any) -> Iterator[Mapping[str, Any]]:
    """Return every object that has both a whole status and a code."""
    if isinstance(part, Mapping):
        if is_whole(part.get("status")) and "code" in part:
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from with_codes(each)


def test_a_refused_request_has_the_status_of_its_code():
    statuses = {each["code"]: each["status"] for each in codes(CATALOGUE)}
    found = [each for _, _, shown in examples() for each in with_codes(shown)]

    assert found
    assert [each for each in found if each["status"] not in statuses[each["code"]]] == []


def example_of(operation: str, media: str = "application/json") -> Any:
    office = SURFACES["backoffice"]
    (place,) = [each for each in office.places if each.route.name == f"backoffice.{operation}"]
    return office.operation(place)["responses"]["200"]["content"][media]["example"]


def test_an_example_answer_matches_its_order():
    """The examples of request and answer have the same values."""
    orders = {
        word: each["value"]["reference"]
        for word, each in _content("banking.payout_create", None)["examples"].items()
    }
    answers = {
        word: each["value"]["reference"]
        for word, each in _content("banking.payout_create", "200")["examples"].items()
    }

    assert orders == {word: answers[word] for word in orders}


def _content(operation: str, status: str | None) -> Mapping[str, Any]:
    """Return the body of a request, or of an answer with a status, of the partners' document."""
    partners = SURFACES["banking"]
    (place,) = [each for each in partners.places if each.route.name == operation]
    shown = partners.operation(place)
    part = shown["requestBody"] if status is None else shown["responses"][status]
    found: Mapping[str, Any] = part["content"]["application/json"]
    return found


ENTRY: Final = Entry(
    provider_id="5000000000000007",
    e2e_id="E0000000020261120134011abcdefghi",
    direction=Direction.CREDIT,
    is_pix=True,
    value=Money(1050),
    description="Order 1042",
    counterparty=Party(name="Maria Silva", tax_number="52998224725"),
    created_at=_AT,
    kind=MovementKind.PIX,
)
REPORT: Final = Document(
    account_id=_ID,
    holder=Party(name="Loja Exemplo Ltda", tax_number="11222333000181"),
    coordinates=BankCoordinates(
        bank_number="341", ispb="60701190", branch="0001", account="123456-7"
    ),
    environment=Environment.SANDBOX,
    window=Window(date(2026, 11, 20), date(2026, 11, 20)),
    entries=(ENTRY,),
    balance=Balance(balance=Money(101050), blocked=Money(0), updated_at=_AT),
    opening=Money(100000),
    closing=Money(101050),
    generated_at=_AT,
)


@pytest.mark.parametrize(
    ("media", "written"),
    [
        ("text/csv", csv.pieces(REPORT, [REPORT.entries])),
        ("application/x-ofx", ofx.pieces(REPORT, [REPORT.entries])),
    ],
)
def test_the_example_report_matches_the_gateway_s(media: str, written: Iterator[bytes]):
    assert example_of("report", media) == b"".join(written).decode()


def test_the_example_json_report_matches_the_gateway_s():
    assert example_of("report") == json.loads(json_report.write(REPORT))


def test_the_example_table_of_requests_matches_the_gateway_s():
    found = LoggedRequest(
        at=_AT,
        trace_id=_TRACE,
        surface="banking",
        route="banking.balance",
        method="GET",
        status=403,
        code="SVC.AUT.010",
        reason="scope",
        client_id="cli_mfrggzdfmztwq2lknnwg",
        user_id="",
        company_id=_ID,
        account_id=_ID,
        duration_us=2_134,
        line="{}",
    )

    assert example_of("requests_export", "text/csv").encode() == (
        requests.HEAD + requests.lines([found])
    )


def test_a_table_of_payouts_has_its_columns():
    head, line, end = example_of("payouts_export", "text/csv").split("\r\n")

    assert f"{head}\r\n".encode() == payouts.HEAD
    assert (len(line.split(";")), end) == (len(head.split(";")), "")


def test_an_exported_audit_line_has_every_field_of_an_act():
    line, end = example_of("audit_export", "application/x-ndjson").split("\n")

    assert (set(json.loads(line)), end) == (set(AuditDocument.__struct_fields__), "")


def test_the_example_answer_to_an_order_has_the_order_s_method():
    """An order by key has an answer by key, and one to a bank account likewise."""
    office = SURFACES["backoffice"]
    shown = {
        each.route.name.partition(".")[2]: office.operation(each)
        for each in office.places
        if each.route.name in {"backoffice.withdraw_pix", "backoffice.withdraw_bank"}
    }
    told = {
        name: [
            form["value"]
            for form in each["responses"]["200"]["content"]["application/json"]["examples"].values()
        ]
        for name, each in shown.items()
    }

    assert {name: [each["method"] for each in forms] for name, forms in told.items()} == {
        "withdraw_pix": ["pix"],
        "withdraw_bank": ["bank_account"],
    }
    for name, (answer,) in told.items():
        sent = shown[name]["requestBody"]["content"]["application/json"]["example"]["destination"]
        assert sent.items() <= answer["destination"].items()
