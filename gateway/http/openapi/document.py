"""The OpenAPI document of a surface, from its routes alone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import orjson
import yaml

from gateway.core.fields import TRACE_ID
from gateway.http.common import VERSION
from gateway.http.openapi.examples import ANSWER_HEADERS, ORIGIN, REQUEST_HEADERS, without_example
from gateway.http.openapi.operations import (
    ERROR,
    EXPLAINING,
    LISTENER_ERROR,
    Shapes,
    bodies_of,
    operation,
    shapes_of,
    shown_tags,
    tag_of,
)
from gateway.http.openapi.schemas import Schema, described, reached
from gateway.http.route import Surface

_ABOUT: Final = MappingProxyType(
    {
        "banking": (
            "A banking account for a partner's server: balance, statement, PIX keys, charges and "
            "payouts. Amounts are JSON numbers in reais with two decimals: read them as decimals, "
            "not as binary floats. Times are RFC 3339 in UTC; an absent one is an empty text. "
            "Repeat a payout with the same `reference`: it is paid once. Every answer carries "
            "`X-Trace-ID`."
        ),
        "events": (
            "What happened at an account, as events in one order: an extension of the partners' "
            "interface, with the same credentials. An event has ids alone; read what it is about "
            "before you act. A day that the operator signed is read here, too. Times are RFC 3339 "
            "in UTC. Every answer carries `X-Trace-ID`."
        ),
        "sandbox": (
            "What partners make the sandbox bank do: charges made, paid and cancelled, money paid "
            "in and sent back, and what is to go wrong; not in production. An extension of the "
            "partners' interface, with the same credentials, and one that gives the first of "
            "them. Amounts are JSON numbers in reais with two decimals. Every answer carries "
            "`X-Trace-ID`."
        ),
        "identity": (
            "Sign-in for users: password, second factor, tokens, and resetting a forgotten "
            "password. Access tokens live for ten minutes; a refresh token works once."
        ),
        "backoffice": (
            "Companies, accounts, credentials, users and money, for the operator's users. Each "
            "call needs an access token of identity and a right. Orders that move money may wait "
            "for a second user: 202 with the approval."
        ),
    }
)
_CONTACT: Final[Mapping[str, str]] = {"name": "The operator of this gateway"}
_LICENSE: Final[Mapping[str, str]] = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
_ERROR: Final[Schema] = {
    "type": "object",
    "description": "A refusal. Branch on the HTTP status and `code`, never on `message`.",
    "required": ["code", "message", "trace_id"],
    "properties": {
        "code": {"type": "string", "description": "The error code.", "examples": ["SVC.VAL.011"]},
        "message": {"type": "string", "description": "For humans; the wording may change."},
        "trace_id": {
            "type": "string",
            "description": "As in `X-Trace-ID`.",
            "examples": [TRACE_ID],
        },
    },
}
_EXPLAINED: Final[Schema] = {
    **_ERROR,
    "required": [*_ERROR["required"], *EXPLAINING],
    "properties": {
        **_ERROR["properties"],
        "field": {
            "type": "string",
            "description": "What is wrong: a path in the body or a parameter; empty if neither is.",
        },
        "reason": {
            "type": "string",
            "description": "Why, as a fixed word to translate; empty if the code says it all.",
        },
    },
}
_LISTENERS: Final[Schema] = {
    **_EXPLAINED,
    "description": (
        "A refusal of this surface, with `field` and `reason`; or one of the listener, which has "
        "neither: a malformed request, one that is too large or too late, or a gateway that stops."
    ),
    "required": list(_ERROR["required"]),
}
_DUMPER: Final = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""The one in C, a fifth of the time, where PyYAML was built with it; both write the same."""

_SCHEMES: Final[Mapping[str, Schema]] = {
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "session": {"type": "apiKey", "in": "cookie", "name": "__Host-pixgate"},
}


def document(surface: Surface, title: str) -> Schema:
    """
    Describe a surface in OpenAPI 3.1.

    Raises:
        ValueError: Two shapes would have one name.
    """
    routes = [route for gate in surface.gates for route in gate.routes]
    by_type, components = described(
        (kind for route in routes for kind in shapes_of(route)),
        (kind for route in routes for kind in bodies_of(route)),
    )
    refusals = {ERROR: _EXPLAINED, LISTENER_ERROR: _LISTENERS}
    shapes = Shapes(by_type, components | (refusals if surface.explains else {ERROR: _ERROR}))
    paths: dict[str, Schema] = {}
    for gate in surface.gates:
        for route in gate.routes:
            operations = paths.setdefault(surface.prefix + route.path, {})
            operations[route.method.lower()] = operation(gate, route, shapes)
    return {
        "openapi": "3.1.0",
        "info": _info(surface, title),
        "servers": [{"url": ORIGIN, "description": "The gateway, as its operator names it."}],
        "tags": shown_tags(tag_of(route) for route in routes),
        "paths": paths,
        "components": _components(surface, reached(paths, shapes.components)),
    }


def as_json(description: Schema) -> bytes:
    """Write the document as JSON."""
    return orjson.dumps(description, option=orjson.OPT_INDENT_2)


def as_yaml(description: Schema) -> bytes:
    """Write the document as YAML, the same content in the same order."""
    # Read back from JSON, what stands in several places is written in each of them: not every
    # reader of YAML knows anchors.
    plain = orjson.loads(orjson.dumps(description))
    return yaml.dump(plain, Dumper=_DUMPER, sort_keys=False, allow_unicode=True).encode()


def _info(surface: Surface, title: str) -> Schema:
    return {
        "title": title,
        "description": _ABOUT.get(surface.name, title),
        "version": VERSION,
        "contact": dict(_CONTACT),
        "license": dict(_LICENSE),
    }


def _components(surface: Surface, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    schemes = (gate.scheme for gate in surface.gates)
    versions = any(route.tells_version for gate in surface.gates for route in gate.routes)
    return {
        "schemas": {name: without_example(each) for name, each in schemas.items()},
        "parameters": dict(REQUEST_HEADERS),
        "headers": {k: v for k, v in ANSWER_HEADERS.items() if versions or k != "Version"},
        "securitySchemes": {scheme: _SCHEMES[scheme] for scheme in schemes if scheme},
    }
