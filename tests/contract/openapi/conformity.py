"""Judges values by the schemas of our documents; references are followed in a copy made once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from tests.world.documents import SURFACES


def problems(surface: str, schema: Mapping[str, Any], value: object) -> list[str]:
    validator = Draft202012Validator(_absolute(surface, schema), registry=_registry())
    return [f"{each.json_path}: {each.message}" for each in validator.iter_errors(value)]


@cache
def _registry() -> Registry[Any]:
    """Keep every document at an address of its own."""
    return (
        Registry()
        .with_resources(
            (_address(name), Resource(each.document, DRAFT202012))
            for name, each in SURFACES.items()
        )
        .crawl()
    )


def _address(surface: str) -> str:
    return f"urn:document:{quote(surface)}"


def _absolute(surface: str, part: Any) -> Any:
    if isinstance(part, dict):
        return {
            name: _address(surface) + each if name == "$ref" else _absolute(surface, each)
            for name, each in part.items()
        }
    return [_absolute(surface, each) for each in part] if isinstance(part, list) else part
