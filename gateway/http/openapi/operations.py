"""A route as an operation: its group, its parameters, and every code it can answer with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from gateway.core import errors, schemas
from gateway.core.catalogue import ErrorCode
from gateway.core.fields import CLIENT_ID, ID, TRACE_ID
from gateway.http.openapi.examples import (
    REQUEST_REFERENCES,
    VERSION,
    VERSION_TAG,
    answer_headers,
    example_of,
)
from gateway.http.openapi.files import file_example
from gateway.http.openapi.recorded import recorded
from gateway.http.openapi.schemas import REF, Schema, tidied
from gateway.http.route import Gate, Route

_EVERYWHERE: Final = (
    errors.MALFORMED_REQUEST,
    errors.BODY_TOO_LARGE,
    errors.REQUEST_TIMEOUT,
    errors.HEADERS_TOO_LARGE,
    errors.OVERLOADED,
    errors.DRAINING,
    errors.INTERNAL,
)


def codes_of(gate: Gate[Any], route: Route[Any]) -> list[ErrorCode]:
    """Return every code a route can answer with, each once."""
    found: dict[str, ErrorCode] = {}
    sources: Iterable[Sequence[ErrorCode]] = (
        _EVERYWHERE,
        *(policy.refuses for policy in gate.policies),
        route.takes.refuses,
        tuple(route.fails.values()),
        route.raises,
    )
    for source in sources:
        found.update((error.name, error) for error in source)
    return list(found.values())


_UNAUTHORIZED: Final = 401
OTHER: Final = "Other"
"""Of a path whose word is in no group: a mistake that a test names."""
_GROUPS: Final = MappingProxyType(
    {
        "Balance": ("What the account holds, live from the bank.", "balance blocks"),
        "PIX keys": ("The keys through which the account is paid.", "pix/keys"),
        "Charges": ("Requests for payment: PIX QR codes.", "pix/qrcode charges"),
        "PIX transactions": ("Charges as payments, and payments received.", "pix/transactions"),
        "Refunds": ("Payments given back.", "pix/refunds"),
        "Statement": ("Movements of the account.", "transactions statement report closings"),
        "Payouts": (
            "Money paid out, by PIX key or to a bank account.",
            "withdraw withdraws payouts recipients batches search counts bank-numbers",
        ),
        "Events": ("What happened, to be read in its order.", "events"),
        "Accounts": (
            "Accounts as registered, and the bank behind each.",
            "accounts provider names",
        ),
        "Companies": ("The owners of accounts and credentials.", "companies"),
        "Credentials": ("What partners' servers authenticate with.", "credentials"),
        "Endpoints": (
            "Where events are delivered to partners, and each delivery.",
            "endpoints deliveries",
        ),
        "Chats": ("Rooms that are told what needs somebody.", "chats"),
        "People": ("Operators: who they are and what they may do.", "users roles"),
        "Stops": (
            "Kill switches: payouts refused for a while, and the guard that makes some.",
            "stops outflow",
        ),
        "Reviews": ("Payouts whose outcome two users decide.", "reviews unresolved"),
        "Approvals": ("Orders that wait for a second user.", "approvals"),
        "Records": (
            "Audit log, request log, callbacks and mail.",
            "audit requests traces webhooks mailbox",
        ),
        "Configuration": ("What this process works with.", "config"),
        "Sandbox": (
            "What the sandbox bank is made to do; not in production.",
            "sandbox top-up faults",
        ),
        "Providers": ("The banks behind the gateway.", "providers weather"),
        "Overview": ("How payouts go, and what needs a person.", "overview readings"),
        "Sign-in": ("From a password to a session.", "login mfa refresh logout session step-up"),
        "Own sign-ins": ("Where one is signed in.", "sessions"),
        "Own password": ("Set, changed, forgotten.", "password invitations"),
        "Own second factor": (
            "The authenticator app, its recovery codes, and passkeys.",
            "totp recovery-codes passkeys",
        ),
        "Service": ("Name, health and error codes; open to everybody.", "info health error-codes"),
    }
)
_GROUP_OF: Final = {word: name for name, (_, words) in _GROUPS.items() for word in words.split(" ")}
_ABOVE: Final = frozenset({"account", "accounts", "auth"})
"""What stands in front of the word that tells, where another follows."""


def tag_of(route: Route[Any]) -> str:
    """Return the group of an operation."""
    words = [word for word in route.path.split("/") if word and not word.startswith("{")]
    if len(words) > 1 and words[0] in _ABOVE:
        words = words[1:]
    word = "/".join(words[:2]) if words[:1] == ["pix"] else "".join(words[:1])
    return _GROUP_OF.get(word, OTHER)


def shown_tags(names: Iterable[str]) -> list[dict[str, str]]:
    """Describe the groups that are used, in their order."""
    used = set(names)
    groups = {name: description for name, (description, _) in _GROUPS.items()}
    groups[OTHER] = "Everything else."
    return [
        {"name": name, "description": description}
        for name, description in groups.items()
        if name in used
    ]


ERROR: Final = "Error"
LISTENER_ERROR: Final = "ListenerError"
"""Of a status with which the listener refuses too, on the surfaces of people."""
EXPLAINING: Final = ("field", "reason")
"""What a refusal has beside the contract's three, on the surfaces of people."""
_BELOW_SURFACES: Final = (
    errors.MALFORMED_REQUEST,
    errors.REQUEST_TIMEOUT,
    errors.HEADERS_TOO_LARGE,
    errors.DRAINING,
)
"""What the listener refuses before it is known for which surface: with three fields alone."""
JSON: Final = "application/json"
_UUID: Final[Mapping[str, Any]] = {
    "type": "string",
    "format": "uuid",
    "examples": [ID],
}
_REFERENCE: Final[Mapping[str, Any]] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1024,
    "pattern": schemas.REFERENCE,
    "examples": ["order-1042"],
}
_PATH: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "client_id": {**_REFERENCE, "examples": [CLIENT_ID]},
        "provider": {**_REFERENCE, "examples": ["sandbox"]},
        "reference": _REFERENCE,
        "trace_id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9._:-]{1,128}$",
            "examples": [TRACE_ID],
        },
        "session_id": {
            "type": "string",
            "pattern": "^[0-9a-f]{12}$",
            "examples": ["0f1e2d3c4b5a"],
        },
        "public_key_id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9_-]{43}$",
            "examples": ["poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"],
        },
        "day": {"type": "string", "format": "date", "examples": ["2026-09-22"]},
        "token": {**_REFERENCE, "examples": ["lnk_the-link-is-good-once"]},
    }
)
"""What stands in a path; every other name is that of a UUID."""
_PATH_MEANS: Final[Mapping[str, str]] = {
    "reference": "The reference, percent-encoded: `order/1` is `order%2F1`.",
    "provider": "The bank, by its name in the configuration.",
    "day": "A day in the time of Brasília, `YYYY-MM-DD`.",
}
"""Every other name is ``THING_id``."""
_IF_MATCH: Final[Schema] = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "example": VERSION_TAG,
    "description": (
        "The `ETag` that was read. If the record has changed since, the answer is 412 "
        "and nothing changes. Without it, the last write wins."
    ),
}
_SHAPELESS: Final = (None, type(None), bytes)


