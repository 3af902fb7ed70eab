"""What management takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from gateway.core.calls import RawRequest
from gateway.core.user_errors import NOT_FOUND, VALIDATION_FAILED
from gateway.core.windows import Paging
from policies.validation.backoffice import inputs
from policies.validation.backoffice.inputs import Filters
from tests.unit.refusals import refusal_of, refused


class Said(msgspec.Struct):
    reason: str = ""


def asked(body: str) -> RawRequest:
    return RawRequest(path={}, content_type="application/json", body=body.encode())


def given(**query: str) -> Filters:
    return Filters(RawRequest(path={}, query={name: [value] for name, value in query.items()}))


@pytest.mark.parametrize(
    ("query", "field", "reason"),
    [
        ({"since": ["today"]}, "since", "form"),
        ({"since": ["a", "b"]}, "since", "repeated"),
        ({"page": ["0"]}, "page", "positive_integer"),
        ({"limit": ["0"]}, "limit", "positive_integer"),
    ],
)
def test_the_invalid_filter_is_named(query: dict[str, list[str]], field: str, reason: str):
    found = Filters(RawRequest(path={}, query=query))

    with refused(VALIDATION_FAILED) as refusal:
        found.paging()
        found.instant("since")

    assert (refusal.value.field, refusal.value.reason) == (field, reason)


@pytest.mark.parametrize("text", ["", "x", "\udcff", "a\x00", "1" * 36])
def test_a_malformed_id_is_not_found(text: str):
    reader = inputs.of_path("user_id")

    assert refusal_of(lambda: reader.read(RawRequest(path={"user_id": text}))) is NOT_FOUND


def test_an_id_is_read_case_insensitively():
    text = "3D0C8F6E-3d57-4a6d-9f53-0d4d5a0f7a03"

    read = inputs.of_path("user_id").read(RawRequest(path={"user_id": text}))

    assert read == text.lower()


def test_a_path_parameter_and_a_body_are_read_together():
    one, path = inputs.word_of_path("one"), {"one": "1"}
    came = asked('{"reason": "r"}')
    came.path = path

    assert inputs.both(one, Said).read(came) == ("1", Said("r"))
    assert inputs.both(one, Said).read(RawRequest(path=path)) == ("1", Said())
    assert inputs.both(one, Said).may_be_absent


def test_filters_are_read():
    found = given(since="2026-11-20T09:00:00-03:00", actor="a", after="7", page="3", limit="900")

    assert found.instant("since") == datetime(2026, 11, 20, 12, tzinfo=UTC)
    assert (found.text("actor"), found.whole("after")) == ("a", 7)
    assert found.paging() == Paging(3, 100)
    assert found.text("absent") is None


@pytest.mark.parametrize(
    "text", ["", "today", "2026-11-20", "2026-11-20T09:00:00", "2026-13-20T09:00:00Z", "1"]
)
def test_a_malformed_instant_is_refused(text: str):
    assert refusal_of(lambda: given(since=text).instant("since")) is VALIDATION_FAILED


def test_an_instant_beyond_the_calendar_is_refused():
    """In any zone: never with an error of ours."""
    edge = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))).isoformat()

    assert refusal_of(lambda: given(since=edge).instant("since")) is VALIDATION_FAILED


@pytest.mark.parametrize("name", ["page", "limit"])
@pytest.mark.parametrize("text", ["0", "", "-1", "1.0", "x", "٣", "1" * 19])
def test_an_invalid_page_or_limit_is_refused(name: str, text: str):
    assert refusal_of(given(**{name: text}).paging) is VALIDATION_FAILED


def test_a_repeated_parameter_is_refused():
    found = Filters(RawRequest(path={}, query={"actor": ["a", "b"]}))

    assert refusal_of(lambda: found.text("actor")) is VALIDATION_FAILED


def test_filters_are_documented():
    shown = [
        inputs.text_filter("a", "x"),
        inputs.whole_filter("b", "x"),
        inputs.instant_filter("c", "x"),
        *inputs.PAGING,
    ]

    assert [each.name for each in shown] == ["a", "b", "c", "page", "limit"]
    assert not any(each.required for each in shown)


def test_a_search_passes_its_filters_by_name():
    """Each by its own reader, a text without one; paging is included if requested."""
    filters = (inputs.text_filter("name", ""), inputs.whole_filter("most", ""))
    paged = inputs.search(dict, *filters, most=int)
    whole = inputs.search(dict, *filters, is_paged=False, most=int)
    request = RawRequest(path={}, query={"name": ["a"], "most": ["5"], "page": ["2"]})

    assert paged.read(request) == {"paging": Paging(2, 25), "name": "a", "most": 5}
    assert [each.name for each in paged.parameters] == ["name", "most", "page", "limit"]
    assert [each.name for each in whole.parameters] == ["name", "most"]
    assert whole.read(RawRequest(path={}))["name"] is None
