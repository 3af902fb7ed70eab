"""A walk on its own; the store contract suite walks real chains on both databases."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.audit.walk import Stretch, Walk, check_seal, event_of
from gateway.core.audit import AcceptedBreak, AuditHead
from gateway.store.kernel.chain import BEGINNING, NO_HASH, ChainKeys

KEYS = ChainKeys({"k": b"e" * 32}, {"k": b"h" * 32})


def head(number: int, digest: bytes = NO_HASH) -> AuditHead:
    end = AuditHead(number, digest, "k")
    return AuditHead(number, digest, "k", KEYS.seal(end))


def test_an_empty_log_is_whole():
    Walk(KEYS).end(BEGINNING, 0)


def test_only_an_empty_log_has_a_head_without_a_seal():
    check_seal(KEYS, BEGINNING)

    for unsealed in (AuditHead(5, NO_HASH), AuditHead(0, b"x" * 32)):
        with pytest.raises(ValueError, match=rf"broken at event {unsealed.number + 1}$"):
            check_seal(KEYS, unsealed)


@pytest.mark.parametrize(("last", "number"), [(1, 0), (0, 1)], ids=["one too many", "one missing"])
def test_a_log_that_ends_before_or_after_its_head_is_broken(last: int, number: int):
    with pytest.raises(ValueError, match=r"broken at event 1$"):
        Walk(KEYS).end(head(number), last)


def test_a_log_shorter_than_a_saved_head_is_broken():
    with pytest.raises(ValueError, match="ends at event 0, and had reached event 3"):
        Walk(KEYS, kept=AuditHead(3, b"x" * 32)).end(head(0), 0)


def test_a_row_that_cannot_be_read_is_a_broken_link():
    row: Any = SimpleNamespace(number=1, key_id="k", details="torn", companies="")
    row.at = row.actor = row.action = row.subject = row.trace_id = row.hash = None

    with pytest.raises(ValueError, match=r"broken at event 1$"):
        Walk(KEYS).step(row)


def test_a_head_under_an_unknown_key_names_the_key():
    with pytest.raises(ValueError, match="event 5 is sealed under the key other"):
        check_seal(KEYS, AuditHead(5, NO_HASH, "other", b"x"))


def test_companies_are_read_back():
    row: Any = SimpleNamespace(details="{}", companies="a b")
    row.at = row.actor = row.action = row.subject = row.trace_id = None

    assert event_of(row).companies == {"a", "b"}


def test_an_accepted_break_is_valid_only_after_its_own_event():
    row: Any = SimpleNamespace(number=1, key_id="k", hash=b"x" * 32, at=datetime.now(UTC))
    row.actor = row.action = row.subject = row.trace_id = row.companies = ""
    row.details = "{}"
    stretch = Stretch(1, NO_HASH, ValueError())
    stretch.add(row)
    accepted = AcceptedBreak(
        number=2, at=row.at, found=stretch.until(1, ""), proposed_by="", approved_by="", reason=""
    )
    walk = Walk(KEYS, accepted=[accepted])

    walk.step(row)

    assert walk.number == 1
    with pytest.raises(ValueError, match=r"broken at event 1$"):
        walk.end(head(1, row.hash), 1)
