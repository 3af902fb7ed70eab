"""One key of ours in the forms of banks."""

import re

from gateway.core.account import Environment
from provider_adapters.kit import references
from tests.world.tables import cases

ACCOUNT = "0b9f5b0e-6d5c-4a53-9a2b-3f1c4f0f5a11"
KEY = "0123456789abcdef0123456789abcdef"
HERE = Environment.SANDBOX


def test_a_provider_key_as_a_uuid_has_the_same_bytes():
    assert references.uuid_of(KEY) == "01234567-89ab-cdef-0123-456789abcdef"


def test_a_reference_that_is_a_txid_is_tried_before_the_derived_one():
    reference = "Order00000000000000000001042"

    first, second = references.txids(HERE, ACCOUNT, reference)

    assert first == reference
    assert second == references.charge_key(HERE, ACCOUNT, reference)


@cases("reference", ["order-1042", "x" * 25, "x" * 36, "ü" * 30, "a" * 30 + "\n"])
def test_any_other_reference_gets_a_derived_txid(reference: str):
    (derived,) = references.txids(HERE, ACCOUNT, reference)

    assert re.fullmatch(r"[a-z0-9]{26,35}", derived)
    assert re.fullmatch(r"[a-z0-9]{25}", references.static_txid(derived))


def test_environment_account_and_reference_each_change_the_key():
    keys = [
        references.charge_key(HERE, ACCOUNT, "a"),
        references.charge_key(Environment.PRODUCTION, ACCOUNT, "a"),
        references.charge_key(HERE, ACCOUNT[::-1], "a"),
        references.charge_key(HERE, ACCOUNT, "b"),
    ]

    assert len(set(keys)) == len(keys)
