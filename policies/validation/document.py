"""Is the body one well-formed JSON object?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import RawRequest

_MEDIA_TYPE = re.compile(
    r"application/json *(?:;[\t -~]*)?",
    re.ASCII | re.IGNORECASE,
)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([^\";\s]*)\"?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number as it was written; only the reader of a field gives it meaning."""

    text: str


def document(asked: RawRequest) -> Mapping[str, Any]:
    """
    Read the body as one JSON object.

    Raises:
        ServiceError: ``SVC.VAL.011`` for another media type or charset, any
            content coding, and JSON that is malformed, not an object, or has
            duplicate keys, non-finite numbers or lone surrogates.
    """
    _check_media(asked)
    try:
        text = asked.body.decode("utf-8")
        found = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_float=Number,
            parse_int=Number,
            parse_constant=_refuse_constant,
        )
        if "\\u" in text:
            _refuse_surrogates(found)
    except (ValueError, RecursionError) as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, "json") from problem
    if not isinstance(found, dict):
        raise ServiceError(errors.PAYLOAD_INVALID, "json")
    return found


def _check_media(asked: RawRequest) -> None:
    """Let JSON in UTF-8 without a content coding through."""
    media = asked.content_type or ""
    charsets = {each.lower() for each in _CHARSET.findall(media)}
    if _MEDIA_TYPE.fullmatch(media) is None or charsets - {"utf-8"}:
        raise ServiceError(errors.PAYLOAD_INVALID, "media_type")
    if asked.content_encoding is not None:
        raise ServiceError(errors.PAYLOAD_INVALID, "content_coding")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object whose keys are all different."""
    found = dict(pairs)
    if len(found) != len(pairs):
        problem = "a key stands twice"
        raise ValueError(problem)
    return found


def _refuse_constant(name: str) -> Any:  # noqa: ANN401 - the signature of json.loads
    """Refuse NaN and the infinities, which are not JSON."""
    raise ValueError(name)


def _refuse_surrogates(found: object) -> None:
    """Raise UnicodeEncodeError, a ValueError, when any text holds a lone surrogate."""
    json.dumps(found, ensure_ascii=False, default=lambda number: number.text).encode()
