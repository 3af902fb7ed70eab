"""
A stage: the simulated bank that the suite asks an adapter's author for.

Subclass ``Stage``. Methods without a body are needed by every case; the others raise
``NotApplicable``, and the cases that use them are then not applicable, never passed.
"""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NoReturn, Protocol

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import ChargeOrder, ChargeStatus, ChargeType
from gateway.banks.port.payout_orders import Destination, FailureCode, PayoutMethod
from gateway.banks.port.pix_keys import KeyOrder
from gateway.banks.port.provider_callbacks import CallbackKind, CallbackSecrets, Delivery
from gateway.banks.port.providers import ProviderAccount, Reason
from gateway.banks.port.statements import MovementKind
from gateway.core.money import Money

GROUP: Final = "pixgate.provider_stages"
"""The entry-point group in which a package names its stage, under its adapter's name."""


class NotApplicable(Exception):
    """The bank, or its stage, has no such thing; the message is the reason that is reported."""


def _lacking(reason: str) -> NoReturn:
    raise NotApplicable(reason)


class Fate(StrEnum):
    """The outcome of an accepted payout; a returned one has settled, held is under analysis."""

    SETTLES = "settles"
    FAILS = "fails"
    RETURNS = "returns"
    HELD = "held"


class AnswerForm(StrEnum):
    """The body of a good answer; None where any body is as good."""

    OBJECT = "object"
    LIST = "list"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutWish:
    """An amount and a recipient; the suite makes the order of it, with a key of its own."""

    value: Money
    destination: Destination


@dataclass(frozen=True, slots=True, kw_only=True)
class BankAnswer:
    """An answer that the suite plays in the bank's place; it writes the headers of framing."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRefusal:
    """
    An answer to a payout that the adapter lists, as the bank's documents have it.

    The payout is then ``Rejected`` for ``failure``, or ``NotSent`` for ``not_sent``: one of both.
    """

    name: str
    answer: BankAnswer
    failure: FailureCode | None = None
    forbidden: bool = False
    not_sent: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldNames:
    """Names of fields in the bank's JSON answers to one call, at any depth; empty for none."""

    amount: str = ""
    key: str = ""
    e2e_id: str = ""
    status: str = ""
    destination: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A charge at the bank, under the stage's reference if empty; ``put`` returns that."""

    value: Money
    reference: str = ""
    status: ChargeStatus = ChargeStatus.ACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargePaid:
    """A payer pays an active charge; ``put`` returns the end-to-end id."""

    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """Pix that came in without a charge, now or then; ``put`` returns its end-to-end id."""

    value: Money
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """A booked movement that is not Pix, such as a fee; ``put`` returns the bank's id or ""."""

    value: Money
    kind: MovementKind
    at: datetime | None = None


Thing = Charge | ChargePaid | Received | Movement


