"""A row: one line of the table, whose parts fit."""

from __future__ import annotations

import pytest

from gateway.banks.port.providers import NotFound, ProviderError, RateLimited
from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.http.route import code_of, route
from tests.world.gateway.listener_client import Said, row


async def test_a_row_reads_runs_and_shows():
    """In this order, the caller handed through."""
    seen: list[object] = []

    async def shout(who: object, said: str) -> str:
        seen.append(who)
        return said.upper()

    document = await row(shout).serve("somebody", RawRequest(path={"word": "hello"}))

    assert (document, seen) == ({"said": "HELLO"}, ["somebody"])


def test_a_row_documents_what_it_shows():
    """By the type that its last function declares."""
    assert row().document is Said


def test_no_cell_has_a_default():
    """What a row does not say must not be decided elsewhere."""
    with pytest.raises(TypeError, match="needs"):
        route("GET", "/", name="a.b", summary="")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("problem", "error"),
    [
        (NotFound("a"), errors.PIX_KEY_NOT_FOUND),
        (RateLimited("a"), errors.PIX_KEYS_UNAVAILABLE),
        (ProviderError("a"), errors.PIX_KEYS_UNAVAILABLE),
        (ValueError("a"), None),
    ],
)
def test_the_nearest_class_decides(problem: Exception, error: ErrorCode | None):
    """In whatever order the table was written."""
    fails = {ProviderError: errors.PIX_KEYS_UNAVAILABLE, NotFound: errors.PIX_KEY_NOT_FOUND}
    backwards = dict(reversed(fails.items()))

    found = [code_of(problem, each) for each in (fails, backwards)]

    assert found == [error, error]
