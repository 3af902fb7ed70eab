"""Requests and answers of the bank: refusals, injected faults, and JSON read strictly."""

from __future__ import annotations

import json
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from http import HTTPStatus
from itertools import chain, takewhile
from typing import Final, Self, TypeAlias, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from gateway.core.money import MAX_CENTAVOS

Found = TypeVar("Found")


class Code(StrEnum):
    """Every reason to refuse, with the usual status; a dialect has its own words for each."""

    status: int

    def __new__(cls, word: str, status: int = 400) -> Self:
        """Make a code of its word and status."""
        code = str.__new__(cls, word)
        code._value_, code.status = word, status
        return code

    INVALID_REQUEST = "INVALID_REQUEST"
    INSUFFICIENT_FUNDS = "INSUFFICIENT_FUNDS"
    KEY_NOT_FOUND = "KEY_NOT_FOUND"
    ACCOUNT_INVALID = "ACCOUNT_INVALID"
    OWNER_MISMATCH = "OWNER_MISMATCH"
    KEY_NOT_OWNED = "KEY_NOT_OWNED"
    REJECTED = "REJECTED"
    UNAUTHORIZED = "UNAUTHORIZED", 401
    WRONG_ACCOUNT = "WRONG_ACCOUNT", 403
    NOT_ALLOWED = "NOT_ALLOWED", 403
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED", 403
    NOT_FOUND = "NOT_FOUND", 404
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED", 405
    DUPLICATE = "DUPLICATE", 409
    REFERENCE_IN_USE = "REFERENCE_IN_USE", 409
    KEY_IN_USE = "KEY_IN_USE", 409
    CHARGE_PAID = "CHARGE_PAID", 409
    CHARGE_CANCELED = "CHARGE_CANCELED", 409
    CHARGE_EXPIRED = "CHARGE_EXPIRED", 409
    ALREADY_EXISTS = "ALREADY_EXISTS", 409
    AMBIGUOUS = "AMBIGUOUS", 409
    TOO_LARGE = "TOO_LARGE", 413
    KEY_REUSED = "KEY_REUSED", 422
    ABOVE_PAYMENT = "ABOVE_PAYMENT"
    BALANCE_LIMIT = "BALANCE_LIMIT"
    PAYMENT_TOO_OLD = "PAYMENT_TOO_OLD"
    TOO_MANY_REQUESTS = "TOO_MANY_REQUESTS", 429
    INTERNAL = "INTERNAL", 500


_OF_STATUS: Final = {
    401: Code.UNAUTHORIZED,
    404: Code.NOT_FOUND,
    405: Code.METHOD_NOT_ALLOWED,
    413: Code.TOO_LARGE,
    429: Code.TOO_MANY_REQUESTS,
}


