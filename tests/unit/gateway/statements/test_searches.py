"""The query of a report."""

from datetime import date

import pytest

from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.windows import LocalWindow, Window
from gateway.reports.texts import Locale
from gateway.statements.model import ReportRequest
from gateway.statements.searches import report_input
from tests.unit.refusals import refusal_of

TAKES = report_input(("csv", "pdf"))
DAYS = {"init": ["2026-01-01"], "ends": ["2026-01-31"]}
JANUARY = Window(date(2026, 1, 1), date(2026, 1, 31))


@pytest.mark.parametrize(("locale", "read"), [(None, ""), ([""], ""), (["pt-BR"], "pt-BR")])
def test_a_report_is_read(locale: list[str] | None, read: str):
    query = {**DAYS, "format": ["csv"], **({} if locale is None else {"locale": locale})}

    found = TAKES.read(RawRequest(path={}, query=query))

    assert found == ReportRequest(window=JANUARY, format="csv", locale=Locale(read))


def test_its_days_may_be_those_of_people():
    query = {**DAYS, "format": ["csv"], "days": ["local"]}

    found = TAKES.read(RawRequest(path={}, query=query))

    assert found.window == LocalWindow(JANUARY.init, JANUARY.ends)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"format": ["csv"]}, errors.FIELD_MISSING),
        (DAYS, errors.FIELD_MISSING),
        ({**DAYS, "format": [""]}, errors.FIELD_MISSING),
        ({**DAYS, "format": ["CSV"]}, errors.PAYLOAD_INVALID),
        ({**DAYS, "format": ["csv", "pdf"]}, errors.PAYLOAD_INVALID),
        ({**DAYS, "format": ["csv"], "locale": ["pt-br"]}, errors.PAYLOAD_INVALID),
        ({**DAYS, "format": ["csv"], "days": ["utc"]}, errors.PAYLOAD_INVALID),
        ({**DAYS, "ends": ["2025-01-01"], "format": ["csv"]}, errors.WINDOW_INVALID),
        ({**DAYS, "ends": ["2026-13-01"], "format": ["csv"]}, errors.DATE_INVALID),
    ],
)
def test_a_report_is_asked_for_exactly(query: dict[str, list[str]], error: ErrorCode):
    assert refusal_of(lambda: TAKES.read(RawRequest(path={}, query=query))) is error
    assert error in TAKES.refuses


def test_the_words_are_documented():
    words = {each.name: each.schema.get("enum") for each in TAKES.parameters}

    assert words == {
        "init": None,
        "ends": None,
        "format": ["csv", "pdf"],
        "locale": ["pt-BR"],
        "days": ["local"],
        "tax_numbers": ["hidden"],
    }
