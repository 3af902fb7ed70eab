"""The routes of companies, as they are declared."""

from tests.unit.gateway.http.surface import ROWS, line


def test_the_routes_are_those_decided():
    assert line("companies") == ("GET", "/companies", "company:read", 200)
    assert line("company") == ("GET", "/companies/{company_id}", "company:read", 200)
    assert line("company_create") == ("POST", "/companies", "company:manage", 201)
    assert ROWS["backoffice.company"].tells_version
