"""
A bank's capabilities, as its adapter declares them; undeclared calls are never made.

To declare something new:

- A call of the port: a member of ``PortCall``, and its method in ``EveryCall``. An
  adapter that declares it is checked for the method when it is loaded, and a bank
  without it is refused in one place, ``banks.connections.offered``.
- A fact about the bank: a field of ``Capabilities`` whose default is the careful choice.
  Every place that shows the matrix takes it from there (``described``).

A rule between declarations stands in ``contradictions``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final

from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.account import Environment
from gateway.core.money import Money

PORT: Final = 1
"""
The version of the port: calls, their parameters, and what the gateway does about an answer.

An adapter states the version it was written for, and no other is loaded. A call or a
capability that is only added leaves the number as it is.
"""


class PortCall(StrEnum):
    """Every call of the port, by its method's name: the contract's calls, then optional ones."""

    PROBE = "probe"
    GET_BALANCE = "get_balance"
    LIST_STATEMENT = "list_statement"
    LIST_KEYS = "list_keys"
    GET_KEY = "get_key"
    GET_CHARGE = "get_charge"
    GET_CHARGE_PAYMENT = "get_charge_payment"
    CREATE_PAYOUT = "create_payout"
    FIND_PAYOUT = "find_payout"

    CREATE_KEY = "create_key"
    CANCEL_KEY = "cancel_key"
    LOOK_UP_KEY = "look_up_key"
    CREATE_CHARGE = "create_charge"
    CANCEL_CHARGE = "cancel_charge"
    FIND_RECEIVED = "find_received"
    LIST_RECEIVED = "list_received"
    CREATE_REFUND = "create_refund"
    FIND_REFUND = "find_refund"
    LIST_REFUNDS = "list_refunds"
    LIST_BLOCKS = "list_blocks"
    REGISTER_CALLBACK = "register_callback"
    LIST_CALLBACKS = "list_callbacks"
    REMOVE_CALLBACK = "remove_callback"
    LIST_MISSED_EVENTS = "list_missed_events"
    ACKNOWLEDGE_EVENTS = "acknowledge_events"


CONTRACT_CALLS: Final = (
    PortCall.PROBE,
    PortCall.GET_BALANCE,
    PortCall.LIST_STATEMENT,
    PortCall.LIST_KEYS,
    PortCall.GET_KEY,
    PortCall.GET_CHARGE,
    PortCall.GET_CHARGE_PAYMENT,
    PortCall.CREATE_PAYOUT,
    PortCall.FIND_PAYOUT,
)
"""The nine that the banking operations stand on (contract 4.1); the others are optional."""

OPTIONAL_CALLS: Final = frozenset(PortCall) - frozenset(CONTRACT_CALLS)
"""Calls that the back office and the operator's commands alone make."""

# Looking a member up by its name costs Python 3.11 a call each time.
_CREATE_PAYOUT: Final = PortCall.CREATE_PAYOUT
_FIND_PAYOUT: Final = PortCall.FIND_PAYOUT


class Repeat(StrEnum):
    """A bank's reaction to a provider key it has seen."""

    SAME_ANSWER = "same_answer"
    REFUSES = "refuses"
    IGNORES = "ignores"


class Lookup(StrEnum):
    """Ids by which ``find_payout`` can find a payout."""

    KEY = "key"
    BANK_ID = "bank_id"


class EntryField(StrEnum):
    """
    The facts a bank gives on each movement of a statement.

    KIND: whether it is Pix, or which other kind; without it ``is_pix`` is a guess. E2E_ID, OUR_KEY:
    without both, a statement never proves a payout. PARTY: who was on the other side.
    """

    KIND = "kind"
    E2E_ID = "e2e_id"
    OUR_KEY = "our_key"
    PARTY = "party"