class Refusal(Exception):
    """
    A request that the bank refuses; nothing was changed.

    Attributes:
        status: The HTTP status of the answer; 400 unless the code has its own.
        code: The bank's error code.
        message: The text for people.
    """

    def __init__(self, code: Code, message: str, *, status: int | None = None) -> None:
        """Set ``status`` only where it differs from the code's usual one."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status or code.status


def invalid(message: str) -> Refusal:
    """Return the refusal of a body or a query that cannot be read."""
    return Refusal(Code.INVALID_REQUEST, message)


def require(holds: object, otherwise: str) -> None:
    """Refuse a request of which something does not hold; raises ``INVALID_REQUEST``."""
    if not holds:
        raise invalid(otherwise)


def found(record: Found | None, what: str) -> Found:
    """Return a record that was looked for; raises ``NOT_FOUND``."""
    if record is None:
        raise Refusal(Code.NOT_FOUND, f"{what} not found")
    return record


def of_status(status: int, *, executed: bool = False) -> Refusal:
    """
    Return the refusal of a bare HTTP status; the code says no more than the status.

    An executed order never gets the code of a refusal before execution.
    """
    failed = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    fallback = Code.INTERNAL if failed else Code.INVALID_REQUEST
    code = fallback if executed else _OF_STATUS.get(status, fallback)
    return Refusal(code, "the request failed", status=status)


OPERATIONS = (
    "balance",
    "statement",
    "keys",
    "charge",
    "payment",
    "payout",
    "payout_read",
    "refund",
    "refund_read",
    "callbacks",
    "access",
    "*",
)
"""The operations a fault can be injected into; ``*`` is all of them."""


class FaultKind(StrEnum):
    """The ways to fail; the README describes each."""

    REFUSE = "refuse"
    REJECT = "reject"
    HANG = "hang"
    HANG_AFTER = "hang_after"
    RESET_BEFORE = "reset_before"
    RESET_AFTER = "reset_after"
    DRIP = "drip"
    STATUS = "status"
    MALFORMED = "malformed"
    WRONG_TYPES = "wrong_types"
    HUGE = "huge"


_NOT_EXECUTED = (FaultKind.REFUSE, FaultKind.REJECT, FaultKind.HANG, FaultKind.RESET_BEFORE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """
    One fault as injected.

    Attributes:
        count: How many requests it still affects; None until it is cleared.
            For ``refuse``: seconds.
        status: The status of the answer, for ``status``.
        executed: Whether the request is executed before that answer.
        account: The one customer whose requests it affects; empty for every customer's.
        key: The ``Idempotency-Key`` of the one order that it affects; empty for any request.
    """

    fault: FaultKind
    operation: str = "*"
    status: int = 500
    count: int | None = 1
    executed: bool = False
    account: str = ""
    key: str = ""

    @property
    def executes(self) -> bool:
        """Whether the request is executed, with any answer to its caller."""
        if self.fault is FaultKind.STATUS:
            return self.executed
        return self.fault not in _NOT_EXECUTED


class Faults:
    """
    The faults that wait for requests, in memory only: every customer's, then the account's own.

    Those of an account are kept apart: whoever orders them slows down no request of another. They
    wait for a day after the account ordered one; it may never make the calls.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()

    def __iter__(self) -> Iterator[Fault]:
        return chain.from_iterable(each.faults for each in self._waiting.values())

    def __len__(self) -> int:
        return sum(len(each.faults) for each in self._waiting.values())

    def add(self, fault: Fault, at: int) -> None:
        """
        Let a fault wait that was ordered at an instant; of an account's own twenty at most do.

        The oldest gives way.
        """
        self._end(at)
        waiting = self._waiting.setdefault(fault.account, _Waiting())
        waiting.faults.append(fault)
        waiting.ordered_at = at
        self._waiting.move_to_end(fault.account)
        if fault.account and len(waiting.faults) > _MOST_OF_ACCOUNT:
            del waiting.faults[0]

    def clear(self) -> None:
        """Forget every fault."""
        self._waiting.clear()

    def take(self, operation: str, account: Callable[[], str], key: str) -> Fault | None:
        """
        Return the fault for this request, if any, and count it down.

        Args:
            operation: Of the request.
            account: Returns the customer, empty for none; called only while an account has a fault.
            key: The ``Idempotency-Key``; empty without one.
        """
        fault = self._take(_EVERYBODY, operation, key)
        if fault is None and len(self._waiting) > (_EVERYBODY in self._waiting):
            fault = self._take(account(), operation, key)
        return fault

    def _take(self, account: str, operation: str, key: str) -> Fault | None:
        waiting = self._waiting.get(account)
        for place, fault in enumerate(waiting.faults if waiting else ()):
            if fault.operation in ("*", operation) and fault.key in ("", key):
                self._count_down(account, place)
                return fault
        return None

    def _count_down(self, account: str, place: int) -> None:
        faults = self._waiting[account].faults
        fault = faults[place]
        if fault.count is not None:
            left = replace(fault, count=fault.count - 1)
            faults[place : place + 1] = [left] if left.count else []
        if not faults:
            del self._waiting[account]

    def _end(self, at: int) -> None:
        """Forget accounts that ordered their latest more than a day ago."""
        ended = takewhile(
            lambda each: not each[0] or each[1].ordered_at < at - _KEPT, self._waiting.items()
        )
        for account in [account for account, _ in ended if account]:
            del self._waiting[account]


_EVERYBODY: Final = ""
_MOST_OF_ACCOUNT: Final = 20
_KEPT: Final = 86_400_000_000
"""A day, in microseconds."""


@dataclass(slots=True)
class _Waiting:
    """Faults of one account, or of every customer."""

    faults: list[Fault] = field(default_factory=list)
    ordered_at: int = 0


