"""Records in bytes: nothing is lost, little is taken, and no secret is opened for it."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from gateway.domain.accounts.accounts import Account, BankCoordinates
from gateway.domain.accounts.credentials import (
    EVERY_PERMISSION,
    Credential,
    CredentialLimits,
    SecretDigest,
)
from gateway.domain.kernel.money import Money
from gateway.runtime.records.packed_records import (
    AccountPacking,
    CredentialPacking,
    PackedRecords,
    lengthened,
    shortened,
)

AT = datetime(2026, 11, 20, 12, 34, 56, 789012, tzinfo=UTC)
COMPANY = "00000000-0000-4000-8000-00000000000c"
ACCOUNT = Account(
    id="00000000-0000-4000-8000-00000000000a",
    company_id=COMPANY,
    name="Padaria São João Ltda",
    tax_number="11222333000181",
    active=True,
    verified=False,
    provider="sandbox",
    provider_account="0b5c2f6e-7f50-4bb0-9d3a-4f0a8f1c5d11",
    sealed_credentials=bytes(range(90)),
    coordinates=BankCoordinates(
        bank_number="341", ispb="60701190", branch="0001", account="12345678-9"
    ),
    created_at=AT,
)
CREDENTIAL = Credential(
    client_id="cli_abcdefghijklmnopqrst",
    company_id=COMPANY,
    account_id=None,
    name="ERP",
    permissions=frozenset(EVERY_PERMISSION[:4]),
    secrets=(SecretDigest(key_id="p", digest=bytes(32), created_at=AT),),
    created_at=AT,
)
OLDER = SecretDigest(
    key_id="q",
    digest=bytes(range(32)),
    created_at=AT - timedelta(days=9),
    expires_at=AT + timedelta(hours=1),
    last_used_at=AT.replace(second=0, microsecond=0),
)


def test_an_account_comes_back_as_it_was():
    accounts = [
        ACCOUNT,
        replace(ACCOUNT, active=False, verified=True, certificate_ends_at=AT),
        replace(ACCOUNT, company_id="padaria", provider="", sealed_credentials=b""),
        replace(ACCOUNT, coordinates=BankCoordinates(), provider_account="é" * 300),
    ]
    for account in accounts:
        packed = PackedRecords(AccountPacking(), 10)
        packed.put(account.id, account, 1.25)

        assert packed.get(account.id) == (account, 1.25)


def test_a_credential_comes_back_as_it_was():
    credentials = [
        CREDENTIAL,
        replace(CREDENTIAL, account_id=ACCOUNT.id, permissions=frozenset(), secrets=()),
        replace(CREDENTIAL, secrets=(*CREDENTIAL.secrets, OLDER), expires_at=AT, revoked_at=AT),
        replace(CREDENTIAL, limits=CredentialLimits(per_payout=Money(1), per_day=None)),
        replace(CREDENTIAL, limits=CredentialLimits(per_payout=None, per_day=Money(10**12))),
        replace(CREDENTIAL, permissions=frozenset(EVERY_PERMISSION)),
    ]
    for credential in credentials:
        packed = PackedRecords(CredentialPacking(), 10)
        packed.put(credential.client_id, credential, 0.5)

        assert packed.get(credential.client_id) == (credential, 0.5)


KEYS = [
    COMPANY,
    COMPANY.replace("c", "C"),
    COMPANY.replace("-", ""),
    COMPANY.replace("-", " "),
    COMPANY[:-1] + "\u0664",
    "",
    "cli_abcdefghijklmnopqrst",
    "\0" * 17,
    "\ud800",
]


def test_no_two_keys_are_taken_for_one():
    """What only looks like somebody's id finds nothing of his."""
    different = set(KEYS)

    assert len({shortened(key) for key in different}) == len(different)
    assert [lengthened(shortened(key)) for key in KEYS] == KEYS


def test_the_oldest_go_and_the_newest_stay():
    packed = PackedRecords(AccountPacking(), 1000)
    ids = [str(UUID(int=number)) for number in range(5000)]

    for each in ids:
        packed.put(each, ACCOUNT, 0.0)
        assert len(packed) <= 1000

    assert [packed.get(each) is not None for each in ids[-700:]] == [True] * 700
    assert not any(packed.get(each) for each in ids[:4000])


def test_a_record_that_is_put_again_is_one_and_the_newest():
    packed = PackedRecords(AccountPacking(), 2)
    packed.put("a", ACCOUNT, 1.0)
    packed.put("b", ACCOUNT, 2.0)
    packed.put("a", ACCOUNT, 3.0)

    assert (len(packed), packed.get("a")) == (2, (replace(ACCOUNT, id="a"), 3.0))


def test_what_is_dropped_is_gone():
    packed = PackedRecords(AccountPacking(), 10)
    packed.put(ACCOUNT.id, ACCOUNT, 1.0)

    assert list(packed.keys()) == [ACCOUNT.id]
    assert [packed.drop(ACCOUNT.id), packed.drop(ACCOUNT.id)] == [True, False]
    assert packed.get(ACCOUNT.id) is None


def test_a_packed_account_takes_at_most_400_bytes():
    packed = PackedRecords(AccountPacking(), 100_000)
    ids = [str(UUID(int=number)) for number in range(5000)]

    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for each in ids:
            packed.put(each, ACCOUNT, 1.0)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (after - before) / len(ids) <= 400
