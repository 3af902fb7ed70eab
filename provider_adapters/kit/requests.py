"""
Requests to a bank: a path with its steps filled in, then query, headers and body.

Begin with ``get``; ``sending`` makes a change of it, ``paying`` a request that moves money. A
step of a path is encoded whole, so that no partner's reference can lead elsewhere. What cannot
be written is ``Refused`` before a byte leaves. Charges are named by partners, in up to 1,024
characters: a path that no server need read is that of no charge.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import quote

import msgspec

from gateway.banks.client.messages import Identity, Kind, ProviderRequest, filled
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import NotFound, Reason, Refused
from provider_adapters.kit.outcomes import NeverSendable

__all__ = ["Identity", "ProviderRequest", "as_account", "get", "json_body", "paying", "sending"]

Method = Literal["POST", "PUT", "PATCH", "DELETE"]
LONGEST_PATH: Final = 8_000
"""Characters of path and query together: what every server ought to read (RFC 9110, 4.1)."""
_OF_CHARGES: Final = frozenset(
    {PortCall.GET_CHARGE, PortCall.GET_CHARGE_PAYMENT, PortCall.CANCEL_CHARGE}
)
_SHORT: Final = 64
"""Characters: a UUID, an account's number, an end-to-end id."""
_NO_FIELDS: Final[Mapping[str, str]] = {}


def get(
    operation: str,
    template: str,
    headers: Mapping[str, str],
    query: Mapping[str, str] = _NO_FIELDS,
    account_id: str = "",
    **steps: str,
) -> ProviderRequest:
    """
    Build a read.

    Args:
        operation: The port's name of the call, such as ``get_balance``.
        template: The path, its variable steps in braces.
        headers: The credential, and the bank's other headers.
        query: Follows the path, encoded.
        account_id: The calling account's: the bank's limits are kept for each.
        steps: The values for the braces.

    Raises:
        Refused: A step cannot stand in a path.
        NotFound: A charge whose reference makes the path longer than ``LONGEST_PATH``.
        NeverSendable: Likewise, for a charge that is to be made.
    """
    short = max(map(len, steps.values()), default=0) <= _SHORT
    path = _known(template, *steps.items()) if short else filled(template, **steps)
    if query:
        path += "?" + "&".join(f"{name}={_encoded(text)}" for name, text in query.items())
    if len(path) > LONGEST_PATH:
        _refuse_name(operation)
    return ProviderRequest(
        operation=operation, method="GET", template=template, path=path, headers=headers,
        account=account_id,
    )  # fmt: skip


def sending(
    request: ProviderRequest, document: object = None, method: Method = "POST"
) -> ProviderRequest:
    """
    Make a read a change, with a document or without.

    Raises:
        NeverSendable: The document cannot be written as JSON.
    """
    body = b"" if document is None else json_body(document)
    return msgspec.structs.replace(request, method=method, body=body)


def paying(
    request: ProviderRequest,
    document: object,
    key: str,
    *,
    header: str = "",
    method: Literal["POST", "PUT"] = "POST",
) -> ProviderRequest:
    """
    Make a read a request that moves money; the client sends it at most once.

    ``key`` is ours, by which the bank knows the payout: in the header so called, or as
    the last step of a PUT's path.

    Raises:
        NeverSendable: The document cannot be written as JSON.
    """
    return msgspec.structs.replace(
        request,
        method=method,
        headers={**request.headers, header: key} if header else request.headers,
        body=json_body(document),
        kind=Kind.PAYOUT,
        key=key if method == "PUT" else "",
    )


def as_account(request: ProviderRequest, identity: Identity) -> ProviderRequest:
    """Have a request sent on connections of one account, under its certificate."""
    return msgspec.structs.replace(request, identity=identity, account=identity.account_id)


def json_body(document: object) -> bytes:
    """
    Write a document as JSON.

    Raises:
        NeverSendable: It has text that is not Unicode.
    """
    try:
        return msgspec.json.encode(document)
    except ValueError as problem:  # a lone surrogate
        raise NeverSendable from problem


def _refuse_name(operation: str) -> None:
    """Refuse a charge with a name too long to be asked for; the bank judges other paths."""
    if operation in _OF_CHARGES:
        raise NotFound(Reason.UNSENDABLE)
    if operation == PortCall.CREATE_CHARGE:
        raise NeverSendable


# The same accounts come again and again: ten thousand short paths are four megabytes.
@lru_cache(maxsize=10_000)
def _known(template: str, *steps: tuple[str, str]) -> str:
    return filled(template, **dict(steps)) if steps else template


# Days, limits and filters come again and again; a thousand short texts bound the memory.
@lru_cache(maxsize=1_000)
def _encoded(text: str) -> str:
    """Encode a query value; only cursors are new each time."""
    try:
        return quote(text, safe="")
    except UnicodeEncodeError as problem:
        raise Refused(Reason.UNSENDABLE) from problem
