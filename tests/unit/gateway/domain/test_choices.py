"""Shapes of several forms, declared where they are written."""

import msgspec

from gateway.domain.choices import CHOICES, Choice, one_of


class Small(msgspec.Struct):
    size: int


class Large(msgspec.Struct):
    size: str


def test_a_shape_tells_its_forms():
    @one_of(Small, Large, told_by="size")
    class Either(msgspec.Struct):
        size: int

    assert CHOICES[Either] == Choice((Small, Large), "size")
    assert Small not in CHOICES
