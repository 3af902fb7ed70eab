"""Reports of an account."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from gateway.banks.port.providers import Unavailable
from gateway.core import user_errors
from gateway.core.audit_context import RuleViolation
from gateway.core.calls import RawRequest
from gateway.core.storage import StoreUnavailable
from gateway.http.backoffice.callers import AccountCaller
from gateway.http.route import Row
from gateway.reports.formats import FORMATS
from gateway.reports.texts import Locale
from gateway.statements.model import Report, ReportRequest
from gateway.statements.routes import report, routes
from tests.unit.gateway.http.backoffice.surface import OFFICE, ROWS, becomes, line
from tests.unit.gateway.statements.linked_statements import at
from tests.unit.refusals import refused
from tests.world.payouts import OneBank, ScriptedBank

DAYS = {"init": ["2026-01-01"], "ends": ["2026-01-31"]}


def test_the_rows_are_those_decided():
    assert line("report") == ("GET", "/report", "report:read", 200)
    assert line("statement") == ("GET", "/transactions", "transaction:read", 200)


@pytest.mark.parametrize("name", ["report", "statement"])
def test_a_failure_has_the_rows_own_code(name: str):
    assert becomes(name, Unavailable("a")) == "statement_unavailable"
    assert becomes(name, StoreUnavailable()) == "store_unavailable"


def test_a_report_may_have_every_media_type():
    assert ROWS["backoffice.report"].media == tuple(each.media_type for each in FORMATS.values())


class Writer:
    """Reports of the test's own."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.problem = problem
        self.asked: list[ReportRequest] = []

    async def make(self, _account: object, asked: ReportRequest) -> Report:
        self.asked.append(asked)
        if self.problem:
            raise self.problem
        return Report(file_name="a.csv", media_type="text/csv", content=b"a")


def reporting(writer: Writer) -> Row[AccountCaller]:
    statements = replace(at(OneBank(ScriptedBank())), reports=writer)  # type: ignore[arg-type]
    return routes(statements).visible[-1]


async def test_a_report_is_made_as_it_is_asked_for():
    writer = Writer()
    query = {**DAYS, "format": ["csv"], "locale": ["pt-BR"]}

    shown = await reporting(writer).serve(OFFICE, RawRequest(path={}, query=query))

    (asked,) = writer.asked
    assert (asked.format, asked.locale) == ("csv", Locale.PT_BR)
    assert asked.window.ends == date(2026, 1, 31)
    assert shown.content == b"a"


async def test_what_is_not_possible_is_told_in_its_own_words():
    """Operators read the sentence; nobody else ever sees one."""
    writer = Writer(RuleViolation("more than 20000 movements: ask for fewer days"))
    query = {**DAYS, "format": ["csv"]}

    with refused(user_errors.NOT_POSSIBLE) as refusal:
        await reporting(writer).serve(OFFICE, RawRequest(path={}, query=query))
    assert refusal.value.detail == "More than 20000 movements: ask for fewer days."


def test_a_report_is_a_file_to_be_kept():
    shown = report(Report(file_name="a.csv", media_type="text/csv", content=b"a"), OFFICE)

    assert (shown.content, shown.content_type) == (b"a", "text/csv")
    assert shown.headers["Content-Disposition"] == 'attachment; filename="a.csv"'
