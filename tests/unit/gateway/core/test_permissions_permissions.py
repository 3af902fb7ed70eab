"""Permissions: five resources, three actions, the higher covers the lower; and events."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.permissions import EVERY_PERMISSION, Action, Permission, Resource

# Written out: the contract's words (5.2), not ours repeated.
WORDS = {
    "balance": Resource.BALANCE,
    "transaction": Resource.TRANSACTION,
    "withdraw": Resource.WITHDRAW,
    "pix_key": Resource.PIX_KEY,
    "qrcode": Resource.QRCODE,
}
COVERED = {"read": {"read"}, "write": {"read", "write"}, "manage": {"read", "write", "manage"}}


def test_there_are_five_resources_with_three_actions_each_and_events_to_be_read():
    names = {f"{resource}:{action}" for resource in WORDS for action in COVERED}

    assert {str(each) for each in EVERY_PERMISSION} == {*names, "event:read"}
    assert len(EVERY_PERMISSION) == 16


def test_manage_covers_write_covers_read_of_the_same_resource_alone():
    """Contract 5.2, all pairs."""
    wrong = [
        f"{held} on {needed}"
        for held, needed in itertools.product(EVERY_PERMISSION, repeat=2)
        if held.covers(needed) != within(str(held), str(needed))
    ]

    assert wrong == []


def within(held: str, needed: str) -> bool:
    """Say by the contract's words whether one is covered by the other."""
    (held_resource, held_action), (resource, action) = held.split(":"), needed.split(":")
    return held_resource == resource and action in COVERED[held_action]


def test_a_permission_survives_writing_and_parsing():
    wrong = [
        permission
        for permission in EVERY_PERMISSION
        if Permission.parse(str(permission)) != permission
    ]

    assert wrong == []


def test_a_permission_is_parsed_from_the_contract_s_words():
    assert Permission.parse("pix_key:manage") == Permission(WORDS["pix_key"], Action.MANAGE)


def test_an_invalid_permission_is_refused():
    cases = [
        "",
        ":",
        "balance",
        "balance:",
        ":read",
        "balance:READ",
        "Balance:read",
        "balance:Read",
        "balance:wr\u0131te",
        "balance:read ",
        " balance:read",
        "balance:read:write",
        "balance: read",
        "balance:admin",
        "balance:1",
        "*:read",
        "balance:*",
        "accounts:read",
        "event:write",
        "event:manage",
    ]

    for text in cases:
        with pytest.raises(ValueError, match=r"."):
            Permission.parse(text)


@given(st.one_of(st.text(), st.from_regex(r"\A[a-z_]{0,12}:[a-zA-Z]{0,7}\Z")))
def test_any_text_is_a_permission_or_refused(text: str):
    try:
        permission = Permission.parse(text)
    except ValueError:
        return
    assert str(permission) == text
