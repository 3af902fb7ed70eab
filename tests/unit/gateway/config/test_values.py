"""Bounds of settings."""

import msgspec
import pytest

from gateway.config.values import Count, Label, Name, Port, Reais, Seconds, SecondsOrNone, written


def test_each_type_of_setting_accepts_values_within_its_bounds():
    cases = [
        (Seconds, [0.001, 86_400], [0, -1, 86_401, float("nan"), float("inf")]),
        (SecondsOrNone, [0, 86_400], [-0.1, 86_401, float("nan")]),
        (Count, [1, 1_000_000_000], [0, -1, 1.5, 1_000_000_001, True]),
        (Port, [0, 65_535], [-1, 65_536]),
        (Name, ["a", "sandbox-read-only", "0" * 63], ["", "A", "-a", "a b", "a\n", "a" * 64]),
        (Label, ["Summer 2026"], ["", "a" * 65]),
        (Reais, ["0.00", "9999999999.99"], ["1", "1.5", "1.555", "1,00", "-1.00", "01.00", 1.0]),
    ]

    for kind, taken, refused in cases:
        for value in taken:
            assert msgspec.convert(value, kind) == value
        for value in refused:
            with pytest.raises(msgspec.ValidationError):
                msgspec.convert(value, kind)


def test_the_written_default_is_kept_with_the_type():
    assert written("${A:-1}").extra == {"written": "${A:-1}"}
