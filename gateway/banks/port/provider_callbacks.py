"""
Callbacks of banks: proof, content, and the registration of our addresses.

A callback only triggers a query: only the bank's answer to us changes a payout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

from gateway.core.headers import Headers


class ProofRefused(Exception):
    """No callback could be proven as configured; the text is for operators and has no values."""


class CallbackKind(StrEnum):
    """
    The subject of a callback.

    RETURN: a settled payout came back, wholly or in part; also every callback
        about payouts of a bank that does not distinguish returns.
    """

    PAYOUT = "payout"
    RETURN = "return"
    CHARGE = "charge"
    REFUND = "refund"
    OTHER = "other"


class NamedBy(StrEnum):
    """How a bank names the account that a callback speaks of."""

    ACCOUNT = "account"
    KEY = "key"
    CHARGE = "charge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """
    One statement of a proven callback.

    Attributes:
        event: The bank's own id of the event; sent twice, it is still one event.
            Empty for a bank without such ids: then it is known by its body, and by
            its place in that.
        subject: The provider key of a payout or refund, the reference of a charge.
        account: A name of the account: the bank's own, one of its PIX
            keys, or the reference of one of its charges. Empty for a payout, which
            is known by its provider key.
        named_by: The kind of that name.
        part: The part of a body with several statements that makes this one; it is
            shown to users who may see the account. Empty for the whole body.
        provider_id: The bank's id of a payout, for a bank that finds payouts by that alone.
            It is used where the answer to the order was lost, and only if the bank
            repeats our key in the answer to a query.
    """

    event: str
    kind: CallbackKind
    subject: str
    account: str = ""
    named_by: NamedBy = NamedBy.ACCOUNT
    part: bytes = field(repr=False, default=b"")
    provider_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """
    An unproven request to a provider's callback address.

    Attributes:
        rest: The path after our address, without its first slash: at most two
            steps, decoded (a slash inside a step stays ``%2F``); empty for nothing.
        certificate: The peer's certificate, in DER; empty for none. It comes
            from TLS, or from a header of our own proxy, never from a stranger.
    """

    headers: Headers
    body: bytes = field(repr=False)
    rest: str = ""
    certificate: bytes = field(repr=False, default=b"")


MOST_REGISTERED: Final = 1000
"""Addresses that one account may have at its bank; banks allow ten or so."""

ONLY_OURS: Final = frozenset({""})
"""For ``CallbackProof.rests``: nothing may follow our address."""


class CallbackProof(Protocol):
    """Proves that a callback comes from one provider."""

    @property
    def rests(self) -> frozenset[str]:
        """Path suffixes that may follow our address, such as ``pix``; an empty text for none."""
        ...

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        """
        Return the statements of a callback, in order.

        Nothing is stored for an empty sequence: it is answered as taken, which some banks want for
        the test that they send when an address is registered.

        Returns:
            None for an unproven callback, with any defect.

        Raises:
            ProviderError: the bank's public keys could not be read, so nothing is
                known; or of several parts none could be read. The bank is answered as
                for None and sends it again.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackSecrets:
    """
    Secrets shared with a bank, if any.

    Attributes:
        current: As the bank gave it; empty where none is configured.
        former: Former ones, accepted while they are configured.
        derived: Made from our sealing keys, the one in force first, for a bank on this
            machine that reads the same configuration. Empty outside the sandbox
            environment: no other bank can have them.
    """

    current: bytes = field(repr=False, default=b"")
    former: Sequence[bytes] = field(repr=False, default=())
    derived: Sequence[bytes] = field(repr=False, default=())

    @property
    def shared(self) -> Sequence[bytes]:
        """The secrets shared with the bank, the current one first; empty without a current one."""
        return (self.current, *self.former) if self.current else ()

    @property
    def shared_or_derived(self) -> Sequence[bytes]:
        """The same, with derived ones if there is no current one: for a bank on this machine."""
        return self.shared or ((*self.derived, *self.former) if self.derived else ())


@runtime_checkable
class CallbackProver(Protocol):
    """Implemented by adapters of banks that send callbacks."""

    def callback_proof(self, secrets: CallbackSecrets) -> CallbackProof:
        """
        Build the check of callbacks; nothing is opened yet.

        Raises:
            ProofRefused: these secrets, or the adapter's settings, prove nothing.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackOrder:
    """
    The address to which a bank shall send its callbacks.

    Attributes:
        url: Our address, complete.
        secret: The current secret; empty where none is shared.
    """

    url: str
    secret: bytes = field(repr=False, default=b"")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredCallback:
    """An address registered at a bank; ``id`` is the bank's id of the registration."""

    id: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedEvent:
    """An event that the bank could not deliver; ``id`` acknowledges it."""

    id: str
    notice: Notice
    body: bytes = field(repr=False)
