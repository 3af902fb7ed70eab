"""How the companies of an act are written; the store contract suite asks whose an act is."""

from __future__ import annotations

import pytest

from gateway.store.audit.audit_log import written


@pytest.mark.parametrize(
    ("ids", "text"), [((), ""), (("a",), "a"), (("b", "a"), "a b"), (("a", "b"), "a b")]
)
def test_equal_companies_are_equal_texts(ids: tuple[str, ...], text: str):
    assert written(frozenset(ids)) == text
