"""How the companies of an act are written; the store contract suite asks whose an act is."""

from __future__ import annotations

from gateway.audit.store import written


def test_equal_companies_are_equal_texts():
    cases = [((), ""), (("a",), "a"), (("b", "a"), "a b"), (("a", "b"), "a b")]

    wrong = [(ids, text) for ids, text in cases if written(frozenset(ids)) != text]

    assert wrong == []
