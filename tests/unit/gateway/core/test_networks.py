"""Whose an address is."""

from __future__ import annotations

import pytest

from gateway.core.networks import network, pool, site


def test_an_ipv6_network_counts_as_one_address():
    """Otherwise an IPv6 network would have as many attempts as addresses."""
    cases = [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix", "unix"),
        ("not:an:address", "not:an:address"),
    ]

    wrong = [(address, known) for address, known in cases if network(address) != known]

    assert wrong == []


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2::7", "2001:db8:1::/48"),
        ("2001:db8:1:ff00::7", "2001:db8:1::/48"),
        ("2001:db8:2::7", "2001:db8:2::/48"),
        ("", ""),
        ("unix", "unix"),
        ("not:an:address", "not:an:address"),
    ],
)
def test_the_site_of_an_address_is_what_one_customer_is_given(address: str, expected: str):
    assert site(address) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("203.0.113.7", "203.0.113.0/24"),
        ("203.0.113.250", "203.0.113.0/24"),
        ("203.0.114.7", "203.0.114.0/24"),
        ("::ffff:203.0.113.7", "203.0.113.0/24"),
        ("2001:db8:1:2::7", "2001:db8:1::/48"),
        ("2001:db8:1:ffff::7", "2001:db8:1::/48"),
        ("2001:db8:2::7", "2001:db8:2::/48"),
        ("", ""),
        ("unix", "unix"),
    ],
)
def test_the_pool_of_an_address_is_its_carrier_network(address: str, expected: str):
    assert pool(address) == expected
