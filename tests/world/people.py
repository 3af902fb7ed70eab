"""A company with two accounts, another company, and what they send."""

from __future__ import annotations

import json

from multidict import CIMultiDict

from gateway.core.access import Staff
from gateway.core.account import Account, BankCoordinates
from gateway.core.audit_context import AuditContext
from gateway.core.calls import Call, Caller, RawRequest
from gateway.core.permissions import EVERY_PERMISSION, Permission, Principal
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from tests.world.standing import NOON

COMPANY = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a01"
OTHER_COMPANY = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02"
ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
SISTER = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c02"
CLIENT = "cli_abcdefghijklmnopqrst"
CLI = Staff(AuditContext("cli", lambda: NOON))
"""Whoever types a command."""


def account(
    account_id: str = ACCOUNT,
    *,
    company_id: str = COMPANY,
    active: bool = True,
    verified: bool = True,
) -> Account:
    """An account at the bank called ``sandbox``."""
    return Account(
        id=account_id,
        company_id=company_id,
        name="Padaria São João Ltda",
        tax_number="11222333000181",
        active=active,
        verified=verified,
        provider="sandbox",
        provider_account="conta-1",
        sealed_credentials=b"",
        coordinates=BankCoordinates(),
        created_at=NOON,
    )


def principal(
    account_id: str | None = None,
    *,
    permissions: frozenset[Permission] = frozenset(EVERY_PERMISSION),
) -> Principal:
    """A caller of the company; of one account where that is given."""
    return Principal(
        client_id=CLIENT, company_id=COMPANY, account_id=account_id, permissions=permissions
    )


def caller() -> Caller:
    return Caller(principal(), account())


def call(asked: RawRequest | None = None, **fields: object) -> Call:
    """A request before its policies, by default of a row without requirements."""
    plain = {"asked": asked or RawRequest(path={}, address="203.0.113.7"), "needs": None}
    return Call(**{"quota": "read", **plain, **fields})  # type: ignore[arg-type]


def posted(body: object, **fields: object) -> RawRequest:
    """A JSON body as a partner posts it; bytes and text travel as they are."""
    if isinstance(body, str):
        content = body.encode("utf-8", "surrogatepass")
    else:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return RawRequest(path={}, body=content, **{"content_type": "application/json", **fields})  # type: ignore[arg-type]


def somebody(*roles: Role, **fields: object) -> SignedInUser:
    """A person who signed in at noon with a second factor, by default."""
    plain: dict[str, object] = {
        "user_id": "3d0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a03",
        "email": "maria@example.com",
        "name": "Maria",
        "roles": frozenset(roles or {Role.ADMIN}),
        "companies": frozenset(),
        "session_id": "4d0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a04",
        "factor_at": NOON,
        "has_factor": True,
        "networks": ("203.0.113.0/24",),
    }
    return SignedInUser(**{**plain, **fields})  # type: ignore[arg-type]


def headed(*lines: tuple[str, str]) -> RawRequest:
    """A request with these headers, an Authorization among them or not."""
    headers = CIMultiDict(lines)
    return RawRequest(
        path={},
        headers=headers,
        authorization=headers.getall("Authorization", ()),
        content_type=headers.get("Content-Type"),
        address="203.0.113.7",
    )
