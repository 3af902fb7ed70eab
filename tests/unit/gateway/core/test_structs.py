"""Structs made of other values."""

from dataclasses import dataclass

from msgspec import Struct

from gateway.core.structs import struct_of


class Shown(Struct):
    name: str
    size: int


@dataclass
class Stored:
    name: str
    secret: str


def test_fields_are_attributes_of_the_same_name_but_for_those_that_are_given():
    assert struct_of(Shown, Stored("a", "s"), size=2) == Shown("a", 2)
    assert struct_of(Shown, Stored("a", "s"), name="b", size=2) == Shown("b", 2)
