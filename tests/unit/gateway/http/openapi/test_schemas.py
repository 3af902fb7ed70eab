"""Types as schemas that generators of clients read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest

from gateway.core.money import Money
from gateway.core.schemas import PLAIN_TEXT, OptionalMoment, inline, one_of
from gateway.http.openapi.schemas import AMOUNT, PAID_AMOUNT, component_of, described, reached
from gateway.http.rendering import Amount


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class OrderBody(msgspec.Struct):
    """An order."""

    value: Money
    title: str
    tip: Money | None = None
    colour: Colour = Colour.RED


class LineDocument(TypedDict):
    """A line."""

    value: Amount
    kind: Literal["credit", "debit"]
    final: Literal[False]
    count: Literal[1, 2]


class EventDocument(msgspec.Struct):
    """An event."""

    colour: Annotated[Colour, inline(Colour)]
    at: OptionalMoment


class CatDocument(TypedDict):
    kind: Literal["cat"]


class DogDocument(TypedDict):
    kind: Literal["dog"]


@one_of(CatDocument, DogDocument, discriminator="kind")
class PetDocument(TypedDict):
    """A pet."""

    kind: Literal["cat", "dog"]


class PetList(TypedDict):
    data: list[PetDocument]


def component(kind: type) -> dict[str, Any]:
    shown, components = described([kind])
    return components[component_of(shown[kind])]


def test_an_amount_that_is_sent_is_a_number_above_zero():
    """Contract 2.1: reais, never minor units."""
    value = component(OrderBody)["properties"]["value"]

    assert value == PAID_AMOUNT
    assert (value["type"], value["minimum"]) == ("number", 0.01)
    assert value["maximum"] == 9_999_999_999_999.99


def test_an_amount_that_may_be_absent_is_a_number_too():
    assert component(OrderBody)["properties"]["tip"]["anyOf"][0] == PAID_AMOUNT


def test_an_amount_that_is_answered_may_be_zero_and_below():
    assert component(LineDocument)["properties"]["value"] == AMOUNT
    assert "minimum" not in AMOUNT


def test_a_default_of_a_body_is_said_in_words():
    """openapi-typescript makes a field with a default obligatory."""
    order = described([], [OrderBody])[1]["OrderRequest"]

    assert "default" not in str(order)
    assert order["properties"]["colour"]["description"] == "Default: `red`."
    assert "description" not in order["properties"]["tip"]
    assert set(order["required"]) == {"value", "title"}


def test_a_word_has_a_type_and_a_constant_is_one():
    shown = component(LineDocument)["properties"]

    assert shown["kind"].items() >= {"type": "string", "enum": ["credit", "debit"]}.items()
    assert shown["final"] == {"type": "boolean", "const": False}
    assert shown["count"]["enum"] == [1, 2]
    assert described([OrderBody])[1]["Colour"]["type"] == "string"


def test_a_field_may_say_its_own_type():
    shown = component(EventDocument)["properties"]

    assert shown["colour"] == {"type": "string", "enum": ["blue", "red"]}
    assert shown["at"].keys() == {"type", "pattern", "examples", "description"}


def test_titles_are_left_out_but_not_a_field_of_that_name():
    shown = component(OrderBody)

    assert "title" not in shown
    assert shown["properties"]["title"] == {"type": "string"}


@pytest.mark.parametrize("kind", [PetDocument, PetList])
def test_a_choice_is_told_by_its_field_wherever_it_stands(kind: type):
    _, components = described([kind])

    assert components["Pet"] == {
        "description": "A pet.",
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {
            "propertyName": "kind",
            "mapping": {"cat": "#/components/schemas/Cat", "dog": "#/components/schemas/Dog"},
        },
    }
    kind = components["Cat"]["properties"]["kind"]
    assert kind.items() >= {"type": "string", "const": "cat"}.items()


def test_a_text_that_is_sent_has_no_control_characters():
    """Its own form says it better, and a secret has none."""

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


def test_only_what_is_referred_to_is_kept():
    shown, components = described([PetList])

    kept = reached({"schema": shown[PetList]}, components)

    assert set(kept) == {"PetList", "Pet", "Cat", "Dog"}