Value = TypeVar("Value")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    The bank's answer to a request.

    Attributes:
        document: Written as JSON; bytes are sent as they are.
        fault: The effect of a magic amount on the answer.
    """

    document: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None

    def body(self) -> bytes:
        """Encode the document as JSON, UTF-8."""
        if isinstance(self.document, bytes):
            return self.document
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":")).encode()


RenderRefusal = Callable[[Refusal], Answer]
"""Shows a refusal as the bank does."""


def refusal(problem: Refusal) -> Answer:
    """Show a refusal as the control interface and the sandbox bank do."""
    said = {"code": problem.code, "message": problem.message}
    return Answer(document={"error": said}, status=problem.status)


def respond(answer: Answer) -> web.Response:
    """Build the HTTP response of an answer."""
    headers = {"Content-Type": "application/json", **answer.headers}
    return web.Response(body=answer.body(), status=answer.status, headers=headers)


def showing_refusals(render: RenderRefusal) -> Middleware:
    """Return the middleware that answers every refusal and every failure in the bank's shape."""

    @web.middleware
    async def show(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except Refusal as problem:
            return respond(render(problem))
        except web.HTTPException as problem:
            return respond(render(of_status(problem.status)))
        except Exception:  # noqa: BLE001 - the last resort: the bank's shape even for its own mistake
            _LOG.exception("the simulated bank failed")
            return respond(render(of_status(HTTPStatus.INTERNAL_SERVER_ERROR)))

    return show


Document: TypeAlias = Mapping[str, object]
_REAIS = re.compile(r"([0-9]{1,13})(?:\.([0-9]{1,2}))?")


def fields(record: object, *same: str, **renamed: str) -> dict[str, object]:
    """Return fields of a record for a document, under their own names and under others."""
    names = {**dict(zip(same, same, strict=True)), **renamed}
    return {theirs: getattr(record, ours) for theirs, ours in names.items()}


class NumberText(str):
    """The text of a JSON number that is not a plain integer."""

    __slots__ = ()


class Fields:
    """
    A JSON object, read field by field.

    Every method treats ``null`` as absent, and raises ``INVALID_REQUEST`` (400)
    for a field of another type, or for an absent one without default.
    """

    def __init__(self, document: Document) -> None:
        self._document = document

    def __contains__(self, name: str) -> bool:
        return self._document.get(name) is not None

    def says_null(self, name: str) -> bool:
        """Return whether the field is ``null``, where that differs from absent."""
        return name in self._document and self._document[name] is None

    def text(self, name: str, default: str | None = None) -> str:
        """Read a text; without a default it must not be empty."""
        value = self._read(name, str, "a text", default)
        if not value and default is None:
            raise _wrong(name, "not empty")
        return value

    def texts(self, name: str) -> list[str]:
        """Read a list of texts."""
        return self._list(name, str, "a list of texts")

    def optional(self, name: str, read: Callable[[str], Value]) -> Value | None:
        """Read a field with one of the methods here; None where it is absent."""
        return read(name) if name in self else None

    def choice(
        self, name: str, choices: Mapping[str, str] | Collection[str], default: str | None = None
    ) -> str:
        """Read one of the listed words; return its meaning, itself in a mere list."""
        word = self.text(name, default)
        if word not in choices:
            raise _wrong(name, f"one of {', '.join(choices)}")
        return choices[word] if isinstance(choices, Mapping) else word

    def whole(self, name: str, default: int | None = None) -> int:
        """Read an integer."""
        return self._read(name, int, "an integer", default)

    def centavos(self, name: str) -> int:
        """Read an amount in centavos, above zero."""
        value = self.whole(name)
        if not 0 < value <= MAX_CENTAVOS:
            raise _wrong(name, "above zero")
        return value

    def reais(self, name: str) -> int:
        """Read an amount in reais, above zero, at most two decimals; return centavos."""
        match = _REAIS.fullmatch(self._number(name))
        centavos = int(match[1]) * 100 + int((match[2] or "").ljust(2, "0")) if match else 0
        if not centavos:
            raise _wrong(name, "above zero, with at most two decimals")
        return centavos

    def seconds(self, name: str) -> float:
        """Read a number of seconds, of either sign."""
        return float(self._number(name))

    def flag(self, name: str) -> bool:
        """Read true or false; absent is false."""
        return self._read(name, bool, "true or false", default=False)

    def inside(self, name: str) -> Fields:
        """Read an object."""
        return Fields(self._read(name, dict, "an object"))

    def inside_all(self, name: str) -> list[Fields]:
        """Read a list of objects."""
        return [Fields(each) for each in self._list(name, dict, "a list of objects")]

    def _number(self, name: str) -> str:
        value = self._document.get(name)
        if type(value) not in (int, NumberText):
            raise _wrong(name, "a number")
        return str(value)

    def _list(self, name: str, kind: type[Value], wanted: str) -> list[Value]:
        values: list[Value] = self._read(name, list, wanted)
        if any(type(each) is not kind for each in values):
            raise _wrong(name, wanted)
        return values

    def _read(
        self, name: str, kind: type[Value], wanted: str, default: Value | None = None
    ) -> Value:
        """Read a value of exactly this type: true is no integer."""
        value = self._document.get(name)
        if value is None and default is not None:
            return default
        if type(value) is not kind:
            raise _wrong(name, wanted)
        return value


def read(raw: bytes) -> Fields:
    """
    Read a body; an empty one is an empty object.

    Raises:
        Refusal: ``INVALID_REQUEST`` for anything but a JSON object.
    """
    if not raw:
        return Fields({})
    problem = "the body is a JSON object"
    try:
        document = json.loads(raw, parse_float=NumberText)
    except (ValueError, RecursionError) as error:
        raise invalid(problem) from error
    if not isinstance(document, dict):
        raise invalid(problem)
    return Fields(document)


def _wrong(name: str, wanted: str) -> Refusal:
    return invalid(f"{name} is {wanted}")