class ProofKind(StrEnum):
    """Forms of proof that a callback comes from the bank."""

    CERTIFICATE = "certificate"
    ECDSA = "ecdsa"
    HMAC = "hmac"
    RSA = "rsa"
    TOKEN = "token"  # noqa: S105 - the kind of a proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """
    The host names of a bank, in lower case and without ports.

    An address that stands in neither set is refused: credentials must not reach a
    host that does not stand in the bank's documents.

    Attributes:
        production: Hosts that move real money.
        sandbox: Hosts of the bank's own test environment. This machine needs no
            entry: it is allowed in the sandbox environment of every bank.
    """

    production: frozenset[str] = frozenset()
    sandbox: frozenset[str] = frozenset()

    def of(self, environment: Environment) -> frozenset[str]:
        """Return the hosts of one environment."""
        return self.sandbox if environment is Environment.SANDBOX else self.production

    def environment_of(self, host: str) -> Environment | None:
        """Return the environment of a host; None if the bank has no such host."""
        if host in self.production:
            return Environment.PRODUCTION
        return Environment.SANDBOX if host in self.sandbox else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """
    A provider's capabilities; every default is the careful choice.

    Attributes:
        calls: The port's calls that it offers, the nine of the contract included.
        destinations: How a recipient may be named.
        repeat: The bank's reaction to a second payout of the same provider key.
        lookup: The ids by which a payout can be found.
        absent_after: How long after the lease a payout that cannot be found
            is proven absent; None when nothing proves it.
        max_value: The largest payout: more is rejected and not sent; None for no known limit.
        account_credentials: Each account has credentials of its own at the
            bank. One without them is refused before the bank is called; declare
            it, or its first payout is answered by a refusal that proves nothing.
        entry_fields: Optional fields of a movement of a statement.
        blocked_known: Whether a balance includes the blocked amount; if not,
            ``Balance.blocked`` is None and the contract's field is 0.00.
        charge_states: The states that the bank's charges can be in.
        callback_proofs: Possible proofs of its callbacks; empty when it sends none.
        hosts: The bank's host names, by environment; this machine needs no entry.
        alphanumeric_cnpj: It takes the CNPJ with letters (July 2026), in payouts, keys and
            charges; False where the bank's own document allows digits only.
        largest_page: Items of a list, such as a statement, that the bank returns at once; lists
            are requested in pages of this size.
    """

    calls: frozenset[PortCall] = frozenset()
    destinations: frozenset[PayoutMethod] = frozenset()
    repeat: Repeat = Repeat.IGNORES
    lookup: frozenset[Lookup] = frozenset()
    absent_after: timedelta | None = None
    max_value: Money | None = None
    account_credentials: bool = False
    entry_fields: frozenset[EntryField] = frozenset()
    blocked_known: bool = False
    charge_states: frozenset[ChargeStatus] = frozenset()
    callback_proofs: frozenset[ProofKind] = frozenset()
    hosts: Hosts = field(default_factory=Hosts)
    alphanumeric_cnpj: bool = True
    largest_page: int = 200

    @property
    def payouts(self) -> bool:
        """Whether the bank makes payouts; an account at a bank without them is read-only."""
        return _CREATE_PAYOUT in self.calls

    @property
    def operations(self) -> frozenset[PortCall]:
        """The optional calls that the bank offers."""
        return self.calls & OPTIONAL_CALLS

    def finds(self, provider_id: str = "") -> bool:
        """Return whether a payout can be looked up, with its id at the bank or an empty text."""
        by = Lookup.BANK_ID if provider_id else Lookup.KEY
        return _FIND_PAYOUT in self.calls and (by in self.lookup or Lookup.KEY in self.lookup)

    def statement_proves(self, e2e_id: str) -> bool:
        """
        Return whether a statement's movement can prove a payout; an amount alone never does.

        The movement must carry our key, or the payout's end-to-end id, which is empty while
        unknown.
        """
        by_id = EntryField.E2E_ID in self.entry_fields and e2e_id != ""
        is_told = by_id or EntryField.OUR_KEY in self.entry_fields
        return PortCall.LIST_STATEMENT in self.calls and is_told


def described(capabilities: Capabilities) -> dict[str, object]:
    """Return every declaration as a row of the matrix shows it: texts, numbers and lists."""
    return {
        each.name: _plain(getattr(capabilities, each.name))
        for each in dataclasses.fields(capabilities)
    }


def _plain(value: object) -> object:
    """Convert a declaration to JSON; a time in seconds, money in centavos."""
    match value:
        case StrEnum():
            return value.value
        case timedelta():
            return value.total_seconds()
        case Money():
            return value.centavos
        case frozenset():
            return sorted(str(each) for each in value)
        case Hosts():
            return {each.value: sorted(value.of(each)) for each in Environment}
        case _:
            return value


# Enough to recognize a mistyped word by.
_SHOWN: Final = 40
# A set in a field, and the words it may hold.
_WORDS: Final[Mapping[str, Collection[str]]] = {
    "calls": frozenset(PortCall),
    "destinations": frozenset(PayoutMethod),
    "lookup": frozenset(Lookup),
    "entry_fields": frozenset(EntryField),
    "charge_states": frozenset(ChargeStatus),
    "callback_proofs": frozenset(ProofKind),
}
# What says nothing about a bank without a call.
_NEEDS: Final[Mapping[str, PortCall]] = {
    "destinations": PortCall.CREATE_PAYOUT,
    "lookup": PortCall.FIND_PAYOUT,
    "absent_after": PortCall.FIND_PAYOUT,
    "entry_fields": PortCall.LIST_STATEMENT,
    "blocked_known": PortCall.GET_BALANCE,
}
# What a call needs at least one of.
_NEEDED: Final[Mapping[PortCall, str]] = {
    PortCall.REGISTER_CALLBACK: "callback_proofs",
    PortCall.CREATE_PAYOUT: "destinations",
    PortCall.FIND_PAYOUT: "lookup",
}


def contradictions(capabilities: Capabilities) -> Iterator[str]:
    """Return the contradictions: unknown words, and declarations that need an absent call."""
    unknown = list(_unknown_words(capabilities))
    yield from unknown
    if unknown:
        return
    for name, call in _NEEDS.items():
        declared = getattr(capabilities, name)
        if declared not in {None, False, frozenset()} and call not in capabilities.calls:
            yield f"{name}: means nothing without {call.value}"
    for call, name in _NEEDED.items():
        if call in capabilities.calls and not getattr(capabilities, name):
            yield f"{name}: {call.value} is declared and none is"


def _unknown_words(capabilities: Capabilities) -> Iterator[str]:
    """Return the words that the port does not define, or a value that is no set of words."""
    for name, known in _WORDS.items():
        declared = getattr(capabilities, name)
        if not isinstance(declared, frozenset):
            yield f"{name}: is no frozenset"
            continue
        for word in sorted(map(str, declared - frozenset(known))):
            yield f"{name}: the port knows no {word[:_SHOWN]!r}"
    if capabilities.repeat not in frozenset(Repeat):
        yield f"repeat: the port knows no {str(capabilities.repeat)[:_SHOWN]!r}"
