"""Shapes of several forms, declared where they are written."""

import msgspec
import pytest

from gateway.core import schemas
from gateway.core.schemas import Choice, one_of


class Small(msgspec.Struct):
    size: int


class Large(msgspec.Struct):
    size: str


def test_a_shape_tells_its_forms(monkeypatch: pytest.MonkeyPatch):
    # What is declared stays declared: documents made later would show this shape too.
    declared = dict(schemas.CHOICES)
    monkeypatch.setattr(schemas, "_CHOICES", declared)

    @one_of(Small, Large, discriminator="size")
    class Either(msgspec.Struct):
        size: int

    assert declared[Either] == Choice((Small, Large), "size")
    assert Small not in declared
    assert Either not in schemas.CHOICES