@dataclass(frozen=True, slots=True)
class Shapes:
    """The types of the routes as schemas, and the components these refer to."""

    by_type: Mapping[Any, Schema]
    components: Mapping[str, Schema]

    def content(self, kind: type, media: Sequence[str] = (JSON,)) -> Schema:
        """Describe a body of a type, with an example."""
        schema = self.by_type[kind]
        example = example_of(schema, self.components)
        return {each: {"schema": schema, "example": example} for each in media}

    def sent(self, kind: type) -> Schema:
        """Describe the body of a request; a choice has an example of each form."""
        schema = self.by_type[kind]
        choice = self.components.get(schema.get("$ref", "").rpartition("/")[2], {})
        if "discriminator" not in choice:
            return self.content(kind)
        examples = {
            word: {"value": example_of({"$ref": form}, self.components)}
            for word, form in choice["discriminator"]["mapping"].items()
        }
        return {JSON: {"schema": schema, "examples": examples}}


def shapes_of(route: Route[Any]) -> list[type]:
    """Return the types of a route's answers that have a shape."""
    return [each for each in (route.document, *route.also.values()) if each not in _SHAPELESS]


def bodies_of(route: Route[Any]) -> list[type]:
    """Return the type of a route's request; none where no body is read."""
    return [] if route.takes.body is None else [route.takes.body]


def operation(gate: Gate[Any], route: Route[Any], shapes: Shapes) -> Schema:
    """Describe one route."""
    codes = codes_of(gate, route)
    shown: Schema = {
        "operationId": route.name.replace(".", "_"),
        "tags": [tag_of(route)],
        "summary": route.summary,
        "description": _description(gate, route),
        "parameters": [*_parameters(route), *REQUEST_REFERENCES],
        "responses": _answers(route, codes, shapes),
        "security": [{gate.scheme: []}] if gate.scheme else [],
    }
    if route.takes.body is not None:
        required = not route.takes.may_be_absent
        shown["requestBody"] = {"required": required, "content": shapes.sent(route.takes.body)}
    return shown


