"""Whose an address is."""

from __future__ import annotations

from gateway.core.networks import network


def test_one_household_is_one_network():
    """Or who has a network of IPv6 would have as many tries as it has addresses."""
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
