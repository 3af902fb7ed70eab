"""Rules of where a credential may be used."""

from __future__ import annotations

from hashlib import sha256

import pytest

from gateway.core.caller_rules import (
    ANYWHERE,
    UNDECIDED,
    CallerRule,
    read_certificates,
    read_networks,
)

CERTIFICATE = b"a certificate in DER"
SHOWN = sha256(CERTIFICATE).hexdigest()
OFFICE = CallerRule(networks=("192.0.2.0/24", "2001:db8::/32"))
MACHINE = CallerRule(certificates=(SHOWN,))
BOTH = CallerRule(networks=OFFICE.networks, certificates=(SHOWN,))


@pytest.mark.parametrize(
    ("rule", "address", "certificate", "reason"),
    [
        (ANYWHERE, "198.51.100.1", b"", ""),
        (UNDECIDED, "198.51.100.1", CERTIFICATE, "no_caller_rule"),
        (OFFICE, "192.0.2.255", b"", ""),
        (OFFICE, "2001:db8::7", b"", ""),
        (OFFICE, "192.0.3.0", b"", "network"),
        (OFFICE, "", b"", "network"),
        (OFFICE, "unix", CERTIFICATE, "network"),
        (MACHINE, "", CERTIFICATE, ""),
        (MACHINE, "192.0.2.1", b"", "certificate"),
        (MACHINE, "192.0.2.1", b"another", "certificate"),
        (BOTH, "192.0.2.1", CERTIFICATE, ""),
        (BOTH, "192.0.2.1", b"another", "certificate"),
        (BOTH, "192.0.3.1", CERTIFICATE, "network"),
    ],
)
def test_a_caller_is_checked_by_network_and_certificate(
    rule: CallerRule, address: str, certificate: bytes, reason: str
):
    assert rule.refusal(address, lambda: certificate) == reason


def test_a_certificate_is_read_only_when_the_rule_pins_one():
    """Reading a certificate takes twenty times as long as comparing an address."""

    def read() -> bytes:
        pytest.fail("nobody asked for a certificate")

    refusals = [rule.refusal("192.0.2.1", read) for rule in (ANYWHERE, UNDECIDED, OFFICE)]

    assert refusals == ["", "no_caller_rule", ""]
    assert BOTH.refusal("198.51.100.1", read) == "network"


@pytest.mark.parametrize(
    ("old", "new", "wider"),
    [
        (UNDECIDED, OFFICE, True),
        (UNDECIDED, ANYWHERE, True),
        (ANYWHERE, OFFICE, False),
        (OFFICE, ANYWHERE, True),
        (OFFICE, OFFICE, False),
        (OFFICE, BOTH, False),
        (BOTH, OFFICE, True),
        (BOTH, MACHINE, True),
        (MACHINE, BOTH, False),
        (MACHINE, CallerRule(certificates=("ab" * 32,)), True),
        (OFFICE, CallerRule(networks=("192.0.2.128/25",)), False),
        (OFFICE, CallerRule(networks=("192.0.2.0/23",)), True),
        (OFFICE, CallerRule(networks=("192.0.2.1/32", "198.51.100.1/32")), True),
        (
            CallerRule(networks=("192.0.2.0/25", "192.0.2.128/25")),
            CallerRule(networks=("192.0.2.0/24",)),
            False,
        ),
    ],
)
def test_a_rule_that_admits_more_callers_is_wider(old: CallerRule, new: CallerRule, wider: bool):
    assert old.widened_by(new) is wider


def test_networks_are_normalised():
    read = read_networks([" 192.0.2.77/24", "192.0.2.0/24", "2001:DB8::1"])

    assert read == ("192.0.2.0/24", "2001:db8::1/128")


@pytest.mark.parametrize(
    "texts",
    [
        ["0.0.0.0/0"],
        ["::/0"],
        ["office"],
        [""],
        ["192.0.2.1/33"],
        [f"10.0.0.{n}" for n in range(51)],
    ],
)
def test_an_invalid_or_unlimited_network_is_refused(texts: list[str]):
    with pytest.raises(ValueError):  # noqa: PT011 - any text of it
        read_networks(texts)


def test_fingerprints_are_normalised():
    assert read_certificates([":".join(["AB"] * 32), "ab" * 32]) == ("ab" * 32,)


@pytest.mark.parametrize("texts", [["ab"], ["zz" * 32], [f"{n:064x}" for n in range(6)]])
def test_an_invalid_fingerprint_is_refused(texts: list[str]):
    with pytest.raises(ValueError):  # noqa: PT011 - any text of it
        read_certificates(texts)
