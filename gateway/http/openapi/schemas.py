"""Our types as JSON Schema, in the form that generators of clients read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
import orjson

from gateway.core.money import MAX_CENTAVOS, Money, Sum
from gateway.core.schemas import CHOICES, MAY_BE_EMPTY, PLAIN_TEXT, Choice

Schema = dict[str, Any]


REF: Final = "#/components/schemas/{name}"


AMOUNT: Final[Mapping[str, Any]] = {
    "type": "number",
    "format": "double",
    "description": "Reais with exactly two decimals, never in exponent form.",
    "examples": [10.5],
}
"""An amount in an answer; it may be zero, and a balance may be negative."""


PAID_AMOUNT: Final[Mapping[str, Any]] = {
    "type": "number",
    "format": "double",
    "description": "Reais above zero, with at most two decimals, never in exponent form.",
    "minimum": 0.01,
    "maximum": MAX_CENTAVOS / 100,
    "examples": [10.5],
}
"""
An amount in a request.

Without ``multipleOf``: validators that divide in binary refuse 0.07 and every ninth amount.
"""


_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}


_LARGEST_INT32: Final = 2**31 - 1


_FORMS: Final = ("pattern", "format", "enum", "const")


_AMOUNTS: Final = {
    REF.format(name=Money.__name__): PAID_AMOUNT,  # of a body
    REF.format(name=Sum.__name__): AMOUNT,
}


_GENERAL: Final = frozenset({"$ref", "anyOf", "allOf"})
_INSTANT: Final = _GENERAL | {"format"}


_MARK: Final = REF.format(name="")


def described(
    types: Iterable[type], bodies: Iterable[type] = ()
) -> tuple[dict[type, Schema], dict[str, Schema]]:
    """
    Describe types: each as a schema, and every component by its public name.

    Texts of ``bodies`` have no control characters; every reader refuses them, but for secrets.
    Defaults of ``bodies`` are said in words: generators make a field with one obligatory.

    Raises:
        ValueError: Two components would have one name.
    """
    sent = list(bodies)
    wanted = list(dict.fromkeys([*types, *sent, *_choices()]))
    found, raw = msgspec.json.schema_components(wanted, ref_template=REF)
    raw = {name: each for name, each in raw.items() if name not in {Money.__name__, Sum.__name__}}
    names = public_names(raw)
    components = {names[name]: tidied(shape, names) for name, shape in raw.items()}
    shown = {kind: tidied(shape, names) for kind, shape in zip(wanted, found, strict=True)}
    for shape, choice in CHOICES.items():
        forms = [shown[form] for form in choice.forms]
        name = component_of(shown[shape])
        components[name] = _one_of(components, components[name], choice, forms)
    for name, component in reached([shown[each] for each in sent], components).items():
        components[name] = _plain(_optional(component))
    return shown, components


def tidied(schema: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - any part of a schema
    """Return a schema as it is promised: public names, amounts as numbers, sizes, constants."""
    if isinstance(schema, list):
        return [tidied(each, names) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "type" in schema:  # said by the field itself, in place of what its type is described as
        left_out = _INSTANT if schema.get("pattern") == MAY_BE_EMPTY else _GENERAL
        schema = {name: part for name, part in schema.items() if name not in left_out}
    if schema.get("$ref") in _AMOUNTS:
        rest = {name: part for name, part in schema.items() if name != "$ref"}
        return {**_AMOUNTS[schema["$ref"]], **rest}
    if "$ref" in schema:
        return {**schema, "$ref": REF.format(name=names[component_of(schema)])}
    schema = {**schema, **_size(schema)}
    values = schema.get("enum")
    if isinstance(values, list):
        return _words({name: part for name, part in schema.items() if name != "title"}, values)
    # A property may be called title too; that one is no text.
    return {
        name: tidied(part, names)
        for name, part in schema.items()
        if not (name == "title" and isinstance(part, str))
    }


def _size(schema: Mapping[str, Any]) -> Mapping[str, str]:
    """
    Return the format of a number; none of anything else.

    Without one, generators for Go read 24 bits of an amount (R$ 131,072.01 becomes .02), and those
    for Go, Java, C# and Rust 31 bits of an integer.
    """
    if schema.get("type") == "number":
        return {"format": "double"}
    if schema.get("type") == "integer":
        small = schema.get("maximum", _LARGEST_INT32 + 1) <= _LARGEST_INT32
        return {"format": "int32" if small else "int64"}
    return {}


def component_of(schema: Mapping[str, Any]) -> str:
    """Return the name that a reference ends in."""
    return str(schema["$ref"]).removeprefix(_MARK)


def reached(start: object, components: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return the components that are referred to from a part of the document, and from them."""
    found: dict[str, Schema] = {}
    waiting = list(_references(start))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = components[name]
            waiting += _references(components[name])
    return {name: shape for name, shape in components.items() if name in found}


