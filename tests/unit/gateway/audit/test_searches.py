"""What a search is read from."""

from __future__ import annotations

from gateway.core.windows import Paging
from tests.unit.gateway.http.registers import taken


def test_a_search_is_read_from_the_query():
    wanted = taken("audit", query={"actor": ["cli:*"], "page": ["2"], "limit": ["500"]})["wanted"]

    assert (wanted.actor, wanted.action) == ("cli:*", None)
    assert wanted.paging == Paging(2, 100)
    assert taken("audit", query={"trace_id": ["t-1"]})["wanted"].trace_id == "t-1"
