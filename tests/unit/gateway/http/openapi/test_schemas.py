"""Types as schemas that generators of clients read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, TypedDict

import msgspec

from gateway.core.money import Money
from gateway.core.schemas import PLAIN_TEXT, OptionalMoment, inline, one_of
from gateway.http.openapi.schemas import AMOUNT, component_of, described, reached
from gateway.http.rendering import Amount


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class OrderBody(msgspec.Struct):
    value: Money
    title: str
    tip: Money | None = None
    colour: Colour = Colour.RED


class LineDocument(TypedDict):
    value: Amount
    kind: Literal["credit", "debit"]
    final: Literal[False]
    count: Literal[1, 2]


class EventDocument(msgspec.Struct):
    colour: Annotated[Colour, inline(Colour)]
    at: OptionalMoment


class CatDocument(TypedDict):
    kind: Literal["cat"]


class DogDocument(TypedDict):
    kind: Literal["dog"]


@one_of(CatDocument, DogDocument, discriminator="kind")
class PetDocument(TypedDict):
    kind: Literal["cat", "dog"]


class PetList(TypedDict):
    data: list[PetDocument]


def component(kind: type) -> dict[str, Any]:
    shown, components = described([kind])
    return components[component_of(shown[kind])]


def test_an_amount_in_an_answer_may_be_zero_or_negative():
    assert component(LineDocument)["properties"]["value"] == AMOUNT
    assert "minimum" not in AMOUNT


def test_a_field_can_declare_its_own_type():
    shown = component(EventDocument)["properties"]

    assert shown["colour"] == {"type": "string", "enum": ["blue", "red"]}
    assert shown["at"].keys() == {"type", "pattern", "examples", "description"}


def test_titles_are_left_out_except_a_field_of_that_name():
    shown = component(OrderBody)

    assert "title" not in shown
    assert shown["properties"]["title"] == {"type": "string"}


def test_text_in_a_request_refuses_control_characters():
    """Other formats imply it, and a secret may contain any."""

    class NoteBody(msgspec.Struct):
        reason: str
        texts: list[str]
        branch: Annotated[str, msgspec.Meta(pattern="^[0-9]+$")]
        password: Annotated[str, msgspec.Meta(extra_json_schema={"format": "password"})]

    shown = described([], [NoteBody])[1]["NoteRequest"]["properties"]

    assert shown["texts"]["items"] == {"type": "string", "pattern": PLAIN_TEXT}
    assert shown["reason"]["pattern"] == PLAIN_TEXT
    assert shown["branch"]["pattern"] == "^[0-9]+$"
    assert "pattern" not in shown["password"]
    assert "pattern" not in str(described([NoteBody])[1]["NoteRequest"]["properties"]["reason"])


def test_only_referenced_schemas_are_kept():
    shown, components = described([PetList])

    kept = reached({"schema": shown[PetList]}, components)

    assert set(kept) == {"PetList", "Pet", "Cat", "Dog"}
