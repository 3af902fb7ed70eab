"""Digests of client secrets."""

import hashlib
import hmac as standard
from datetime import UTC, datetime, timedelta

import pytest

from gateway.security import secrets as module
from gateway.security.secrets import SecretDigest, SecretDigester

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PEPPERS = {"new": b"the pepper in force", "old": b"the pepper before"}


@pytest.fixture
def digester() -> SecretDigester:
    return SecretDigester(PEPPERS, "new")


def stored(secret: str, key_id: str = "new", expires_at: datetime | None = None) -> SecretDigest:
    digest = standard.new(PEPPERS.get(key_id, b"gone"), secret.encode(), hashlib.sha256).digest()
    return SecretDigest(key_id=key_id, digest=digest, created_at=NOW, expires_at=expires_at)


def test_a_digest_is_hmac_sha_256_with_the_current_pepper(digester):
    key_id, digest = digester.digest("secret")

    assert (key_id, digest) == ("new", stored("secret").digest)
    assert len(digest) == 32


def test_a_secret_matches_until_it_expires(digester):
    cases = [
        ([], False),
        ([stored("right")], True),
        ([stored("wrong")], False),
        ([stored("wrong"), stored("right")], True),
        ([stored("right"), stored("wrong")], True),
        ([stored("right", "old")], True),
        ([stored("right", "gone")], False),
        ([stored("right", expires_at=NOW + timedelta(microseconds=1))], True),
        ([stored("right", expires_at=NOW)], False),
        ([stored("wrong"), stored("right", expires_at=NOW)], False),
        ([stored("a"), stored("b"), stored("right")], False),
    ]

    wrong = [
        (digests, matches)
        for digests, matches in cases
        if digester.matches("right", digests, NOW) is not matches
    ]

    assert wrong == []


def test_the_digest_that_matched_is_reported(digester):
    """So that its last use can be recorded."""
    current, rotated = stored("current"), stored("rotated", "old")

    found = [
        digester.matching(digester.digests(text), [current, rotated], lambda: NOW)
        for text in ("current", "rotated")
    ]

    assert found == [current, rotated]


def test_a_damaged_digest_matches_nothing(digester):
    for digest in [b"", b"\0" * 32, b"\0" * 31, b"\0" * 33]:
        damaged = SecretDigest(key_id="new", digest=digest, created_at=NOW)

        assert not digester.matches("right", [damaged], NOW)


def test_the_text_of_the_dummy_digest_matches_nothing(digester):
    """The text is in the source code."""
    dummy = "no secret has this digest"

    assert digester.digest(dummy)[1] == digester._dummy
    assert not digester.matches(dummy, [], NOW)
    assert not digester.matches(dummy, [stored("a", "gone")] * 2, NOW)


@pytest.mark.parametrize(
    "digests",
    [
        [],
        [stored("right")],
        [stored("wrong")],
        [stored("wrong"), stored("right", "old")],
        [stored("right", "gone")],
        [stored("right", expires_at=NOW)],
    ],
    ids=["unknown id", "right", "wrong", "two", "pepper gone", "ended"],
)
def test_matching_does_the_same_work_for_any_stored_digest(digester, digests, monkeypatch):
    """Otherwise the duration would reveal whether a client id exists."""
    work = []
    monkeypatch.setattr(
        module.hmac.HMAC, "digest", lambda mac: work.append("digest") or standard_digest(mac)
    )
    monkeypatch.setattr(
        module.hmac, "compare_digest", lambda *a: work.append("compare") or standard_compare(*a)
    )

    digester.matches("right", digests, NOW)

    assert work == ["digest", "digest", "compare", "compare"]


standard_digest, standard_compare = standard.HMAC.digest, standard.compare_digest
