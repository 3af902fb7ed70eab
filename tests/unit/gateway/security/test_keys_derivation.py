"""Keys of other purposes."""

from gateway.security.keys import Derivation

KEYS = {"old": b"o" * 32, "new": b"n" * 32}


def test_each_purpose_and_sealing_key_derives_its_own_key():
    derivation = Derivation(KEYS, "new")

    made = [*derivation.keys("one").values(), *derivation.keys("two").values()]

    assert len(set(made)) == 4
    assert {len(each) for each in made} == {32}


def test_the_current_key_comes_first():
    derivation = Derivation(KEYS, "new")

    keys = derivation.keys("one")

    assert list(keys) == ["new", "old"]
    assert derivation.key("one") == keys["new"]


def test_a_derived_key_is_stable():
    """Stored digests must stay valid; RFC 5869 with our label."""
    assert Derivation(KEYS, "new").key("one").hex() == (
        "a72415f18a86ae016250b812ebfecb280d7ba5ebe9285b1b8f7056bd14599fca"
    )


def test_a_derivation_does_not_print_its_keys():
    assert "nnn" not in repr(Derivation(KEYS, "new"))
