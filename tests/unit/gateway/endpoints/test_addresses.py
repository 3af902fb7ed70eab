"""The address of an endpoint: where a partner may make the gateway call."""

import pytest

from gateway.core.audit_context import RuleViolation
from gateway.endpoints.addresses import read_address

ALLOWED = {
    "https://events.example.com": "https://events.example.com",
    " https://Events.Example.com/Pix?x=1 ": "https://events.example.com/Pix?x=1",
    "https://events.example.com:443/": "https://events.example.com/",
    "https://events.example.com:8443/": "https://events.example.com:8443/",
    "https://bücher.example/": "https://xn--bcher-kva.example/",
}
LOCAL = [
    "http://localhost:9000/events",
    "http://127.0.0.1:9000/events",
    "http://[::1]:9000/events",
    "http://receiver.example:9000/events",
    "https://events.example.com:444/",
    "https://localhost/",
    "https://127.0.0.1/",
    "https://[::1]/",
]
NEVER = [
    "",
    "events.example.com",
    "//events.example.com/",
    "ftp://events.example.com/",
    "https://",
    "https://events/",
    "https://events.example.com./",
    "https://events..example.com/",
    "https://events.example.com:99999/",
    "https://user@events.example.com/",
    "https://user:word@events.example.com/",
    "https://events.example.com\\@inner.example/",
    "https://events.example.com/#part",
    "https://events.example.com#",
    "https://events.example.com/\nx",
    "https://events.example.com/\x00",
    "https://events .example.com/",
    "https://10.0.0.1/",
    "https://203.0.113.7/",
    "https://[2001:db8::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://169.254.169.254/",
    # names that a resolver takes for addresses
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://events.0x7f/",
    f"https://{'a' * 64}.example/",
    f"https://{'a.' * 130}example/",
    f"https://events.example.com/{'a' * 1024}",
]


def is_refused(text: str, *, allow_local: bool = False) -> bool:
    """Say whether an address is refused as it should be: by its field, without a repetition."""
    try:
        read_address(text, allow_local=allow_local)
    except RuleViolation as problem:
        return (problem.reason, problem.field) == ("endpoint_url", "url")
    return False


@pytest.mark.parametrize(("text", "stored"), ALLOWED.items())
def test_an_https_address_with_a_name_is_stored_in_one_spelling(text: str, stored: str):
    assert read_address(text, allow_local=False) == stored
    assert read_address(stored, allow_local=False) == stored


@pytest.mark.parametrize("allow_local", [False, True])
def test_an_invalid_endpoint_address_is_refused(*, allow_local: bool):
    wrong = [text for text in NEVER if not is_refused(text, allow_local=allow_local)]

    assert wrong == []


def test_this_machine_http_and_other_ports_are_for_trials_alone():
    assert [text for text in LOCAL if not is_refused(text)] == []
    assert [read_address(text, allow_local=True) for text in LOCAL] == LOCAL
