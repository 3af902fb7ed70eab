"""The words that a field may be, by its path."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType

from policies.validation.words import words_at


class Kind(StrEnum):
    CPF = "cpf"
    CNPJ = "cnpj"


class Owner(msgspec.Struct):
    kind: Kind
    zone: Annotated[Literal["local"] | UnsetType, Meta(description="Of days.")] = UNSET


class Order(msgspec.Struct, rename={"sent_as": "sentAs"}):
    owner: Owner | None = None
    kinds: list[Kind] = []
    sent_as: Literal["a", "b"] = "a"
    level: Literal[1, 2] = 1
    text: str = ""


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("owner.kind", ("cpf", "cnpj")),
        ("owner.zone", ("local",)),
        ("kinds", ("cpf", "cnpj")),
        ("sentAs", ("a", "b")),
        ("level", ()),
        ("text", ()),
        ("owner", ()),
        ("absent.kind", ()),
        ("", ()),
    ],
)
def test_the_words_of_a_field_are_the_values_of_its_type(path: str, words: tuple[str, ...]):
    assert words_at(Order, path) == words
