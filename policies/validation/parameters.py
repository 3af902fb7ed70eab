"""Checks of path and query parameters."""

from __future__ import annotations

from datetime import date

from gateway.core import errors, strict
from gateway.core.calls import Call, RawRequest
from gateway.core.errors import ServiceError
from policies.validation import fields
from policies.validation.fields import like_ours

_CHECKED = ("account_id", "key_id")


class Identifiers:
    """Checks ``account_id``, then ``key_id``, where the route has them."""

    refuses = (errors.IDENTIFIER_INVALID,)

    def __call__(self, call: Call) -> None:
        """Let the call on if each is a hyphenated UUID of any letter case (contract part 7)."""
        path = call.asked.path
        for name in _CHECKED:
            if name in path:
                uuid(path[name], name)


def key_id(asked: RawRequest) -> str:
    """Return the ``key_id`` of the path in lower case."""
    return uuid(asked.path["key_id"], "key_id")


def reference(asked: RawRequest) -> str:
    """
    Return the ``reference`` of the path as it stands, decoded once.

    Raises:
        ServiceError: ``SVC.VAL.011`` when it could never have been stored.
    """
    try:
        return strict.reference(asked.path["reference"])
    except ValueError as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, "reference_form", field="reference") from problem


def day(asked: RawRequest) -> date:
    """Return the ``day`` of the path, ``YYYY-MM-DD``; ``SVC.VAL.007`` otherwise."""
    return fields.day(asked.path["day"], "day")


def uuid(text: str, name: str) -> str:
    """Read a hyphenated UUID into lower case; ``name`` is that of its field."""
    try:
        return strict.uuid_text(text)
    except ValueError as problem:
        raise ServiceError(errors.IDENTIFIER_INVALID, "uuid_form", field=name) from problem


class KnownParameters:
    """
    Refuses an unknown query parameter: a misspelt filter would return an unfiltered list.

    Only a name that could be one of ours is repeated in the answer.
    """

    refuses = (errors.PAYLOAD_INVALID,)

    def __call__(self, call: Call) -> None:
        """Let the call on if the route documents each of its parameters."""
        query = call.asked.query
        if not query:
            return
        known = {each.name for each in call.parameters}
        for name in query:
            if name not in known:
                field = like_ours(name)
                raise ServiceError(errors.PAYLOAD_INVALID, "unknown_parameter", field=field)