class SentHeaders:
    """The headers of a callback that a stage made; names in any letter case, one value each."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = {name.lower(): value for name, value in values.items()}

    def get(self, name: str, /) -> str | None:
        """Return the value; None when there is none."""
        return self._values.get(name.lower())

    def getall(self, name: str, default: Sequence[str], /) -> Sequence[str]:
        """Return the value as the only one; ``default`` when there is none."""
        value = self._values.get(name.lower())
        return default if value is None else (value,)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayTls:
    """
    TLS of the suite's relay: to the adapter as the bank, and to the bank as the adapter.

    ``client`` is asked for the certificate that the adapter has shown, in DER; empty for none.
    """

    server: ssl.SSLContext
    client: Callable[[bytes], ssl.SSLContext]


class Stage(Protocol):
    """A bank for the suite; each case has a fresh one, from ``start`` to ``close``."""

    async def start(self) -> None:
        """Open the simulated bank on a free port of this machine, with its accounts."""

    async def close(self) -> None:
        """Stop the bank; called even when ``start`` failed half-way."""

    @property
    def address(self) -> str:
        """Where the bank listens, such as ``http://127.0.0.1:40001``."""

    def settings(self, address: str) -> Mapping[str, object]:
        """Return the adapter's settings, without ``limits``, for a bank all at one address."""

    @property
    def accounts(self) -> Sequence[ProviderAccount]:
        """Two accounts or more, with credentials, a PIX key, and R$ 10,000.00 to pay with."""

    async def executions(self, provider_key: str) -> Sequence[Money]:
        """Return the payouts and refunds of a key that the bank's books say did not fail."""

    # What follows has a default, which says that there is no such thing.

    def payee(self, method: PayoutMethod) -> Destination:
        """Return a payee."""
        _lacking(f"the stage names nobody who can be paid by {method.value}")

    def other_payee(self, method: PayoutMethod) -> Destination:
        """Return another payee for the same method."""
        _lacking(f"the stage names no second payee by {method.value}")

    async def wish(self, fate: Fate) -> PayoutWish:
        """Return a payout that has this fate; the next one, where the bank needs telling."""
        _lacking(f"the stage has no payout that {fate.value}")

    async def settle(self) -> None:
        """Let everything that is under way at the bank end, at once."""
        _lacking("the stage cannot let payouts settle")

    async def advance(self, by: timedelta) -> None:
        """Move the bank's clock forward."""
        _lacking("the stage's bank has no clock of its own")

    async def put(self, account: ProviderAccount, thing: Thing) -> str:
        """Create a record at the bank; return its name, see each ``Thing``."""
        _lacking(f"the stage cannot put a {type(thing).__name__}")

    def own_key(self, account: ProviderAccount) -> str:
        """Return an active PIX key of the account, on which charges can be made."""
        _lacking("the stage names no key of an account")

    def charge_order(self, key: str) -> ChargeOrder:
        """Return an order of a charge of R$ 10.50 under a new reference, as the bank takes it."""
        reference = f"verified-{secrets.token_hex(8)}"
        return ChargeOrder(
            reference=reference, type=ChargeType.DYNAMIC, key=key, value=Money(10_50)
        )

    def new_key(self) -> KeyOrder:
        """Return a PIX key that the account can register; another one each time."""
        _lacking("the stage names no key that can be registered")

    def stranger(self) -> ProviderAccount:
        """Return the first account with well-formed credentials that the bank does not know."""
        _lacking("the stage has no wrong credentials")

    def refusals(self) -> Sequence[ListedRefusal]:
        """Return every answer to a payout that the adapter lists as a refusal."""
        _lacking("the stage lists no refusals")

    def doubtful(self) -> Sequence[BankAnswer]:
        """Return every documented error that no sentence of the bank's document calls final."""
        return ()

    def refusal(self, status: int, code: str) -> BankAnswer:
        """Write an error in the bank's own shape, with a status and code of the suite's."""
        _lacking("the stage writes no errors of the bank")

    def fields(self, call: PortCall) -> FieldNames:
        """Return the names of the fields of the bank's answer to a call."""
        _lacking(f"the stage names no fields of {call.value}")

    def form(self, call: PortCall) -> AnswerForm:
        """Return the form of the bank's good answer to a call, the last one of several requests."""
        del call
        return AnswerForm.OBJECT

    @property
    def token_path(self) -> str:
        """The path of the call that gives access tokens; empty for a bank without."""
        return ""

    @property
    def token_address(self) -> str:
        """The address of the token call: the bank's, or another host of the bank."""
        return self.address

    async def revoke_tokens(self) -> None:
        """Let the bank refuse every access token it has given."""
        _lacking("the stage's bank gives no access tokens")

    @property
    def relay_tls(self) -> RelayTls | None:
        """TLS of the suite's relay; None for a bank at an ``http://`` address."""
        return None

    async def renew_certificate(self, account: ProviderAccount) -> ProviderAccount:
        """Return an account with a new certificate, which the bank takes beside the former one."""
        _lacking("the stage's bank asks for no certificate of an account")

    @property
    def callback_secrets(self) -> CallbackSecrets:
        """The callback secrets shared by bank and gateway, former ones included."""
        _lacking("the stage has no secrets of callbacks")

    async def rotate_secrets(self) -> None:
        """Replace the secret of callbacks; the secret in force becomes a former one."""
        _lacking("the stage cannot rotate secrets")

    async def callback(
        self, account: ProviderAccount, kind: CallbackKind, subject: str, at: datetime
    ) -> Delivery:
        """
        Return a callback as the bank sends it at an instant, proven with the secret in force.

        Its subject is the provider key of a payout or refund, or the reference of a charge.
        """
        _lacking(f"the stage's bank sends no callback about a {kind.value}")

    async def callback_of_several(
        self, account: ProviderAccount, subjects: Sequence[str], at: datetime
    ) -> Delivery:
        """Return one callback about several payouts or charges, each named by its subject."""
        _lacking("the stage's bank sends a callback for each thing")

    @property
    def callback_lives(self) -> timedelta | None:
        """How long after sending a callback is accepted; None where no time is proven."""
        return None
