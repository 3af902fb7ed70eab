"""Passwords that everybody tries first."""

from importlib.resources import files

from gateway.identity.passwords import is_common


def test_common_passwords_are_found():
    cases = [
        "password1234",
        "PassWord1234",
        "p@ssword1234",
        "senha@123456",
        "passwordpassword",
        "qwertyuiop123",
        "123456789012",
        "aaaaaaaaaaaa",
        "abcabcabcabc",
        "1q2w3e4r5t6y",
        "abcdefghijklm",
        "mnbvcxzlkjhg",
        "12345qwerty123456",
        "flamengo2026",
    ]

    wrong = [password for password in cases if not is_common(password)]

    assert wrong == []


def test_uncommon_passwords_are_not_found():
    cases = [
        "correct horse battery",
        "uma frase bem comprida",
        "T7#kdw0-pZ2vLq",
        "lua azul sobre o cais",
    ]

    wrong = [password for password in cases if is_common(password)]

    assert wrong == []


def test_the_list_has_thousands_of_long_common_passwords():
    text = files("gateway.identity").joinpath("common_passwords.txt").read_text("utf-8")
    words = [line for line in text.splitlines() if not line.startswith("#")]

    assert sum(len(each) >= 12 for each in words) > 3000
    assert words == sorted(set(words))
    assert all(each == each.casefold() for each in words)
