"""A credential is used where its rule says, and nowhere else."""

from __future__ import annotations

from hashlib import sha256

import msgspec
import pytest

from gateway.core import errors
from gateway.core.caller_rules import ANYWHERE, UNDECIDED, CallerRule
from gateway.core.calls import Call, RawRequest
from policies.authorization.credential import FromAllowedCaller
from tests.unit.refusals import refused
from tests.world.people import call, principal

OFFICE = CallerRule(networks=("192.0.2.0/24",))
CERTIFICATE = b"a certificate in DER"
MACHINE = CallerRule(certificates=(sha256(CERTIFICATE).hexdigest(),))


def used(rule: CallerRule, address: str, certificate: bytes = b"") -> Call:
    made = call(RawRequest(path={}, address=address, certificate=lambda: certificate))
    made.principal = msgspec.structs.replace(principal(), callers=rule)
    return made


@pytest.mark.parametrize(
    "asking",
    [
        used(ANYWHERE, "198.51.100.1"),
        used(OFFICE, "192.0.2.7"),
        used(MACHINE, "198.51.100.1", CERTIFICATE),
    ],
)
def test_a_caller_that_matches_the_rule_is_accepted(asking: Call):
    noted: list[tuple[str, str]] = []

    FromAllowedCaller(lambda *use: noted.append(use))(asking)

    assert noted == []


@pytest.mark.parametrize(
    ("rule", "reason"),
    [(OFFICE, "network"), (MACHINE, "certificate"), (UNDECIDED, "no_caller_rule")],
)
def test_a_caller_that_does_not_match_the_rule_is_refused_and_noted(rule: CallerRule, reason: str):
    noted: list[tuple[str, str]] = []

    with refused(errors.PERMISSION_DENIED) as refusal:
        FromAllowedCaller(lambda *use: noted.append(use))(used(rule, "198.51.100.1"))

    assert (refusal.value.error.status, refusal.value.reason) == (403, reason)
    assert noted == [(principal().client_id, "198.51.100.1")]


def test_a_call_without_a_principal_is_refused():
    """A gate that forgot authentication must not be open."""
    with refused(errors.PERMISSION_DENIED):
        FromAllowedCaller(lambda *_use: None)(call())
