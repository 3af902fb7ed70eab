"""Credentials: their versions, and the documents that never hold a secret."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from gateway.core.approvals import CREDENTIALS, ApprovalKind
from gateway.core.caller_rules import ANYWHERE, UNDECIDED, CallerRule
from gateway.core.money import MAX_CENTAVOS, Money
from gateway.core.permissions import UNLIMITED, CredentialLimits, Permission
from gateway.credentials.model import (
    CallersChange,
    CredentialIssue,
    CredentialOrder,
    CredentialRotation,
    LimitsChange,
    propose,
)
from tests.unit.gateway.http.surface import CLOCK, STAFF
from tests.world.stores.samples import NOW, credential, secret


def test_using_a_credential_keeps_its_version_and_a_new_secret_changes_it():
    used = replace(credential(), secrets=(replace(secret(), last_used_at=NOW),))
    rotated = replace(credential(), secrets=(secret(b"n" * 32), secret()))

    assert used.version() == credential().version()
    assert rotated.version() != credential().version()


def test_a_document_holds_no_digest():
    found = replace(credential(), secrets=(secret(b"n" * 32), secret()))

    shown = found.to_document(STAFF.staff)

    assert (shown["state"], shown["live_secrets"]) == ("live", 2)
    assert b"n" * 32 not in [*shown.values()]
    assert "digest" not in str(shown)
    assert "limit_per_day" not in shown


def test_only_a_paying_credential_needs_a_caller_rule():
    pays = frozenset({Permission.parse("withdraw:write")})
    reads = frozenset({Permission.parse("balance:read")})

    without = {
        held: replace(credential(), permissions=held, callers=UNDECIDED) for held in (pays, reads)
    }

    assert without[pays].care(NOW) == "no_caller_rule"
    assert without[reads].care(NOW) != "no_caller_rule"
    assert without[pays].principal.callers == UNDECIDED
    assert without[reads].principal.callers == ANYWHERE


@pytest.mark.parametrize(
    ("sums", "median", "limit"),
    [
        ([], UNSET, UNSET),
        ([700], 700, 2100),
        ([9, 1, 5], 5, 15),
        ([1, 2], 1, 4),  # of one and a half centavos
        ([MAX_CENTAVOS] * 2, MAX_CENTAVOS, MAX_CENTAVOS),
    ],
)
def test_the_proposed_daily_limit_is_three_times_the_median_day(
    sums: list[int], median: Any, limit: Any
):
    found = propose(sums)

    assert found.days == len(sums)
    assert [
        getattr(each, "centavos", each) for each in (found.median_day, found.limit_per_day)
    ] == [
        median,
        limit,
    ]


def test_a_revoked_credential_has_no_live_secret():
    assert replace(credential(), revoked_at=NOW).live_secrets(CLOCK.now()) == 0


LIMITS = CredentialLimits(per_payout=Money(1050), per_day=None)
CALLERS = CallerRule(networks=("192.0.2.0/24",), certificates=("ab" * 32,))
ORDERS: list[CredentialOrder] = [
    CredentialIssue(
        name="ERP ção",
        company_id="c",
        account_id="a",
        permissions=["withdraw:write"],
        expires_at=NOW,
        limits=LIMITS,
        callers=CALLERS,
    ),
    CredentialIssue(name="n", company_id="c", permissions=[], limits=UNLIMITED),
    CredentialRotation(client_id="cli_a", name="ERP", overlap_s=60, secret_made_at=NOW),
    LimitsChange(client_id="cli_a", name="ERP", limits=LIMITS, limits_before=UNLIMITED),
    CallersChange(client_id="cli_a", name="ERP", callers=CALLERS, callers_before=UNDECIDED),
]


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_is_read_back_unchanged(order: CredentialOrder):
    written = msgspec.json.encode(order)

    assert msgspec.json.decode(written, type=CredentialOrder) == order


def test_there_is_a_sample_order_of_each_kind():
    assert {ApprovalKind(str(each.__struct_config__.tag)) for each in ORDERS} == CREDENTIALS
