"""A Postman collection (format 2.1) of an OpenAPI document: one request for each call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_SCHEMA: Final = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_TOLD: Final = {
    "base_url": "http://127.0.0.1:8080",
    "client_id": "",
    "client_secret": "",
    "account_id": "",
    "charge_reference": "",
    "key_id": "",
    "payout_reference": "",
}
"""Variables of the collection; without a reference of its own, a payout is given one."""
_DAYS: Final = ("init", "ends")
_BEFORE: Final = (
    "// Of every request: payouts have the date of today in UTC, and a reference of their own.",
    'if (!pm.variables.get("today")) {',
    '  pm.variables.set("today", new Date().toISOString().slice(0, 10));',
    "}",
    'if (!pm.collectionVariables.get("payout_reference")) {',
    '  pm.collectionVariables.set("payout_reference", pm.variables.replaceIn("{{$guid}}"));',
    "}",
)
Schema = Mapping[str, Any]


def collection(document: Schema) -> Schema:
    """Return the collection, in the order of the document."""
    return {
        "info": {
            "name": document["info"]["title"],
            "description": document["info"]["description"],
            "schema": _SCHEMA,
        },
        "auth": {
            "type": "basic",
            "basic": [
                {"key": "username", "value": "{{client_id}}", "type": "string"},
                {"key": "password", "value": "{{client_secret}}", "type": "string"},
            ],
        },
        "event": [_script("prerequest", _BEFORE)],
        "variable": [{"key": name, "value": value} for name, value in _TOLD.items()],
        "item": [
            {"name": tag["name"], "description": tag["description"], "item": requests}
            for tag in document["tags"]
            if (requests := list(_requests(document, tag["name"])))
        ],
    }


def _requests(document: Schema, tag: str) -> Iterator[Schema]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["tags"] == [tag]:
                yield _request(method.upper(), path, operation)


def _request(method: str, path: str, operation: Schema) -> Schema:
    wanted = _expected(operation)
    request: dict[str, Any] = {
        "method": method,
        "description": operation.get("description", ""),
        "header": [],
        "url": _url(path, operation["parameters"]),
    }
    if not operation["security"]:
        request["auth"] = {"type": "noauth"}
    if "requestBody" in operation:
        request["body"] = {
            "mode": "raw",
            "raw": _body(operation["requestBody"]["content"]["application/json"]),
            "options": {"raw": {"language": "json"}},
        }
    check = f'pm.test("answers {wanted}", () => pm.response.to.have.status({wanted}));'
    return {"name": operation["summary"], "event": [_script("test", [check])], "request": request}


def _expected(operation: Schema) -> int:
    """Return the status of success; of a call that never succeeds, that of its own refusal."""
    succeeded = [status for status in operation["responses"] if status.startswith("2")]
    return int(succeeded[0]) if succeeded else 501


def _url(path: str, parameters: Sequence[Schema]) -> Schema:
    words = path.strip("/").split("/")
    segments = [f":{each[1:-1]}" if each.startswith("{") else each for each in words]
    named = [each for each in parameters if each.get("in") == "query" and each.get("required")]
    query = [
        {"key": each["name"], "value": "{{today}}" if each["name"] in _DAYS else ""}
        for each in named
    ]
    raw = "{{base_url}}/" + "/".join(segments)
    asked = "&".join(f"{each['key']}={each['value']}" for each in query)
    return {
        "raw": f"{raw}?{asked}" if asked else raw,
        "host": ["{{base_url}}"],
        "path": segments,
        "query": query,
        "variable": [
            {"key": each[1:-1], "value": f"{{{{{_variable(each[1:-1], path)}}}}}"}
            for each in words
            if each.startswith("{")
        ],
    }


def _variable(name: str, path: str) -> str:
    if name != "reference":
        return name
    return "payout_reference" if "/withdraw/" in path else "charge_reference"


def _body(content: Schema) -> str:
    """Return the first example, with the variables in it."""
    shown = content.get("examples", {})
    value = next(iter(shown.values()))["value"] if shown else content["example"]
    filled = {
        **value,
        **({"reference": "{{payout_reference}}"} if "reference" in value else {}),
        **({"date": "{{today}}"} if "date" in value else {}),
    }
    return json.dumps(filled, indent=2, ensure_ascii=False)


def _script(listen: str, lines: Sequence[str]) -> Schema:
    return {"listen": listen, "script": {"type": "text/javascript", "exec": list(lines)}}
