"""How the companies of an act are written; the store contract suite asks whose an act is."""

from __future__ import annotations

import pytest
from sqlalchemy.dialects import postgresql

from gateway.store.audit.companies import shown_to, written


@pytest.mark.parametrize(
    ("ids", "text"), [((), ""), (("a",), "a"), (("b", "a"), "a b"), (("a", "b"), "a b")]
)
def test_equal_companies_are_equal_texts(ids: tuple[str, ...], text: str):
    assert written(frozenset(ids)) == text


@pytest.mark.parametrize(
    ("limit", "shown"), [(("a",), ["a", "a"]), (("b", "a"), ["a", "b", "a b"])]
)
def test_who_is_limited_is_shown_each_of_theirs_and_all_together(
    limit: tuple[str, ...], shown: list[str]
):
    """Never the empty text, which is of people without a limit."""
    asked = shown_to(frozenset(limit)).compile(dialect=postgresql.dialect())

    assert list(asked.params.values()) == [shown]
