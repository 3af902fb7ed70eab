"""
One example for each request and answer, and the headers that every operation has.

A field's example is, in this order: what it stands for in its schema, its own ``examples``, its
constant, its likely word or its first, what its name stands for everywhere, what its form stands
for. A text of which nothing is known becomes ``UNKNOWN``, and a test names the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from gateway.core import errors
from gateway.core.catalogue import ErrorCode

Schema = dict[str, Any]
_TRACE: Final = "5f0c7b7e-8c0a-4f0e-9a53-6f4f1f1d2c3b"
VERSION_TAG: Final = '"0f1e2d3c4b5a69788796a5b4c3d2e1f0"'
REQUEST_HEADERS: Final[Mapping[str, Schema]] = {
    "TraceId": {
        "name": "X-Trace-ID",
        "in": "header",
        "required": False,
        "description": (
            "The caller's own trace id. It is echoed, logged, and sent to the bank. "
            "It is 1 to 128 of `A-Za-z0-9._:-`; any other value is replaced by a new UUID, not "
            "refused."
        ),
        "schema": {"type": "string"},
    },
    "TraceParent": {
        "name": "traceparent",
        "in": "header",
        "required": False,
        "description": (
            "W3C Trace Context. A valid one is continued towards the bank, with its `tracestate`; "
            "without one a trace is begun. Without `X-Trace-ID`, its trace id becomes ours, "
            "written as a UUID. Anything else is ignored, not refused."
        ),
        "schema": {"type": "string"},
    },
}
"""
Parameters of every operation, by their names as components.

They have no example: programs fill it in, and every caller's requests would be one trace.
"""
REQUEST_REFERENCES: Final = tuple(
    {"$ref": f"#/components/parameters/{name}"} for name in REQUEST_HEADERS
)
ANSWER_HEADERS: Final[Mapping[str, Schema]] = {
    "TraceId": {
        "description": "The caller's own trace id, or a new one.",
        "schema": {"type": "string"},
        "example": _TRACE,
    },
    "RateLimit": {
        "description": (
            "What is left of the quota: tokens in `r`, seconds until the next one in `t`. "
            "Absent if the call was refused before the quota was checked."
        ),
        "schema": {"type": "string"},
        "example": '"read";r=98;t=1',
    },
    "RateLimitPolicy": {
        "description": "The quota: the largest burst in `q`, seconds to fill it in `w`.",
        "schema": {"type": "string"},
        "example": '"read";q=100;w=2',
    },
    "WwwAuthenticate": {
        "required": True,
        "description": "How to sign in here.",
        "schema": {"type": "string"},
        "example": 'Basic realm="baas", charset="UTF-8"',
    },
    "Version": {
        "required": True,
        "description": "The version of this record; send it in `If-Match` with a change.",
        "schema": {"type": "string"},
        "example": VERSION_TAG,
    },
    "RetryAfter": {
        "required": True,
        "description": "Seconds to wait before the next attempt.",
        "schema": {"type": "integer", "format": "int64", "minimum": 1},
        "example": 2,
    },
}
"""Headers of answers, by their names as components."""


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/headers/{name}"}


_WAIT: Final = {"Retry-After": _reference("RetryAfter")}
_EVERY: Final = {"X-Trace-ID": _reference("TraceId")}
_QUOTA: Final = {
    "RateLimit": _reference("RateLimit"),
    "RateLimit-Policy": _reference("RateLimitPolicy"),
}
VERSION: Final = {"ETag": _reference("Version")}
"""Of answers that tell the version of what they show."""
_BY_STATUS: Final[Mapping[int, Mapping[str, Schema]]] = {
    401: {"WWW-Authenticate": _reference("WwwAuthenticate")},
    429: _WAIT,
    502: _WAIT,
    503: _WAIT,
}


def answer_headers(status: int, codes: Iterable[ErrorCode]) -> dict[str, Schema]:
    """Return the headers of an answer; the row's ``codes`` tell whether its calls are counted."""
    counted = errors.TOO_MANY_REQUESTS in codes
    return {**_EVERY, **(_QUOTA if counted else {}), **_BY_STATUS.get(status, {})}


