"""Recovery codes."""

import re

from gateway.identity.one_time_codes import make_recovery_codes, read_recovery_code


def test_ten_numbered_recovery_codes_of_fifty_bits_are_made():
    codes = make_recovery_codes()

    assert [each[:2] for each in codes] == [f"{index:02d}" for index in range(10)]
    assert all(
        re.fullmatch(r"\d\d-[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}", each) for each in codes
    )
    assert len({each[3:] for each in codes}) == 10


def test_a_recovery_code_is_read_in_any_notation():
    cases = [
        "03-ABCDE-01234",
        "03-abcde-01234",
        "03abcdeo1234",
        " 03 abcde olz34 ".replace("z", "2"),
        "03-ABCDE-0I234",
    ]

    wrong = [typed for typed in cases if read_recovery_code(typed) != (3, "03-ABCDE-01234")]

    assert wrong == []


def test_an_invalid_recovery_code_is_refused():
    cases = [
        "",
        "123456",
        "10-ABCDE-01234",
        "03-ABCDE-0123",
        "03-ABCDU-01234",
        "0" * 33,
        "٠٣-ABCDE-01234",
    ]

    wrong = [typed for typed in cases if read_recovery_code(typed) is not None]

    assert wrong == []


def test_every_made_recovery_code_is_read_back():
    made = make_recovery_codes()

    assert [read_recovery_code(each) for each in made] == list(enumerate(made))
