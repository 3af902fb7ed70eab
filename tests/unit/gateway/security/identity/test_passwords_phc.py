"""The text form of digests."""

from gateway.security.identity import passwords
from gateway.security.identity.passwords import Cost, Digest

DIGEST = Digest(cost=Cost(), key_id="a1b2c3d4", salt=b"s" * 16, tag=b"t" * 32)


def test_a_digest_is_written_with_its_costs_and_the_name_of_its_pepper():
    assert str(DIGEST) == (
        "$argon2id$v=19$m=19456,t=2,p=1,keyid=YTFiMmMzZDQ"
        "$c3Nzc3Nzc3Nzc3Nzc3Nzcw$dHR0dHR0dHR0dHR0dHR0dHR0dHR0dHR0dHR0dHR0dHQ"
    )


def test_what_was_written_is_read():
    assert passwords.read(str(DIGEST)) == DIGEST


def test_another_form_or_a_cost_out_of_bounds_is_no_digest():
    """Who writes into the store must not stop a process with a digest of a gigabyte."""
    cases = [
        ("argon2id", "argon2i"),
        ("v=19", "v=16"),
        ("m=19456", "m=1048577"),
        ("m=19456", "m=7"),
        ("t=2", "t=0"),
        ("t=2", "t=17"),
        ("p=1", "p=17"),
        ("p=1", "p=0"),
        (",keyid=YTFiMmMzZDQ", ""),
        ("keyid=YTFiMmMzZDQ", "keyid=/w"),
        ("keyid=YTFiMmMzZDQ", "keyid=YTFiM"),
        ("$c3Nz", "$c3N!"),
    ]

    wrong = [
        (old, new)
        for old, new in cases
        if passwords.read(str(DIGEST).replace(old, new)) is not None
    ]

    assert wrong == []


def test_nothing_is_no_digest():
    assert passwords.read("") is None


def test_a_digest_shows_neither_salt_nor_tag():
    assert "sss" not in repr(DIGEST)
    assert "ttt" not in repr(DIGEST)
