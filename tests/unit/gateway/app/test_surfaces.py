"""Every room of a process, and the surfaces in front of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gateway.app.surfaces import described_surfaces
from gateway.config.identity import Session
from gateway.config.settings import Settings
from gateway.config.upstream import Provider
from gateway.core import errors
from gateway.core.account import Environment
from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from gateway.http.route import Surface
from policies.authentication.bearer import BearerToken
from policies.authentication.session import BrowserCookie, SessionCookie
from policies.traffic.quota import PERSON, WithinPersonQuota
from policies.validation.parameters import KnownParameters
from tests.world.people import caller


def test_unknown_parameters_are_refused_on_the_back_office_alone():
    """In every place of the back office; partners and pages may send unknown ones."""
    cases = [
        *(("banking", False), ("identity", False), ("panel", False)),
        ("backoffice", True),
    ]

    for surface, refuses in cases:
        (found,) = [each for each in described_surfaces(Settings()) if each.name == surface]

        asking = [
            any(isinstance(policy, KnownParameters) for policy in gate.policies)
            for gate in found.gates
            if gate.scheme
        ]

        assert asking == [refuses] * len(asking)


def test_errors_have_field_and_reason_on_all_but_the_banking_surface():
    """Contract 2.2 has three fields, which partners and banks get."""
    for surface in described_surfaces(Settings()):
        people = {"identity", "panel", "panel_pages", "backoffice"}

        assert surface.explains is (surface.name in people)


async def test_describing_surfaces_opens_no_file_or_connection(tmp_path: Path):
    """In production too, and with invalid providers."""
    wrong = {"far": Provider(adapter="unknown")}
    settings = Settings(var=str(tmp_path), environment=Environment.PRODUCTION, providers=wrong)
    routes = {route.name: route for route in described_surfaces(settings)[0].gates[0].routes}

    with pytest.raises(ServiceError) as refused:
        await routes["banking.balance"].serve(caller(), RawRequest(path={}))

    assert refused.value.error is errors.PROVIDER_NOT_CONFIGURED
    assert list(tmp_path.iterdir()) == []


def surfaces(**changed: object) -> dict[str, Surface]:
    settings = msgspec.structs.replace(Settings(), **changed)
    return {each.name: each for each in described_surfaces(settings)}


def test_three_surfaces_serve_users():
    found = surfaces()

    prefixes = {name: found[name].prefix for name in ("identity", "keys", "panel")}
    assert prefixes == {"identity": "/iam/v1", "keys": "/.well-known", "panel": "/panel"}


@pytest.mark.parametrize(("insecure", "name"), [(False, "__Host-pixgate"), (True, "pixgate-dev")])
def test_the_cookie_has_its_hardened_name_by_default(insecure: bool, name: str):
    found = surfaces(session=Session(insecure_dev=insecure))

    cookies = {
        policy.form.name
        for surface in found.values()
        for gate in surface.gates
        for policy in gate.policies
        if isinstance(policy, (BrowserCookie, SessionCookie))
    }
    assert cookies == {name}


def test_authenticated_users_share_one_quota_on_every_surface():
    """By token or cookie, once for each call; signing out and proofs are never limited."""
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
    free = {route.name for gate in known for route in gate.routes if route.limits.quota != PERSON}
    proving = ("step_up", "step_up_passkey", "passkey_options")
    proofs = {f"{surface}.{each}" for surface in ("identity", "panel") for each in proving}
    assert free == {"identity.logout", *proofs}


def test_production_shows_no_mail():
    """Links in mails open accounts, so only their recipients may read them."""
    settings = msgspec.structs.replace(Settings(), environment=Environment.PRODUCTION)

    names = {
        route.name
        for surface in described_surfaces(settings)
        for gate in surface.gates
        for route in gate.routes
    }

    assert "backoffice.mailbox" not in names
    assert "backoffice.audit" in names
