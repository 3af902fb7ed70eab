"""The surfaces of people put together."""

from __future__ import annotations

import msgspec
import pytest

from gateway.app.surfaces import described_surfaces
from gateway.config.identity import Session
from gateway.config.settings import Settings
from gateway.http.route import Surface
from policies.authentication.bearer import BearerToken
from policies.authentication.session import BrowserCookie, SessionCookie
from policies.traffic.quota import PERSON, WithinPersonQuota


def surfaces(**changed: object) -> dict[str, Surface]:
    """Return every surface by name."""
    settings = msgspec.structs.replace(Settings(), **changed)
    return {each.name: each for each in described_surfaces(settings)}


def test_people_are_at_home_on_three_surfaces():
    found = surfaces()

    prefixes = {name: found[name].prefix for name in ("identity", "keys", "panel")}
    assert prefixes == {"identity": "/iam/v1", "keys": "/.well-known", "panel": "/panel"}


@pytest.mark.parametrize(("insecure", "name"), [(False, "__Host-pixgate"), (True, "pixgate-dev")])
def test_the_cookie_has_its_hardened_name_unless_told_otherwise(insecure: bool, name: str):
    found = surfaces(session=Session(insecure_dev=insecure))

    cookies = {
        policy.form.name
        for surface in found.values()
        for gate in surface.gates
        for policy in gate.policies
        if isinstance(policy, (BrowserCookie, SessionCookie))
    }
    assert cookies == {name}


def test_who_is_known_is_counted_everywhere_in_the_same_buckets():
    """By token or by cookie, once for each call; signing out alone is never refused for it."""
    gates = [gate for surface in surfaces().values() for gate in surface.gates]
    known = [
        gate
        for gate in gates
        if any(isinstance(each, (BearerToken, SessionCookie)) for each in gate.policies)
    ]

    counting = [
        [each for each in gate.policies if isinstance(each, WithinPersonQuota)] for gate in known
    ]

    assert [len(each) for each in counting] == [1] * len(known)
    assert len({id(each) for drawn in counting for each in drawn}) == 1
    free = {row.name for gate in known for row in gate.rows if row.limits.quota != PERSON}
    assert free == {"identity.logout"}


def test_no_challenge_of_people_is_basic():
    """A browser would open a password box of its own."""
    found = surfaces()

    for name in ("identity", "keys", "panel"):
        assert found[name].challenge == 'Bearer realm="iam"'
