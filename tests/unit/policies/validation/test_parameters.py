"""Parameters that a route does not know."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gateway.core import errors
from gateway.core.calls import Call, RawRequest
from policies.validation.backoffice.inputs import PAGING
from policies.validation.parameters import KnownParameters
from tests.unit.refusals import refused


def calling(**query: Sequence[str]) -> Call:
    return Call(asked=RawRequest(path={}, query=query), needs=None, quota="", parameters=PAGING)


@pytest.mark.parametrize("query", [{}, {"page": ["1"]}, {"limit": [""], "page": ["x", "y"]}])
def test_known_query_parameters_are_accepted(query: dict[str, list[str]]):
    """Their values are checked when they are read."""
    KnownParameters()(calling(**query))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("trace", "trace"),
        ("a" * 40, "a" * 40),
        ("a" * 41, ""),
        ("Page", ""),
        ("page\n", ""),
        ("<b>", ""),
        ("", ""),
        ("\udcff", ""),
    ],
)
def test_an_unknown_query_parameter_is_refused_and_named_when_it_looks_like_ours(
    name: str, told: str
):
    with refused(errors.PAYLOAD_INVALID) as refusal:
        KnownParameters()(calling(page=["1"], **{name: ["secret"]}))

    assert (refusal.value.reason, refusal.value.field) == ("unknown_parameter", told)
