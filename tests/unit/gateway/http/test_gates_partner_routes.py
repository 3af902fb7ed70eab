"""The ten rows, against the contract's own table."""

from __future__ import annotations

import pytest

from gateway.banks.port.providers import BadReply, NotFound, NotSupported, Unavailable, Unreachable
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.storage import StoreUnavailable
from gateway.http.route import code_of
from gateway.http.routing import BODY_BYTES
from tests.world.surfaces import usual_surfaces

ROWS = [row for row in usual_surfaces()[0].gates[0].rows]  # noqa: C416 - typed
BY_NAME = {row.name: row for row in ROWS}

CONTRACT = [
    ("GET", "/balance", "balance:read", "read"),
    ("GET", "/pix/keys", "pix_key:read", "read"),
    ("GET", "/pix/keys/{key_id}", "pix_key:read", "read"),
    ("GET", "/pix/qrcode/{reference}", "qrcode:read", "read"),
    ("GET", "/pix/transactions/{reference}", "transaction:read", "read"),
    ("GET", "/transactions", "transaction:read", "read"),
    ("POST", "/withdraw", "withdraw:write", "payout"),
    ("GET", "/withdraw/{reference}", "withdraw:read", "read"),
    ("GET", "/withdraws", "withdraw:read", "read"),
    ("DELETE", "/withdraw/{reference}", "withdraw:write", "payout"),
]


def test_the_routes_are_the_contracts():
    """Contract 4.1."""
    found = [
        (
            row.method,
            row.path.removeprefix("/account/{account_id}"),
            str(row.needs),
            row.limits.quota,
        )
        for row in ROWS
    ]

    assert sorted(found) == sorted(CONTRACT)


@pytest.mark.parametrize(
    ("name", "failed", "absent"),
    [
        ("banking.balance", errors.BALANCE_UNAVAILABLE, None),
        ("banking.pix_keys", errors.PIX_KEYS_UNAVAILABLE, None),
        ("banking.pix_key", errors.PIX_KEYS_UNAVAILABLE, errors.PIX_KEY_NOT_FOUND),
        ("banking.qrcode", errors.CHARGE_UNAVAILABLE, errors.CHARGE_NOT_FOUND),
        ("banking.pix_transaction", errors.TRANSACTION_UNAVAILABLE, errors.TRANSACTION_NOT_FOUND),
        ("banking.statement", errors.STATEMENT_UNAVAILABLE, None),
    ],
)
def test_a_failing_provider_has_the_endpoints_code(
    name: str, failed: ErrorCode, absent: ErrorCode | None
):
    """Contract 4.1; a provider that lacks the operation counts as not configured."""
    row = BY_NAME[name]

    for problem in (Unavailable("a"), Unreachable("a"), BadReply("a")):
        assert code_of(problem, row.fails) is failed
    assert code_of(NotFound("a"), row.fails) is (absent or failed)
    assert code_of(NotSupported("a"), row.fails) is errors.PROVIDER_NOT_CONFIGURED


@pytest.mark.parametrize(
    "name",
    ["banking.payout_create", "banking.payout", "banking.payouts", "banking.payout_cancel"],
)
def test_a_failing_store_is_our_failure(name: str):
    assert code_of(StoreUnavailable("a"), BY_NAME[name].fails) is errors.INTERNAL


def test_one_row_alone_reads_a_body():
    """64 KiB."""
    assert {row.name: row.limits.body_bytes for row in ROWS if row.limits.body_bytes} == {
        "banking.payout_create": BODY_BYTES
    }
    assert BODY_BYTES == 65_536


def test_windows_and_pages_are_taken_by_the_two_lists():
    taking = {row.name for row in ROWS if row.takes.parameters}

    assert taking == {"banking.statement", "banking.payouts"}
