"""Where a request comes from, by the word of our own proxies alone."""

from ipaddress import ip_network

from gateway.net.server.peer import forwarded_address, is_within, read_address, without_mapping

PEER = "10.0.0.9"
TRUSTED = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


def test_a_forwarded_address_is_read_in_every_form_of_proxies():
    expected = {
        "192.0.2.1": "192.0.2.1",
        "192.0.2.1:5000": "192.0.2.1",
        "2001:DB8::1": "2001:db8::1",
        "[2001:db8::1]": "2001:db8::1",
        "[2001:db8::1]:5000": "2001:db8::1",
        "::ffff:192.0.2.1": "192.0.2.1",
        "[::ffff:192.0.2.1]:80": "192.0.2.1",
    }

    assert {text: read_address(text) for text in expected} == expected


def test_invalid_forwarded_addresses_are_refused():
    others = [
        *("", " ", "unknown", "_hidden", "client.example", "unix:", '"192.0.2.1"', "192.0.2"),
        *("192.0.2.1:", "192.0.2.1:x", "192.0.2.1:٣", "[192.0.2.1]", "[2001:db8::1", "[::1]x"),
        *("[::1]:", "fe80::1%eth0", "192.0.2.1 192.0.2.2", "1" * 5000, "\udcff", "192.0.2.01"),
    ]

    assert [text for text in others if read_address(text) is not None] == []


def test_the_rightmost_untrusted_forwarded_address_is_the_client():
    """Several lines are one list (RFC 9110, part 5.3); what a client wrote is further left."""
    expected = [
        (["203.0.113.7"], "203.0.113.7"),
        (["198.51.100.1, 203.0.113.7"], "203.0.113.7"),
        (["198.51.100.1", "203.0.113.7"], "203.0.113.7"),
        (["203.0.113.7, 10.1.1.1"], "203.0.113.7"),
        (["203.0.113.7", "10.1.1.1, fd00::2"], "203.0.113.7"),
        (["203.0.113.7:4711 ,\t10.1.1.1:80"], "203.0.113.7"),
        (["2001:db8::7, [fd00::2]:443"], "2001:db8::7"),
        (["10.2.2.2, 10.1.1.1"], "10.2.2.2"),
    ]

    found = [(lines, forwarded_address(lines, PEER, TRUSTED)) for lines, _ in expected]

    assert found == expected


def test_an_invalid_address_ends_the_chain():
    """The last trusted hop is used, and nothing beyond the gap."""
    expected = [
        ([], PEER),
        ([""], PEER),
        (["203.0.113.7,"], PEER),
        (["203.0.113.7, unknown"], PEER),
        (["203.0.113.7, unknown, 10.1.1.1"], "10.1.1.1"),
        (["203.0.113.7, , 10.1.1.1"], "10.1.1.1"),
        (["x" * 8000], PEER),
    ]

    found = [(lines, forwarded_address(lines, PEER, TRUSTED)) for lines, _ in expected]

    assert found == expected


def test_a_very_long_chain_of_proxies_is_not_followed_to_its_end():
    endless = ["10.0.0.1," * 800 + "10.0.0.1"] * 60

    assert forwarded_address(endless, PEER, TRUSTED) == "10.0.0.1"


def test_addresses_within_trusted_networks_are_recognised():
    addresses = ("10.9.9.9", "fd00::1", "11.0.0.1", "", "unix:")

    assert [each for each in addresses if is_within(each, TRUSTED)] == ["10.9.9.9", "fd00::1"]


def test_an_ipv4_address_mapped_to_ipv6_is_shown_as_ipv4():
    """A listener on ``::`` receives IPv4 callers as IPv6 addresses."""
    expected = {
        "::ffff:10.0.0.1": "10.0.0.1",
        "10.0.0.1": "10.0.0.1",
        "fd00::1": "fd00::1",
        "": "",
        "::ffff:nonsense": "::ffff:nonsense",
    }

    assert {shown: without_mapping(shown) for shown in expected} == expected
