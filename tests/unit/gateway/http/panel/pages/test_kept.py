"""A form that is kept for the next sign-in: of one person, for one page, without secrets."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from multidict import CIMultiDict

from gateway.core.calls import Call, RawRequest
from gateway.http.panel.pages.kept import SECRETS, KeptForms
from gateway.http.panel.pages.visit import Visit, admit_visitor
from gateway.identity.cookies import DeviceCookies
from gateway.security.sealing import Sealer
from policies.authentication.session import INSECURE, DeviceCookie
from policies.traffic.quota import PERSON

TEMPLATES = Path(__file__).parents[6] / "gateway/panel/templates"
NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
ANA, BIA = str(uuid4()), str(uuid4())
PAGE = "/panel/stops/new"
DEVICES = DeviceCookies([b"k" * 32], lambda: NOON)
KEPT = KeptForms(Sealer({"k": b"s" * 32}, "k"), DeviceCookie(INSECURE, DEVICES.read), lambda: NOON)


def sent(fields: dict[str, str], user_id: str = ANA) -> Call:
    cookie = f"{INSECURE.device}={DEVICES.make(user_id, None)}"
    headers = CIMultiDict({"Cookie": cookie})
    asked = RawRequest(path={}, headers=headers, body=urlencode(fields).encode())
    return Call(asked=asked, needs=None, quota=PERSON)


def opened(header: str, user_id: str = ANA, page: str = PAGE) -> Visit:
    asked = RawRequest(path={}, headers=CIMultiDict({"Cookie": header.partition(";")[0]}))
    visit = admit_visitor(Call(asked=asked, needs=None, quota=PERSON))
    person: Any = SimpleNamespace(user_id=user_id)
    visit.person, visit.address = person, f"{page}?scope=account"
    return visit


def test_a_kept_form_is_shown_to_its_user_on_its_page_for_fifteen_minutes():
    header = KEPT.keep(sent({"reason": "fraude", "code": "123456"}), PAGE, f"{PAGE}/x")
    late = replace(KEPT, now=lambda: NOON + timedelta(minutes=15))
    mine, others = opened(header), opened(header, BIA)
    elsewhere, too_late = opened(header, page="/panel/payouts/new"), opened(header)

    for each in (mine, others, elsewhere):
        KEPT.show(each)
    late.show(too_late)

    assert (mine.form["reason"], mine.form["code"], mine.act) == ("fraude", "", f"{PAGE}/x")
    assert mine.cookies == too_late.cookies == [KEPT.taken]
    assert [each.form["reason"] for each in (others, elsewhere, too_late)] == ["", "", ""]
    assert "fraude" not in header


def test_a_form_that_cannot_be_kept_is_dropped():
    unknown = sent({"reason": "fraude"})
    unknown.asked.headers.clear()
    before = sent({"reason": "fraude"})
    before.quota = "anonymous"
    large = sent({"reason": "".join(str(uuid4()) for _ in range(300))})
    no_form = sent({"reason": "fraude"})
    no_form.asked.body = b"\xff"
    calls = (unknown, before, large, no_form)

    assert [KEPT.keep(each, PAGE, PAGE) for each in calls] == ["", "", "", ""]


def test_an_invalid_kept_form_is_ignored():
    for value in ("x", "AAAA", "é"):
        visit = opened(f"pixgate-typed={value}")
        KEPT.show(visit)
        assert visit.problem is None


def test_kept_forms_ask_for_bank_credentials_again():
    visit = opened(KEPT.keep(sent({"credentials": "secret"}), PAGE, PAGE))

    KEPT.show(visit)

    assert (visit.form["credentials"], visit.form["had_credentials"]) == ("", "yes")


def test_every_secret_field_of_a_template_is_known():
    pages = "".join(each.read_text("utf-8") for each in TEMPLATES.rglob("*.html"))
    secret = r'type="password"|one-time-code|id="credentials"'
    tags = re.findall(r"<(?:input|textarea)[^>]*>", pages)
    fields = [tag for tag in tags if re.search(secret, tag)]
    names = {re.search(r'name="(\w+)"', tag)[1] for tag in fields}

    assert len(names) > 5
    assert names <= set(SECRETS)
