"""Codes of an authenticator app."""

import base64
from datetime import UTC, datetime, timedelta

import pyotp

from gateway.identity.one_time_codes import accepted_step

# RFC 6238, appendix B: SHA-1, this secret; its codes have eight digits, ours are the last six
SECRET = base64.b32encode(b"12345678901234567890").decode()
RFC = [
    (59, "94287082"),
    (1111111109, "07081804"),
    (1111111111, "14050471"),
    (1234567890, "89005924"),
    (2000000000, "69279037"),
    (20000000000, "65353130"),
]


def at(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def test_the_codes_of_the_rfc_are_accepted():
    wrong = [
        (second, code)
        for second, code in RFC
        if accepted_step(SECRET, code[-6:], at(second)) != second // 30
    ]

    assert wrong == []


def test_a_totp_code_is_accepted_within_one_step():
    """The step of the code is returned, not that of the clock."""
    cases = [(-60, False), (-30, True), (0, True), (30, True), (60, False)]

    for late, accepted in cases:
        now = at(1_800_000_000)
        code = pyotp.TOTP(SECRET).at(now + timedelta(seconds=late))

        step = accepted_step(SECRET, code, now)

        assert step == ((1_800_000_000 + late) // 30 if accepted else None)


def test_a_code_must_have_six_digits():
    cases = ["", "28708", "2870822", "28708２", "abcdef", "287.082", "287082" + " " * 40]

    wrong = [code for code in cases if accepted_step(SECRET, code, at(59)) is not None]

    assert wrong == []


def test_a_code_is_accepted_with_spaces_and_hyphens():
    cases = ["287082", "287 082", " 28-70-82\n", "287\N{NO-BREAK SPACE}082"]

    taken = {code: accepted_step(SECRET, code, at(59)) for code in cases}

    assert taken == dict.fromkeys(cases, 1)


def test_of_two_steps_with_equal_codes_the_later_is_returned():
    """Otherwise the present code would be refused as already used."""
    now, secret = datetime(2025, 12, 20, 13, 32, 35, tzinfo=UTC), "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

    assert accepted_step(secret, "533286", now) == int(now.timestamp()) // 30
