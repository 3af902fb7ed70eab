"""Requests and answers of the bank: bodies read strictly, refusals in its error shape."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aiohttp import web
from aiohttp.typedefs import Handler

from provider_adapters.sandbox.bank.kernel import refusals
from provider_adapters.sandbox.bank.kernel.faults import Fault
from provider_adapters.sandbox.bank.kernel.refusals import Code, Refusal

_LOG = logging.getLogger(__name__)
_CODES: Final = {
    401: Code.UNAUTHORIZED,
    404: Code.NOT_FOUND,
    405: Code.METHOD_NOT_ALLOWED,
    413: Code.TOO_LARGE,
    429: Code.TOO_MANY_REQUESTS,
}
_SERVER_ERROR = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """
    The bank's answer to a request.

    Attributes:
        fault: What a magic amount does to the answer.
    """

    document: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None

    def body(self) -> bytes:
        """Encode the document as JSON, UTF-8."""
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":")).encode()


def refusal(problem: Refusal) -> Answer:
    """Return the answer of a refusal."""
    return error(problem.status, problem.code, problem.message)


def error(status: int, code: str, message: str) -> Answer:
    """Return an error in the bank's shape."""
    return Answer(document={"error": {"code": code, "message": message}}, status=status)


def failure(status: int, *, executed: bool = False) -> Answer:
    """
    Return the error of a bare HTTP status; the code says no more than the status.

    Of what was executed all the same, no code says that it was refused before.
    """
    fallback = Code.INTERNAL if status >= _SERVER_ERROR else Code.INVALID_REQUEST
    if executed:
        return error(status, fallback, "the request failed")
    return error(status, _CODES.get(status, fallback), "the request failed")


def respond(answer: Answer) -> web.Response:
    """Build the HTTP response of an answer."""
    return web.Response(
        body=answer.body(),
        status=answer.status,
        headers=answer.headers,
        content_type="application/json",
    )


@web.middleware
async def show_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every refusal and every failure in the bank's error shape."""
    try:
        return await handler(request)
    except Refusal as problem:
        return respond(refusal(problem))
    except web.HTTPException as problem:
        allowed = problem.headers.getall("Allow", [])
        shown = failure(problem.status)
        headers = {"Allow": allowed[0]} if allowed else {}
        return respond(Answer(document=shown.document, status=shown.status, headers=headers))
    except Exception:  # noqa: BLE001 - the last resort: JSON even for a mistake of the bank's own
        _LOG.exception("the sandbox bank failed")
        return respond(failure(_SERVER_ERROR))


Document: TypeAlias = Mapping[str, object]
LARGEST: int = 999_999_999_999_999
"""The largest amount anywhere, in centavos: R$ 9 999 999 999 999.99."""
_REAIS = re.compile(r"([0-9]{1,13})(?:\.([0-9]{1,2}))?")


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
        """Read from this object."""
        self._document = document

    def __contains__(self, name: str) -> bool:
        return self._document.get(name) is not None

    def says_null(self, name: str) -> bool:
        """Return whether the field is ``null``, where that differs from absent."""
        return name in self._document and self._document[name] is None

    def text(self, name: str, default: str | None = None) -> str:
        """Read a text; without a default it must not be empty."""
        value = self._document.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or isinstance(value, NumberText):
            raise _wrong(name, "a text")
        if not value and default is None:
            raise _wrong(name, "not empty")
        return value

    def texts(self, name: str) -> list[str]:
        """Read a list of texts."""
        value = self._document.get(name)
        if not isinstance(value, list):
            raise _wrong(name, "a list of texts")
        if not all(isinstance(each, str) and not isinstance(each, NumberText) for each in value):
            raise _wrong(name, "a list of texts")
        return value

    def choice(self, name: str, choices: Mapping[str, str], default: str | None = None) -> str:
        """Read one of the listed words; return what it stands for."""
        word = self.text(name, default)
        if word not in choices:
            raise _wrong(name, f"one of {', '.join(choices)}")
        return choices[word]

    def whole(self, name: str, default: int | None = None) -> int:
        """Read an integer."""
        value = self._document.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong(name, "an integer")
        return value

    def centavos(self, name: str) -> int:
        """Read an amount in centavos, above zero."""
        value = self.whole(name)
        if not 0 < value <= LARGEST:
            raise _wrong(name, "above zero")
        return value

    def reais(self, name: str) -> int:
        """Read an amount in reais, above zero, at most two decimals; return centavos."""
        value = self._document.get(name)
        if isinstance(value, bool) or not isinstance(value, int | NumberText):
            raise _wrong(name, "a number in reais")
        match = _REAIS.fullmatch(str(value))
        centavos = int(match[1]) * 100 + int((match[2] or "").ljust(2, "0")) if match else 0
        if not centavos:
            raise _wrong(name, "above zero, with at most two decimals")
        return centavos

    def seconds(self, name: str) -> float:
        """Read a number of seconds, of either sign."""
        value = self._document.get(name)
        if isinstance(value, bool) or not isinstance(value, int | NumberText):
            raise _wrong(name, "a number of seconds")
        try:
            return float(value)
        except OverflowError as problem:
            raise _wrong(name, "a number of seconds") from problem

    def flag(self, name: str) -> bool:
        """Read true or false; absent is false."""
        value = self._document.get(name, False)
        if not isinstance(value, bool):
            raise _wrong(name, "true or false")
        return value

    def inside(self, name: str) -> Fields:
        """Read an object."""
        value = self._document.get(name)
        if not isinstance(value, dict):
            raise _wrong(name, "an object")
        return Fields(value)


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
        document = json.loads(raw, parse_float=NumberText, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise refusals.invalid(problem) from error
    if not isinstance(document, dict):
        raise refusals.invalid(problem)
    return Fields(document)


def _no_constant(name: str) -> object:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _wrong(name: str, wanted: str) -> refusals.Refusal:
    return refusals.invalid(f"{name} is {wanted}")