UNKNOWN: Final = "an example is missing"
_ID: Final = "6f1c2f0e-5d3a-4b7e-9c1d-2a4f6b8c0d1e"
DAY: Final = "2026-11-20"
"""The day of every example; documents that are served show today instead."""
ORIGIN: Final = "https://gateway.invalid"
"""
The server of a document; one that is served names the gateway's own address, where it is known.

A client that is generated from a path alone goes to a port of its own machine with its secret; this
name leads nowhere (RFC 2606).
"""
INSTANT: Final = f"{DAY}T13:40:11Z"
BY_NAME: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "adapter": "sandbox",
        "access_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI2ZjFjIn0.c2lnbmF0dXJl",
        "account": "123456-7",
        "account_id": _ID,
        "action": "credential.issued",
        "actor": "user:ana@example.com",
        "address": "203.0.113.7",
        "approved_by": "user:bia@example.com",
        "bank_name": "Banco Exemplo S.A.",
        "bank_number": "341",
        "body": '{"event": "charge.paid"}',
        "branch": "0001",
        "by": "user:ana@example.com",
        "code": errors.SCOPE_DENIED.code,
        "city": "Sao Paulo",
        "client_id": "cli_mfrggzdfmztwq2lknnwg",
        "client_secret": "gws_the-secret-is-shown-this-once",
        "companies": [_ID],
        "companies_before": [_ID],
        "company_id": _ID,
        "created_by": "user:ana@example.com",
        "lifted_by": "user:ana@example.com",
        "current_password": "uma frase bem comprida",
        "csrf_token": "kq3Zy2pZ0m1h",
        "date": DAY,
        "decided_by": "user:bia@example.com",
        "description": "Order 1042",
        "e2e_id": "E0000000020261120134011abcdefghi",
        "email": "ana@example.com",
        "event": "evt_1042",
        "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id": _ID,
        "ispb": "60701190",
        "key": "maria@example.com",
        "kid": "2026-11-a",
        "last_operation": "balance",
        "last_outcome": "ok",
        "limit": 25,
        "line": {},
        "mfa_token": "mfa_the-challenge-is-good-for-five-minutes",
        "name": "Maria Silva",
        "operations": ["charge_create"],
        "ordered_by": "user:ana@example.com",
        "new_password": "outra frase bem comprida",
        "otpauth_uri": "otpauth://totp/pixgate:ana%40example.com?secret=JBSWY3DPEHPK3PXP",
        "password": "uma frase bem comprida",
        "payment": "order-1042",
        "permissions": ["balance:read"],
        "problem": "",
        "proposed_by": "user:ana@example.com",
        "provider": "sandbox",
        "provider_account": "0001-123456",
        "provider_key": "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "provider_id": "trf_0190c4c2",
        "qr_svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
        "reason": "asked for by telephone",
        "recovery_codes": ["7k3m-9qwd-2xfp"],
        "reference": "order-1042",
        "refresh_token": "rt_the-token-works-once",
        "return_id": "D0000000020261120134011abcdefghi",
        "rights": ["balance:read"],
        "roles": ["viewer"],
        "route": "banking.balance",
        "secret": "JBSWY3DPEHPK3PXP",
        "state": "review",
        "subject": _ID,
        "surface": "banking",
        "tags": ["1042", "E0000000020261120134011abcdefghi"],
        "tax_number": "52998224725",
        "text": "Choose your password: https://pix.example/panel/reset",
        "to": "ana@example.com",
        "token": "lnk_the-link-is-good-once",
        "trace_id": "5f0c7b7e-8c0a-4f0e-9a53-6f4f1f1d2c3b",
        "user_agent": "Mozilla/5.0",
        "user_id": _ID,
        "version": "1.0.0",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "zip_code": "01310100",
    }
)
"""What a field of this name shows, on every surface alike."""
_SEEN: Final = 1_790_084_411
"""The instant of the times that stand beside it as texts, 2026-09-22T13:40:11Z."""
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
COMPANY: Final = "Loja Exemplo Ltda"
CNPJ: Final = "11222333000181"
"""The company of the examples, which owns the accounts; Maria pays and is paid."""
_CREDENTIAL: Final = "Loja online"
_ACCOUNTS: Final = (
    "Account",
    "AccountRecord",
    "AccountRegistered",
    "AccountRequest",
    "PayingAccount",
)
BY_FIELD: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "BankAccountPayoutRequest.reference": "order-1043",
        **{f"{schema}.name": COMPANY for schema in _ACCOUNTS},
        **{f"{schema}.tax_number": CNPJ for schema in _ACCOUNTS},
        "Company.name": COMPANY,
        "CompanyRequest.name": COMPANY,
        "Connection.message": "The bank knows the account and accepts its credentials.",
        "Connection.outcome": "works",
        "Credential.name": _CREDENTIAL,
        "CredentialRequest.name": _CREDENTIAL,
        "ErrorCode.code": errors.TOO_MANY_REQUESTS.code,
        "ErrorCode.message": errors.TOO_MANY_REQUESTS.message,
        "ErrorCode.status": [errors.TOO_MANY_REQUESTS.status],
        "Explanation.status": errors.SCOPE_DENIED.status,
        "Fault.fault": "status",
        "Fault.status": 500,
        "FoundName.name": COMPANY,
        "Fresh.expires_at": _SEEN + 5 * _MINUTE,
        "Info.name": "pixgate",
        "LoggedRequest.status": errors.SCOPE_DENIED.status,
        "Name.name": COMPANY,
        "Outcome.code": "",
        "Outcome.status": "done",
        "OwnCompany.name": COMPANY,
        "OwnSession.expires_at": _SEEN + 8 * _HOUR,
        "Owner.name": COMPANY,
        "Payer.message": "Order 1042",
        "Provider.name": "sandbox",
        "Secret.name": _CREDENTIAL,
        "SignedIn.refresh_expires_at": _SEEN + 8 * _HOUR,
        "Tokens.refresh_expires_at": _SEEN + 8 * _HOUR,
    }
)
"""What a field of one schema shows, where its name alone does not say it: ``Schema.field``."""
_LIKELY: Final[Mapping[str, str]] = MappingProxyType(
    {"status": "paid", "state": "paid", "certainty": "settled", "environment": "sandbox"}
)
"""The word of an enumeration that fits the other fields, such as the time at which it settled."""
_BY_FORM: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "uuid": _ID,
        "date": DAY,
        "date-time": INSTANT,
        "boolean": True,
        "object": {},
    }
)
"""By format, or by type where there is none."""
_NUMBERS: Final = frozenset({"integer", "number"})
_BY_ENDING: Final[Mapping[str, int]] = MappingProxyType(
    {"_at": _SEEN + 10 * _MINUTE, "status": 200}
)
"""Whole numbers that count nothing: seconds since 1970, statuses of HTTP."""


