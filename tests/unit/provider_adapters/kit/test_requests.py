"""Requests to a bank, put together from their parts."""

import msgspec
import pytest

from gateway.banks.client.messages import Kind
from gateway.banks.port.providers import Refused
from provider_adapters.kit import requests
from tests.world.tables import cases

HEADERS = {"Authorization": "secret"}
READ = requests.get("get_charge", "/charges/{id}", HEADERS, {"of": "a b"}, id="a/../b")


def test_path_segments_and_query_are_escaped():
    assert READ.path == "/charges/a%2F..%2Fb?of=a%20b"
    assert (READ.method, READ.kind, READ.headers) == ("GET", Kind.READ, HEADERS)


@cases("step", ["", ".", "..", "\ud800"])
def test_a_path_segment_leading_elsewhere_is_refused(step: str):
    with pytest.raises(Refused):
        requests.get("get_charge", "/charges/{id}", HEADERS, id=step)


def test_text_that_is_not_unicode_is_refused():
    with pytest.raises(Refused):
        requests.get("get_charge", "/charges", HEADERS, {"of": "\ud800"})
    with pytest.raises(Refused):
        requests.sending(READ, {"name": "\ud800"})


@cases("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_change_uses_the_path_of_its_read_request(method):
    sent = requests.sending(READ, {"value": 1}, method)

    assert (sent.method, sent.path, sent.body) == (method, READ.path, b'{"value":1}')
    assert (sent.operation, sent.headers, sent.kind) == ("get_charge", HEADERS, Kind.READ)


def test_a_change_may_have_no_document():
    assert requests.sending(READ).body == b""


def test_a_payout_is_a_post_with_its_key_in_a_header():
    order = requests.get("create_payout", "/payouts", HEADERS)

    paid = requests.paying(order, {"value": 1}, "key", header="Idempotency-Key")

    assert (paid.method, paid.kind) == ("POST", Kind.PAYOUT)
    assert paid.headers == {**HEADERS, "Idempotency-Key": "key"}


def test_a_payout_may_be_a_put_only_to_the_path_of_its_key():
    named = requests.get("create_payout", "/payouts/{id}", HEADERS, id="key")
    other = requests.get("create_payout", "/payouts/{id}", HEADERS, id="another")

    assert requests.paying(named, {"value": 1}, "key", method="PUT").kind is Kind.PAYOUT
    with pytest.raises(ValueError, match="our key"):
        requests.paying(other, {"value": 1}, "key", method="PUT")


@cases(
    "made",
    [lambda read: read, requests.sending, lambda read: requests.paying(read, {"value": 1}, "key")],
)
def test_a_request_has_the_account_and_credential_of_its_limits(made):
    read = requests.get("get_balance", "/balance", HEADERS, account_id="a")
    shared = msgspec.structs.replace(read, credential="application")

    assert (made(read).account, made(read).credential) == ("a", "")
    assert (made(shared).account, made(shared).credential) == ("a", "application")
