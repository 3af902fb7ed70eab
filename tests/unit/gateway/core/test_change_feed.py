"""Which acts make which kept records old."""

from __future__ import annotations

from gateway.audit.log import FAILED, REFUSED, TAKEN
from gateway.core.change_feed import RESUMED, STOPPED, Act, CacheValidity, Kept, outdated


def test_an_act_invalidates_the_record_that_it_names():
    """A stop names its subject, whose own record has not changed."""
    cases = [
        ("account.created", "account:a-1", (Kept.ACCOUNT, "a-1")),
        ("account.changed", "account:a-1", (Kept.ACCOUNT, "a-1")),
        ("credential.issued", "credential:cli_1", (Kept.CREDENTIAL, "cli_1")),
        ("credential.revoked", "credential:cli_1", (Kept.CREDENTIAL, "cli_1")),
        ("signing_key.retired", "signing_key:k:1", (Kept.SIGNING_KEY, "k:1")),
        (RESUMED, "stop:s-1", (Kept.STOP, "")),
        *((STOPPED, f"{scope}:x", (Kept.STOP, "")) for scope in ("account", "provider")),
    ]

    wrong = [
        (action, subject, record)
        for action, subject, record in cases
        if outdated(Act(action, subject)) != record
    ]

    assert wrong == []


def test_an_act_on_another_subject_invalidates_no_record():
    """Least of all failed sign-ins by strangers."""
    cases = ["user:u-1", "address:203.0.113.7", "company:c-1", "approval:a-1", "account", "", ":"]

    wrong = [subject for subject in cases if outdated(Act("sign_in.failed", subject)) is not None]

    assert wrong == []


def test_counted_events_invalidate_no_record():
    """Otherwise refused or read-only requests could empty the cache."""
    wrong = [
        (action, kind)
        for action in [*FAILED.values(), *TAKEN.values(), REFUSED]
        for kind in Kept
        if outdated(Act(action, f"{kind}:a-1")) is not None
    ]

    assert wrong == []


def test_a_cache_is_invalid_until_validity_is_set():
    now = 1_000.0

    assert CacheValidity().until < now < CacheValidity(now + 1).until