def _references(part: object) -> Iterator[str]:
    if isinstance(part, Mapping):
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith(_MARK):
            yield component_of(part)
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _references(each)


def _plain(part: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Add the pattern of plain text, no control characters, to every text without a form."""
    if isinstance(part, list):
        return [_plain(each) for each in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "string" and part.keys().isdisjoint(_FORMS):
        return {**part, "pattern": PLAIN_TEXT}
    return {name: _plain(each) for name, each in part.items()}


def _optional(component: Schema) -> Schema:
    """Move each default into the field's description."""
    if "properties" not in component:
        return component
    fields = component["properties"].items()
    return {**component, "properties": {name: _in_words(each) for name, each in fields}}


def _in_words(field: Schema) -> Schema:
    rest = {name: part for name, part in field.items() if name != "default"}
    default = field.get("default")
    if default in (None, "", []):
        return rest
    word = default if isinstance(default, str) else orjson.dumps(default).decode()
    return {**rest, "description": f"{field.get('description', '')} Default: `{word}`.".lstrip()}


def _choices() -> Iterator[type]:
    for shape, choice in CHOICES.items():
        yield shape
        yield from choice.forms


def _words(schema: Schema, values: list[Any]) -> Schema:
    """Give an enumeration its type; one of a single word is a constant."""
    rest = {name: part for name, part in schema.items() if name != "enum"}
    kinds = list(dict.fromkeys(_TYPES[type(value)] for value in values))
    typed = {"type": kinds[0] if len(kinds) == 1 else kinds}
    if len(values) == 1:
        rest.pop("default", None)
        return {**typed, "const": values[0], **rest}
    return {**typed, "enum": values, **rest}


def _one_of(
    components: Mapping[str, Schema], general: Schema, choice: Choice, forms: list[Schema]
) -> Schema:
    """Describe a choice; the word of each form is the constant in it."""
    shown: Schema = {"description": general.get("description", ""), "oneOf": forms}
    if choice.discriminator:
        name = choice.discriminator
        mapping = {
            components[component_of(form)]["properties"][name]["const"]: form["$ref"]
            for form in forms
        }
        shown["discriminator"] = {"propertyName": name, "mapping": mapping}
    return shown


_PROMISED: Final = MappingProxyType(
    {
        "EntryDocument": "StatementEntry",
        "IncomingDocument": "IncomingPayment",
        "KeyBody": "PixKeyRequest",
        "Meter": "PageMeta",
        "RequestDocument": "LoggedRequest",
        "RequestList": "LoggedRequestList",
        "Role": "RoleName",
        "Total": "ListMeta",
        "TransactionDocument": "PixTransaction",
    }
)
"""Where the rule alone would give a word that says nothing outside."""


_ENDINGS: Final = {"Document": "", "Body": "Request"}


def public_name(component: str) -> str:
    """Return the name of a shape by its class: a document's own word, a body's as a request."""
    word = component.rpartition(".")[2]
    if word in _PROMISED:
        return _PROMISED[word]
    for ending, public in _ENDINGS.items():
        if word.endswith(ending) and word != ending:
            return word.removesuffix(ending) + public
    return word


def public_names(components: Iterable[str]) -> Mapping[str, str]:
    """
    Return the public name of each component.

    Raises:
        ValueError: Two components would have one name; rename one of the classes.
    """
    names: dict[str, str] = {}
    taken: dict[str, str] = {}
    for component in components:
        name = public_name(component)
        if name in taken:
            problem = f"{taken[name]} and {component} would both be named {name}"
            raise ValueError(problem)
        taken[name] = component
        names[component] = name
    return names
