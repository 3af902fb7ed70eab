"""Windows and pages as they are asked for (contract part 8)."""

from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.core.windows import Paging, Search, Window
from policies.validation.search import search
from tests.unit.refusals import refusal_of, refused

GOOD = {"init": ["2026-01-01"], "ends": ["2026-01-31"]}
MISSING, FORM = errors.FIELD_MISSING, errors.DATE_INVALID
RANGE, NUMBER = errors.WINDOW_INVALID, errors.NUMBER_INVALID


def asking(**query: Sequence[str] | None) -> RawRequest:
    """The good query, with other values; None leaves a parameter out."""
    wanted = {**GOOD, **query}
    return RawRequest(path={}, query={name: v for name, v in wanted.items() if v is not None})


def test_the_default_is_page_one_with_a_limit_of_25():
    assert search(asking()) == Search(
        Window(date(2026, 1, 1), date(2026, 1, 31)), Paging(page=1, limit=25)
    )


@pytest.mark.parametrize("ends", ["2026-01-01", "2026-03-31"], ids=["1 day", "90 days"])
def test_the_window_includes_both_days(ends: str):
    assert search(asking(ends=[ends])).window == Window(date(2026, 1, 1), date.fromisoformat(ends))


@pytest.mark.parametrize(
    ("asked", "used"),
    [("1", 1), ("25", 25), ("100", 100), ("101", 100), ("9" * 18, 100), ("007", 7)],
)
def test_a_limit_over_100_counts_as_100(asked: str, used: int):
    assert search(asking(limit=[asked])).paging.limit == used


@pytest.mark.parametrize("page", ["1", "2", "9" * 18])
def test_any_page_from_one_on_is_accepted(page: str):
    assert search(asking(page=[page])).paging.page == int(page)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"init": None}, MISSING),
        ({"ends": None}, MISSING),
        ({"init": None, "ends": None}, MISSING),
        ({"init": [""]}, MISSING),
        ({"ends": [""]}, MISSING),
        ({"init": []}, MISSING),
        ({"init": ["2026-1-01"]}, FORM),
        ({"ends": ["20260131"]}, FORM),
        ({"ends": ["2026-02-30"]}, FORM),
        ({"ends": ["2026-01-3\u0661"]}, FORM),
        ({"init": [" 2026-01-01"]}, FORM),
        ({"init": ["2026-01-01\n"]}, FORM),
        ({"init": ["2026-01-01", "2026-01-01"]}, FORM),
        ({"ends": ["2026-01-31", ""]}, FORM),
        ({"init": ["", ""]}, FORM),
        ({"ends": ["2025-12-31"]}, RANGE),
        ({"ends": ["2026-04-01"]}, RANGE),
        ({"ends": ["9999-12-31"]}, RANGE),
        *(
            ({name: [value]}, NUMBER)
            for name in ("page", "limit")
            for value in ("", "0", "-1", "+1", " 1", "1.0", "1e1", "1_0", "x", "9" * 19, "\u0661")
        ),
        ({"page": ["1", "1"]}, NUMBER),
        ({"limit": ["1", "2"]}, NUMBER),
        ({"page": []}, NUMBER),
    ],
    ids=ascii,
)
def test_each_invalid_query_has_its_error_code(
    query: dict[str, Sequence[str] | None], error: ErrorCode
):
    with refused(error):
        search(asking(**query))


# From the check that comes first to the one that comes last.
MISTAKES: list[tuple[dict[str, Sequence[str] | None], ErrorCode]] = [
    ({"ends": None}, MISSING),
    ({"init": ["x"]}, FORM),
    ({"init": ["2026-01-02"], "ends": ["2026-01-01"]}, RANGE),
    ({"page": ["0"]}, NUMBER),
    ({"limit": ["0"]}, NUMBER),
]


@pytest.mark.parametrize("first", range(len(MISTAKES)))
def test_the_first_failed_check_determines_the_error(first: int):
    """Required, then form, then range, then page and limit."""
    query: dict[str, Sequence[str] | None] = {}
    for wrong, _ in reversed(MISTAKES[first:]):
        query |= wrong

    with refused(MISTAKES[first][1]):
        search(asking(**query))


def test_an_invalid_page_is_reported_before_an_invalid_limit():
    with refused(NUMBER) as refusal:
        search(asking(page=["0"], limit=["0"]))
    assert refusal.value.field == "page"


@pytest.mark.parametrize(
    ("query", "field", "reason"),
    [
        ({"init": []}, "init", "missing"),
        ({"ends": [""]}, "ends", "missing"),
        ({"init": ["2026-1-1"]}, "init", "date_form"),
        ({"ends": ["2026-01-01"] * 2}, "ends", "repeated"),
        ({"init": ["2026-02-02"], "ends": ["2026-02-01"]}, "ends", "window_backwards"),
        ({"init": ["2026-01-01"], "ends": ["2026-04-01"]}, "ends", "window_long"),
        ({"limit": ["x"]}, "limit", "positive_integer"),
        ({"limit": ["1", "1"]}, "limit", "repeated"),
    ],
)
def test_the_invalid_query_parameter_is_named(query: dict[str, list[str]], field: str, reason: str):
    with pytest.raises(ServiceError) as refusal:
        search(asking(**query))

    assert (refusal.value.field, refusal.value.reason) == (field, reason)


def test_unknown_parameters_are_ignored():
    assert search(asking(sort=["x"], Init=["x"])) == search(asking())


@given(st.dates(), st.integers(-5, 95), st.integers(0, 10**18), st.integers(0, 10**18))
def test_a_search_matches_its_query(init: date, days: int, page: int, limit: int):
    try:
        ends = init + timedelta(days=days)
    except OverflowError:
        return
    query = asking(init=[str(init)], ends=[str(ends)], page=[str(page)], limit=[str(limit)])

    refusal = refusal_of(lambda: search(query))

    if not 0 <= days <= 89:
        assert refusal is RANGE
    elif not (0 < page < 10**18 and 0 < limit < 10**18):
        assert refusal is NUMBER
    else:
        assert search(query) == Search(Window(init, ends), Paging(page, min(limit, 100)))


@given(st.dictionaries(st.sampled_from(["init", "ends", "page", "limit"]), st.lists(st.text())))
def test_any_query_is_read_or_refused_with_a_listed_error(query: dict[str, list[str]]):
    refusal = refusal_of(lambda: search(RawRequest(path={}, query=query)))

    assert refusal in {None, MISSING, FORM, RANGE, NUMBER}
