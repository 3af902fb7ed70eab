"""The route of the search, as it is declared."""

from tests.unit.gateway.http.surface import line


def test_the_route_is_the_one_decided():
    assert line("search") == ("POST", "/search", "payout:read", 200)
