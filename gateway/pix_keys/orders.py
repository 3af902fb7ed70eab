"""Orders to register or look up a key, validated as strictly as a payout."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Annotated, Final

import msgspec
from msgspec import UNSET, UnsetType

from gateway.banks.port.pix_keys import KeyOrder, PixKeyType, normal_key
from gateway.core import errors
from gateway.core.calls import Input, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.schemas import KeyType
from policies.validation import bodies, fields
from policies.validation.bodies import body

KeyWord = Annotated[KeyType, msgspec.Meta(examples=["email"])]


KeyText = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=1024,
        description="In the form of its type.",
        examples=["maria@example.com"],
    ),
]


class KeyBody(msgspec.Struct):
    """A key to be registered; ``key`` is absent for ``evp``, which the bank draws."""

    type: Annotated[KeyWord, meaning("Which type it is.")]
    key: KeyText | UnsetType = UNSET


class LookupBody(msgspec.Struct):
    """A key of any bank; without ``type`` it is recognized by its form."""

    key: KeyText
    type: Annotated[KeyWord | UnsetType, meaning("Which type it is.")] = UNSET


_KEY: Final = body(KeyBody, bodies.ORDERS)


_LOOKUP: Final = body(LookupBody, bodies.ORDERS)


def _key(asked: RawRequest) -> KeyOrder:
    found = _KEY.read(asked)
    kind = PixKeyType(found.type)
    if kind is PixKeyType.EVP:
        if found.key is not UNSET:  # the bank draws it
            raise ServiceError(errors.PAYLOAD_INVALID, "key_given", field="key")
        return KeyOrder(kind, "")
    if found.key is UNSET:
        raise ServiceError(errors.FIELD_MISSING, "missing", field="key")
    return KeyOrder(kind, _key_of(kind, found.key))


def _lookup(asked: RawRequest) -> str:
    """Parse a key of any owner into its normal form."""
    found = _LOOKUP.read(asked)
    return any_key(found.key) if found.type is UNSET else _key_of(PixKeyType(found.type), found.key)


def _key_of(kind: PixKeyType, found: str) -> str:
    return fields.read(partial(normal_key, kind), found, "key", f"{kind}_key_form")


def any_key(found: str) -> str:
    """
    Parse a key whose form alone determines its type; the forms are disjoint.

    Raises:
        ServiceError: ``SVC.VAL.011`` for an unknown form.
    """
    for kind in PixKeyType:
        with suppress(ValueError):
            return normal_key(kind, found)
    raise ServiceError(errors.PAYLOAD_INVALID, "key_form", field="key")


KEY: Final[Input[KeyOrder]] = Input(read=_key, body=KeyBody, refuses=_KEY.refuses)


LOOKUP: Final[Input[str]] = Input(read=_lookup, body=LookupBody, refuses=_LOOKUP.refuses)
