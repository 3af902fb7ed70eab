"""The dispatch table."""

from __future__ import annotations

import pytest

from gateway.http.table import Table
from tests.world.gateway.listener_client import route, surface

ROUTES = (
    route(path="/a"),
    route(path="/a/{word}"),
    route(path="/a/{word}", method="DELETE"),
    route(path="/a/{word}/b/{other}"),
    route(path="/a/fixed"),
)


def table() -> Table:
    return Table([surface(*ROUTES)])


@pytest.mark.parametrize(
    ("path", "template", "values"),
    [
        ("/v1/a", "/v1/a", {}),
        ("/v1/a/x", "/v1/a/{word}", {"word": "x"}),
        ("/v1/a/fixed", "/v1/a/fixed", {}),
        ("/v1/a/x/b/y", "/v1/a/{word}/b/{other}", {"word": "x", "other": "y"}),
        ("/v1/a/x%2Fy", "/v1/a/{word}", {"word": "x/y"}),
        ("/v1/a/%252F", "/v1/a/{word}", {"word": "%2F"}),
        ("/v1/a/%C3%A9+", "/v1/a/{word}", {"word": "é+"}),
        ("/v1/a/%", "/v1/a/{word}", {"word": "%"}),
        ("/v1/a/%FF", "/v1/a/{word}", {"word": "\udcff"}),
        ("/v1/a/..", "/v1/a/{word}", {"word": ".."}),
        ("/v1/a/{}", "/v1/a/{word}", {"word": "{}"}),
        ("/v1/a/{word}", "/v1/a/{word}", {"word": "{word}"}),
    ],
)
def test_a_path_is_matched_to_its_route(path: str, template: str, values: dict[str, str]):
    """A parameter is one segment, decoded once."""
    found = table().find(path)

    assert found is not None
    assert found.places["GET"].template == template
    assert dict(found.path) == values


@pytest.mark.parametrize(
    "path",
    ["", "/", "/v1", "/v1/", "/v1/a/", "/v1//a", "//v1/a", "/v1/a/x/", "/v1/a//b/y", "/v1/a/x/b",
     "/v1/a/x/b/y/z", "/V1/a", "/v1/%61", "v1/a", "/v1/{word}", "/v1/{}"],
)  # fmt: skip
def test_an_unknown_path_is_not_matched(path: str):
    """An extra slash makes another path; fixed segments are never decoded."""
    assert table().find(path) is None


def test_a_fixed_step_takes_precedence_over_a_parameter():
    """``/a/fixed/b/y`` is not ``/a/{word}/b/{other}``: each segment is one dictionary look-up."""
    assert table().find("/v1/a/fixed/b/y") is None


def test_a_get_route_answers_head():
    found = table().find("/v1/a/x")

    assert found is not None
    assert found.allow == "DELETE, GET, HEAD"
    assert found.places["HEAD"] is found.places["GET"]


def test_two_routes_with_one_method_and_path_are_refused():
    """Whatever their parameters are called."""
    with pytest.raises(ValueError, match="declared twice"):
        Table([surface(route(path="/a/{word}"), route(path="/a/{other}"))])


def test_every_route_is_listed_once():
    """Without HEAD."""
    listed = [place.route for place in table().places()]

    assert len(listed) == len(ROUTES)
    assert set(map(id, listed)) == set(map(id, ROUTES))
