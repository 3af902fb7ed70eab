"""The OpenAPI document of a surface, from its rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import orjson
import yaml

from gateway.domain import errors
from gateway.domain.errors import ErrorCode
from gateway.domain.money import Money
from gateway.http.common import VERSION
from gateway.http.json import Amount
from gateway.http.route import Gate, Row, Surface

Schema = dict[str, Any]

_REF = "#/components/schemas/{name}"
_COMMON_HEADERS = {"X-Trace-ID": {"$ref": "#/components/headers/TraceId"}}
_TRACE_ID: Schema = {
    "description": "The caller's own trace id, or a new one.",
    "schema": {"type": "string"},
}
_AMOUNT: Schema = {
    "type": "number",
    "description": "Reais with exactly two decimals, never in exponent form.",
    "examples": [10.5],
}
_ERROR: Schema = {
    "type": "object",
    "required": ["code", "message", "trace_id"],
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "trace_id": {"type": "string"},
    },
}
_PATH: Mapping[str, Schema] = {
    "account_id": {"type": "string", "format": "uuid"},
    "key_id": {"type": "string", "format": "uuid"},
    "reference": {"type": "string", "minLength": 1, "maxLength": 1024},
}
_OTHER_PARAMETER: Schema = {"type": "string", "minLength": 1, "maxLength": 1024}
_SCHEMES: Mapping[str, Schema] = {
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "session": {"type": "apiKey", "in": "cookie", "name": "__Host-pixgate"},
}
_EVERYWHERE = (
    errors.MALFORMED_REQUEST,
    errors.BODY_TOO_LARGE,
    errors.REQUEST_TIMEOUT,
    errors.HEADERS_TOO_LARGE,
    errors.OVERLOADED,
    errors.DRAINING,
    errors.INTERNAL,
)
_SHAPELESS = (None, type(None), bytes)
_HEADERS_BY_STATUS: Mapping[int, Sequence[str]] = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    429: ("Retry-After",),
    502: ("Retry-After",),
    503: ("Retry-After",),
}


def document(surface: Surface, title: str) -> Schema:
    """Describe a surface in OpenAPI 3.1."""
    pairs = [(gate, row) for gate in surface.gates for row in gate.rows]
    schemas, components = _schemas(row for _, row in pairs)
    components["Error"] = _ERROR
    paths: dict[str, Schema] = {}
    for gate, row in pairs:
        operations = paths.setdefault(surface.prefix + row.path, {})
        operations[row.method.lower()] = _operation(gate, row, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": VERSION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "headers": {"TraceId": _TRACE_ID},
            "securitySchemes": {
                gate.scheme: _SCHEMES[gate.scheme] for gate in surface.gates if gate.scheme
            },
        },
    }


def as_json(description: Schema) -> bytes:
    """Write the document as JSON."""
    return orjson.dumps(description, option=orjson.OPT_INDENT_2)


def as_yaml(description: Schema) -> bytes:
    """Write the document as YAML, the same content in the same order."""
    return yaml.safe_dump(description, sort_keys=False, allow_unicode=True).encode()


def codes_of(gate: Gate[Any], row: Row[Any]) -> list[ErrorCode]:
    """Return every code a row can answer with, each once."""
    found: dict[str, ErrorCode] = {}
    sources: Iterable[Sequence[ErrorCode]] = (
        _EVERYWHERE,
        *(policy.refuses for policy in gate.policies),
        row.takes.refuses,
        tuple(row.fails.values()),
        row.raises,
    )
    for source in sources:
        found.update((error.name, error) for error in source)
    return list(found.values())


def _schemas(rows: Iterable[Row[Any]]) -> tuple[dict[Any, Schema], dict[str, Schema]]:
    """Describe every document and body once, by type."""
    types: list[Any] = []
    for row in rows:
        shapes = (row.document, row.takes.body, *row.also.values())
        types += [each for each in shapes if each not in {*types, *_SHAPELESS}]
    out, components = msgspec.json.schema_components(types, schema_hook=_custom, ref_template=_REF)
    return dict(zip(types, out, strict=True)), dict(components)


def _custom(kind: type) -> Schema:
    """Describe amounts of money; deliberately without ``multipleOf``, which floats break."""
    if kind in {Amount, Money}:
        return _AMOUNT
    raise NotImplementedError


def _operation(gate: Gate[Any], row: Row[Any], schemas: Mapping[Any, Schema]) -> Schema:
    """Describe one row."""
    operation: Schema = {
        "operationId": row.name.replace(".", "_"),
        "summary": row.tells,
        "parameters": _parameters(row),
        "responses": _responses(codes_of(gate, row), _success(row, schemas)),
        "security": [{gate.scheme: []}] if gate.scheme else [],
    }
    if row.needs is not None:
        operation["description"] = f"Needs `{row.needs}`."
    if row.takes.body is not None:
        content = {"application/json": {"schema": schemas[row.takes.body]}}
        required = not row.takes.may_be_absent
        operation["requestBody"] = {"required": required, "content": content}
    return operation


def _parameters(row: Row[Any]) -> list[Schema]:
    """Describe path and query parameters."""
    names = [part[1:-1] for part in row.path.split("/") if part.startswith("{")]
    path = [
        {
            "name": each,
            "in": "path",
            "required": True,
            "schema": _PATH.get(each, _OTHER_PARAMETER),
        }
        for each in names
    ]
    query = [
        {
            "name": each.name,
            "in": "query",
            "required": each.required,
            "schema": dict(each.schema),
            "description": each.description,
        }
        for each in row.takes.parameters
    ]
    return path + query


def _success(row: Row[Any], schemas: Mapping[Any, Schema]) -> Schema:
    """Describe the answer where nothing is refused, by its status."""
    if errors.CANCEL_NOT_IMPLEMENTED in row.raises:
        return {}
    documents = {row.status: row.document, **row.also}
    return {str(status): _shown(row, each, schemas) for status, each in documents.items()}


def _shown(row: Row[Any], shape: Any, schemas: Mapping[Any, Schema]) -> Schema:  # noqa: ANN401 - any type
    """Describe an answer of a document, of bytes or of nothing."""
    answer: Schema = {"description": "Success.", "headers": _COMMON_HEADERS}
    if shape is bytes:
        answer["content"] = {media.partition(";")[0]: _file(media) for media in row.media}
    elif shape is not type(None):
        answer["content"] = {media: {"schema": schemas[shape]} for media in row.media}
    return answer


def _file(media: str) -> Schema:
    """Describe a file; one of JSON is whatever it is."""
    return {} if media.startswith("application/json") else {"schema": {"type": "string"}}


def _responses(codes: Sequence[ErrorCode], success: Schema) -> Schema:
    """Describe every refusal by status, after the answer."""
    statuses = sorted({error.status for error in codes})
    described = dict(success)
    for status in statuses:
        words = ", ".join(sorted({error.code for error in codes if error.status == status}))
        headers = _HEADERS_BY_STATUS.get(status, ())
        described[str(status)] = _answer(words, {"$ref": _REF.format(name="Error")}, headers)
    return described


def _answer(words: str, schema: Schema, headers: Sequence[str]) -> Schema:
    """Describe one answer."""
    more = {name: {"schema": {"type": "string"}, "required": True} for name in headers}
    return {
        "description": words,
        "headers": {**_COMMON_HEADERS, **more},
        "content": {"application/json": {"schema": schema}},
    }
