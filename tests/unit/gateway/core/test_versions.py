"""Versions of records."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import msgspec

from gateway.core.errors import VERSION_CHANGED
from gateway.core.versions import (
    ANY_VERSION,
    entity_tag,
    expected,
    version_of_account,
    version_of_user,
)
from tests.unit.refusals import refused
from tests.world.stores.people import user
from tests.world.stores.samples import NOW, account

A, B = entity_tag("a"), entity_tag("b")


def test_a_matching_version_is_accepted():
    for headers in [[A], [f'"x", {A}'], ['"x"', A], ["*"], [f" {A} "]]:
        expected(headers).check(A)


def test_another_version_is_refused():
    for headers in [[B], [f"W/{A}"], [A.strip('"')], ["x"], [""]]:
        with refused(VERSION_CHANGED):
            expected(headers).check(A)


def test_a_request_without_if_match_is_accepted():
    ANY_VERSION.check(A)


def test_every_changed_field_of_an_account_changes_its_version():
    cases = [
        {"name": "x"},
        {"tax_number": "x"},
        {"active": False},
        {"verified": False},
        {"provider": "x"},
        {"provider_account": "x"},
        {"sealed_credentials": b"x"},
        {"coordinates": msgspec.structs.replace(account().coordinates, branch="9")},
    ]

    wrong = [
        changed
        for changed in cases
        if version_of_account(replace(account(), **changed)) == version_of_account(account())
    ]

    assert wrong == []


def test_a_later_change_of_a_user_changes_its_version():
    later = replace(user(), updated_at=NOW + timedelta(microseconds=1))

    assert version_of_user(later) != version_of_user(user())


def test_the_parts_of_a_version_are_separated():
    assert entity_tag("ab", "c") != entity_tag("a", "bc")
