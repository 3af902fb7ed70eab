"""What a mapping gives for the claims of a token."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gateway.core.rights import Role
from gateway.single_sign_on.claims import is_factor_proven, roles_given
from gateway.single_sign_on.model import IdentityProvider, RoleValue
from tests.world.stores import samples

PROVIDER = IdentityProvider(
    company_id=samples.COMPANY,
    short_name="loja",
    domains=("loja.example.com",),
    issuer="https://sso.example.com",
    client_id="pixgate",
    scopes=(),
    claim="realm_access.roles",
    mapping=(
        RoleValue("ops", Role.OPERATOR),
        RoleValue("ops", Role.VIEWER),
        RoleValue("boss", Role.APPROVER),
    ),
    factor_acr=("2",),
    factor_amr=("otp",),
    break_glass=(),
    changed_at=samples.NOW,
    changed_by="cli",
)


@pytest.mark.parametrize(
    ("claims", "roles"),
    [
        ({"realm_access": {"roles": ["ops", "x"]}}, {Role.OPERATOR, Role.VIEWER}),
        ({"realm_access.roles": "boss"}, {Role.APPROVER}),
        ({"realm_access": {"roles": ["OPS", 7, None]}}, set()),
        ({"realm_access": "ops"}, set()),
        ({"roles": ["ops"]}, set()),
        ({}, set()),
    ],
)
def test_the_mapping_gives_roles_for_its_own_values_alone(claims: dict, roles: set[Role]):
    assert roles_given(PROVIDER, claims) == roles


@pytest.mark.parametrize(
    ("claims", "proven"),
    [
        ({"acr": "2"}, True),
        ({"amr": ["pwd", "otp"]}, True),
        ({"acr": "1", "amr": ["pwd"]}, False),
        ({"acr": ["2"], "amr": None}, False),
        ({}, False),
    ],
)
def test_a_second_factor_is_proven_in_words_that_the_company_trusts(claims: dict, proven: bool):
    assert is_factor_proven(PROVIDER, claims) is proven
    nothing = replace(PROVIDER, factor_acr=(), factor_amr=())
    assert is_factor_proven(nothing, claims) is False
