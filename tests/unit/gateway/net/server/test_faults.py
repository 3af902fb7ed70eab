"""Faults told without a word of the caller's."""

from gateway.net.server.faults import describe


def test_the_kind_and_the_place_are_told_and_the_message_is_not():
    """An error's message often quotes what it could not read."""
    told = describe(fail("gws_secret"))

    assert told.startswith("ValueError at test_faults.py:")
    assert "fail" in told
    assert "gws_secret" not in told


def test_a_fault_without_a_place_is_told_by_its_kind():
    assert describe(KeyError("secret")) == "KeyError at no place"


def test_no_fault_at_all_can_be_told():
    assert describe(None) == "an unknown error"


def fail(text: str) -> ValueError:
    try:
        int(text)
    except ValueError as problem:
        return problem
    raise AssertionError
