"""Recovery codes."""

import re

from gateway.identity.one_time_codes import RecoveryCodes


def test_there_are_ten_each_with_its_number_and_fifty_bits():
    codes = RecoveryCodes().make()

    assert [each[:2] for each in codes] == [f"{index:02d}" for index in range(10)]
    assert all(
        re.fullmatch(r"\d\d-[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}", each) for each in codes
    )
    assert len({each[3:] for each in codes}) == 10


def test_every_bit_counts():
    """Fifty of the fifty-six random bits show."""
    shown = {
        RecoveryCodes(lambda size, bit=bit: (1 << bit).to_bytes(size)).make()[0]
        for bit in range(50)
    }

    assert len(shown) == 50


def test_a_code_is_read_as_people_type_it():
    cases = [
        "03-ABCDE-01234",
        "03-abcde-01234",
        "03abcdeo1234",
        " 03 abcde olz34 ".replace("z", "2"),
        "03-ABCDE-0I234",
    ]

    wrong = [typed for typed in cases if RecoveryCodes().read(typed) != (3, "03-ABCDE-01234")]

    assert wrong == []


def test_what_is_no_code_is_none():
    cases = [
        "",
        "123456",
        "10-ABCDE-01234",
        "03-ABCDE-0123",
        "03-ABCDU-01234",
        "0" * 33,
        "٠٣-ABCDE-01234",
    ]

    wrong = [typed for typed in cases if RecoveryCodes().read(typed) is not None]

    assert wrong == []


def test_what_is_made_is_read():
    codes = RecoveryCodes()

    assert all(codes.read(each) == (index, each) for index, each in enumerate(codes.make()))