def _description(gate: Gate[Any], route: Route[Any]) -> str:
    """Describe the right that a route requires, and a route on which no call succeeds."""
    needs = f"Needs `{route.needs}`." if route.needs is not None else _beyond_rights(gate, route)
    if not _never_succeeds(route):
        return needs
    error = errors.CANCEL_NOT_IMPLEMENTED
    return (
        f"{needs} Always answers {error.status} `{error.code}`: a submitted payout is final. "
        "The reference is not looked up, and nothing changes."
    )


def _beyond_rights(gate: Gate[Any], route: Route[Any]) -> str:
    """Describe the callers of a route that requires no right; without a 401, no sign-in either."""
    if not gate.scheme:
        return "Open to everybody."
    if any(error.status == _UNAUTHORIZED for error in codes_of(gate, route)):
        return "Needs no right beyond the sign-in."
    return "Answers without a session, too."


def _never_succeeds(route: Route[Any]) -> bool:
    return errors.CANCEL_NOT_IMPLEMENTED in route.raises


def _parameters(route: Route[Any]) -> list[Schema]:
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    path = [
        {
            "name": each,
            "in": "path",
            "required": True,
            "schema": dict(_PATH.get(each, _UUID)),
            "description": _PATH_MEANS.get(each, f"Id of the {each[:-3].replace('_', ' ')}."),
        }
        for each in names
    ]
    query = [
        {
            "name": each.name,
            "in": "query",
            "required": each.required,
            "schema": tidied(dict(each.schema), {}),
            "description": each.description,
        }
        for each in route.takes.parameters
    ]
    return path + query + ([_IF_MATCH] if errors.VERSION_CHANGED in route.raises else [])


def _answers(route: Route[Any], codes: Sequence[ErrorCode], shapes: Shapes) -> Schema:
    """Describe the answers where nothing is refused, then every refusal, by status."""
    described: Schema = {}
    if not _never_succeeds(route):
        for status, shape in {route.status: route.document, **route.also}.items():
            described[str(status)] = _success(route, status, shape, (codes, shapes))
    for status in sorted({error.status for error in codes}):
        described[str(status)] = _with_recorded(route, status, _refusal(status, codes, shapes))
    return described


def _success(
    route: Route[Any],
    status: int,
    shape: Any,  # noqa: ANN401 - any type
    known: tuple[Sequence[ErrorCode], Shapes],
) -> Schema:
    """Describe an answer of a document, of bytes or of nothing."""
    codes, shapes = known
    answer: Schema = {"description": "Success.", "headers": answer_headers(status, codes)}
    if route.tells_version and status == route.status:
        answer["headers"] |= VERSION
    if shape is bytes:
        answer["content"] = {media.partition(";")[0]: _file(route, media) for media in route.media}
    elif shape is not type(None):
        answer["content"] = shapes.content(shape, route.media)
    return _with_recorded(route, status, answer)


def _with_recorded(route: Route[Any], status: int, answer: Schema) -> Schema:
    """Replace a made example by the sandbox's recorded answer, where there is one."""
    answers = recorded(route.name, status)
    if answers:
        examples = {word: {"value": each} for word, each in answers.items()}
        answer["content"] = {
            media: {**{k: v for k, v in each.items() if k != "example"}, "examples": examples}
            for media, each in answer["content"].items()
        }
    return answer


def _file(route: Route[Any], media: str) -> Schema:
    """Describe a file; JSON may have any schema."""
    kind = media.partition(";")[0]
    shown: Schema = {} if kind == JSON else {"schema": {"type": "string"}}
    return {**shown, "example": file_example(route.name, kind)}


def _refusal(status: int, codes: Sequence[ErrorCode], shapes: Shapes) -> Schema:
    """Describe every refusal of one status; the example is the last, the route's own."""
    listed = [error for error in codes if error.status == status]
    own = listed[-1]
    below = LISTENER_ERROR in shapes.components and any(each in _BELOW_SURFACES for each in listed)
    explains = LISTENER_ERROR in shapes.components and own is not errors.HEADERS_TOO_LARGE
    example = {
        "code": own.code,
        "message": own.message,
        "trace_id": TRACE_ID,
        **(dict.fromkeys(EXPLAINING, "") if explains else {}),
    }
    name = LISTENER_ERROR if below else ERROR
    return {
        "description": "\n".join(sorted({f"- `{each.code}`: {each.message}" for each in listed})),
        "headers": answer_headers(status, codes),
        "content": {JSON: {"schema": {"$ref": REF.format(name=name)}, "example": example}},
    }