def example_of(
    schema: Mapping[str, Any],
    components: Mapping[str, Mapping[str, Any]],
    name: str = "",
    component: str = "",
) -> Any:  # noqa: ANN401 - as free as JSON
    """
    Make an example of a schema.

    ``name`` is that of the field it describes, ``component`` its own; both may be empty.
    """
    if "examples" in schema:
        return schema["examples"][0]
    if "const" in schema:
        return schema["const"]
    if "$ref" in schema:
        own = schema["$ref"].rpartition("/")[2]
        return example_of(components[own], components, name, own)
    forms = schema.get("oneOf") or schema.get("anyOf")
    if forms:
        return example_of(forms[0], components, name)
    if "enum" in schema:
        likely = _LIKELY.get(name)
        return likely if likely in schema["enum"] else schema["enum"][0]
    return _plain(schema, components, name, component)


def _plain(
    schema: Mapping[str, Any],
    components: Mapping[str, Mapping[str, Any]],
    name: str,
    component: str,
) -> Any:  # noqa: ANN401 - as free as JSON
    """Make an example of what is no choice."""
    if "properties" in schema:
        return _object(schema, components, component)
    if name in BY_NAME:
        return BY_NAME[name]
    if schema.get("type") == "array":
        return [example_of(schema["items"], components, name)] if "items" in schema else []
    if schema.get("type") in _NUMBERS:
        return _number(schema, name)
    return _BY_FORM.get(schema.get("format", schema.get("type", "")), UNKNOWN)


def _number(schema: Mapping[str, Any], name: str) -> int:
    """Show one of what is counted, and more where no one is possible."""
    for ending, number in _BY_ENDING.items():
        if name.endswith(ending):
            return number
    least: int = schema.get("minimum", 1)
    return max(1, least)


def _object(
    schema: Mapping[str, Any], components: Mapping[str, Mapping[str, Any]], component: str
) -> dict[str, Any]:
    """Show what is always there, and what has an example of its own."""
    needed = schema.get("required", ())
    shown = {}
    for field, part in schema["properties"].items():
        own = f"{component}.{field}"
        if own in BY_FIELD:
            shown[field] = BY_FIELD[own]
        elif field in needed or "examples" in part:
            shown[field] = example_of(part, components, field)
    return shown
