"""E-mail addresses and networks."""

import pytest

from gateway.domain.strict import Malformed
from gateway.operations.identity.addresses import as_typed, email, network


@pytest.mark.parametrize(
    "text", ["maria@example.com", " Maria@Example.COM ", "m+a.r@sub.example.com.br"]
)
def test_an_address_is_known_in_lower_case(text: str):
    assert email(text) == text.strip().lower()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "maria",
        "@example.com",
        "maria@",
        "maria@example",
        "a@b@example.com",
        "maria@exa mple.com",
        "maria@-example.com",
        "mária@example.com",
        "maria@example.com\nx",
        f"{'a' * 65}@example.com",
        f"a@{'b.' * 126}com",
    ],
)
def test_what_is_no_address_is_refused(text: str):
    """Among them two at-signs: an address is matched whole, or not at all."""
    with pytest.raises(Malformed):
        email(text)


def test_what_is_typed_at_the_door_is_read_as_it_is_kept():
    assert as_typed(" Maria@Example.COM ") == "maria@example.com"


@pytest.mark.parametrize(
    ("address", "known"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix", "unix"),
    ],
)
def test_one_household_is_one_network(address: str, known: str):
    """Or who has a network of IPv6 would have as many tries as it has addresses."""
    assert network(address) == known
