"""Reception of callbacks: proven, then stored once; ``processing`` queries the bank."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.banks.port import answers
from gateway.banks.port.answers import LONGEST_ID, WrongAnswer
from gateway.banks.port.provider_callbacks import CallbackProof, Delivery, Notice
from gateway.banks.port.providers import ProviderError
from gateway.callbacks.model import Callback
from gateway.callbacks.store import CallbackRecords
from gateway.core import errors
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError

_log = logging.getLogger(__name__)

_FORGED: Final = "forged"
_UNPROVEN: Final = "unproven"
"""The bank's own keys could not be read, or its adapter failed: nobody need be lying."""

# Characters of a bank's id of an event; none of the banks known comes near it.
_LONGEST_EVENT: Final = 128
# The contract's longest reference.
_LONGEST_TEXT: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressedDelivery:
    """An unproven request, and the address it was sent to."""

    provider: str
    token: str
    delivery: Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackAddress:
    """
    The callback address of one provider's bank.

    Attributes:
        tokens: The last segment of our address, and former ones, which stay valid.
    """

    proof: CallbackProof
    tokens: Sequence[str] = field(repr=False)

    def knows(self, token: str) -> bool:
        """Return whether a token is ours, in constant time."""
        given = token.encode("utf-8", "surrogateescape")
        return sum(hmac.compare_digest(given, each.encode()) for each in self.tokens) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reception:
    """
    Takes callbacks.

    Attributes:
        addresses: By provider; a provider without an address takes no callbacks.
        note: Counts a provider's callback: taken, repeated, forged or unproven.
        wake: Wakes the processing.
    """

    store: CallbackRecords
    addresses: Mapping[str, CallbackAddress]
    now: Now
    new_id: Callable[[], str]
    note: Callable[[str, str], None]
    wake: Callable[[], None]

    def expect(self, provider: str, token: str, rest: str) -> CallbackProof:
        """
        Return the proof required at our address, and the path suffix that the bank adds.

        Raises:
            ServiceError: ``SVC.AUT.010`` (401) for a wrong token, and a provider unknown or
                without callbacks; ``SVC.GTW.001`` (404) where its bank adds no such step.
        """
        address = self.addresses.get(provider)
        if address is None or not address.knows(token):
            raise self._refused(provider, _FORGED)
        if rest not in address.proof.rests:
            raise ServiceError(errors.ROUTE_UNKNOWN, "no_route")
        return address.proof

    async def take(self, came: AddressedDelivery) -> None:
        """
        Store the statements of a proven callback; repeated ones are accepted and dropped.

        Raises:
            ServiceError: as ``expect``; ``SVC.AUT.010`` (401) for one that is not proven.
                Nothing is stored then.
        """
        proof = self.expect(came.provider, came.token, came.delivery.rest)
        notices = await self._proven(came, proof)
        for place, notice in enumerate(notices):
            await self.keep(came.provider, notice, _part(came.delivery, notices, place), place)

    async def keep(self, provider: str, notice: Notice, body: bytes, place: int = 0) -> None:
        """Store one statement of a bank, unless it is stored already."""
        new = await self.store.add(self._callback(provider, notice, body, place))
        self.note(provider, "taken" if new else "repeated")
        if new:
            self.wake()

    async def _proven(self, came: AddressedDelivery, proof: CallbackProof) -> Sequence[Notice]:
        """Return the statements of a callback, or refuse it."""
        try:
            notices = await proof.check(came.delivery)
        except ProviderError as problem:
            raise self._refused(came.provider, _UNPROVEN) from problem
        except Exception as problem:  # another package's proof: it must not become a 500
            _log.error("the proof of callbacks failed: %s", came.provider)
            raise self._refused(came.provider, _UNPROVEN) from problem
        if notices is None:
            raise self._refused(came.provider, _FORGED)
        try:
            return [answers.notice(each) for each in notices]
        except WrongAnswer as problem:
            raise self._refused(came.provider, _UNPROVEN) from problem

    def _refused(self, provider: str, reason: str) -> ServiceError:
        self.note(provider, reason)
        return ServiceError(errors.CREDENTIALS_INVALID, reason)

    def _callback(self, provider: str, notice: Notice, body: bytes, place: int) -> Callback:
        now = self.now()
        return Callback(
            id=self.new_id(),
            provider=provider,
            event=_storable(notice.event, _LONGEST_EVENT) or _digest(body, place),
            kind=notice.kind,
            subject=_storable(notice.subject, _LONGEST_TEXT),
            account=_storable(notice.account, _LONGEST_TEXT),
            named_by=notice.named_by,
            provider_id=_storable(notice.provider_id, LONGEST_ID),
            received_at=now,
            body=body,
            due_at=now,
        )


def _part(came: Delivery, notices: Sequence[Notice], place: int) -> bytes:
    """
    Return the part of a body that is stored for one of its statements.

    The rest of it may be of another company, whose users alone may see it.
    """
    part = notices[place].part
    return part or (came.body if len(notices) == 1 else b"")


def _storable(text: str, longest: int) -> str:
    """Return a bank's text if it can be stored and shown, else an empty one."""
    return text if len(text) <= longest and text.isprintable() else ""


def _digest(body: bytes, place: int) -> str:
    """Return an id for an event without an id of its bank."""
    return hashlib.sha256(body + (b"\n%d" % place if place else b"")).hexdigest()
