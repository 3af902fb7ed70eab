"""The routes of accounts, as they are declared."""

import json

from gateway.accounts.model import NAMED_AT_MOST, NamesRequest, ProviderRequest
from gateway.core.user_errors import VALIDATION_FAILED
from tests.unit.gateway.http.registers import taken
from tests.unit.gateway.http.surface import gate_of, line
from tests.unit.refusals import refusal_of


def test_the_routes_are_those_decided():
    assert line("accounts") == ("GET", "/accounts", "account:read", 200)
    assert line("account_create") == ("POST", "/accounts", "account:write", 201)
    assert line("account") == ("GET", "", "account:read", 200)
    assert line("account_change") == ("PATCH", "", "account:write", 200)
    assert line("account_provider") == ("PUT", "/provider", "provider:write", 200)
    assert line("account_provider_test") == ("POST", "/provider/test", "provider:write", 200)
    assert line("names") == ("POST", "/names/lookup", "account:read", 200)
    assert line("bank_numbers") == ("GET", "/bank-numbers", "payout:read", 200)


def test_an_account_that_is_switched_off_can_be_switched_on():
    """The gate asks whether it is shown, not whether it may act."""
    assert "VisibleAccount" in gate_of("account_change")
    assert "AccountState" not in gate_of("account_change")


def test_no_more_ids_than_a_page_has():
    def read(count: int) -> NamesRequest:
        body = json.dumps({"ids": ["a"] * count}).encode()
        found: NamesRequest = taken("names", body=body, content_type="application/json")["wanted"]
        return found

    assert read(NAMED_AT_MOST).ids == ["a"] * NAMED_AT_MOST
    assert refusal_of(lambda: read(NAMED_AT_MOST + 1)) is VALIDATION_FAILED


def test_what_a_bank_asks_for_is_entered_by_field_or_as_one_text():
    for given in ({"client_id": "id"}, "line\nbreak"):
        body = json.dumps({"provider": "sandbox", "credentials": given}).encode()
        read: ProviderRequest = taken(
            "account_provider", body=body, content_type="application/json"
        )["wanted"]
        assert read.credentials == given
