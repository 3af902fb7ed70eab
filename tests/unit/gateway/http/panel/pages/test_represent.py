"""Pages as answers: their redirects, and their headers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from multidict import CIMultiDict

from gateway.core.account import Environment
from gateway.http.admission import Shed
from gateway.http.panel.pages.page import Redirect
from gateway.http.panel.pages.represent import HEADERS, PageResponses
from gateway.http.route import RefusedPath
from tests.unit.gateway.http.panel.pages.visit import visit

NOTHING: Any = None
RESPONSES = PageResponses(
    templates=NOTHING,
    navigation=NOTHING,
    badges=NOTHING,
    holders={},
    environment=Environment.SANDBOX,
    idle=timedelta(minutes=15),
    kept=NOTHING,
    origin=NOTHING,
)


@pytest.mark.parametrize("to", ["https://evil.example", "//evil.example", "/panelx", ""])
async def test_a_form_redirects_only_to_our_pages(to: str):
    answer = await RESPONSES.answer(Redirect(to), visit())

    assert answer.headers["Location"] == "/panel"


async def test_a_configured_csp_report_address_is_in_the_headers():
    collector = "https://reports.example/csp"
    told = await replace(RESPONSES, reports=collector).answer(Redirect("/panel"), visit())
    silent = await RESPONSES.answer(Redirect("/panel"), visit())

    policy = told.headers["Content-Security-Policy"]
    assert policy.startswith(HEADERS["Content-Security-Policy"])
    assert policy.endswith(f"; report-to csp; report-uri {collector}")
    assert told.headers["Reporting-Endpoints"] == f'csp="{collector}"'
    assert "report" not in " ".join([*silent.headers, *silent.headers.values()])


@pytest.mark.parametrize(
    ("language", "says"), [("pt-BR", "Nada foi feito."), ("en", "Nothing was done.")]
)
def test_an_overloaded_process_answers_without_a_template(language: str, says: str):
    at = RefusedPath(
        target="/panel",
        is_read=True,
        trace_id="<b>",
        headers=CIMultiDict({"Accept-Language": language}),
    )

    answer = RESPONSES.refuse(Shed("loop_lag"), None, at)

    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
    assert answer.headers.items() >= HEADERS.items()
    assert says in answer.content.decode()
    assert b"<b>" not in answer.content


def test_pages_forbid_caching_and_framing():
    """A page has money and secrets; its buttons must not be clicked through another page."""
    policy = dict(each.split(maxsplit=1) for each in HEADERS["Content-Security-Policy"].split(";"))

    assert HEADERS["Cache-Control"] == "no-store"
    assert HEADERS["Referrer-Policy"] == "same-origin"
    assert policy["frame-ancestors"] == policy["default-src"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
