"""A simulated bank as a stage for the suite, in any dialect; see ``testing.verify``."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import ssl
import tempfile
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Final

import aiohttp
import msgspec

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    Destination,
    FailureCode,
    PayoutMethod,
    PixDestination,
)
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind, CallbackSecrets, Delivery
from gateway.banks.port.providers import ProviderAccount, Reason
from gateway.banks.port.statements import MovementKind
from gateway.core.money import Money
from provider_adapters.kit.certificates import load_pair
from provider_adapters.kit.secrets import pair_of, with_pair
from provider_adapters.testing.bank import certificates, payouts, received_payments, refunds
from provider_adapters.testing.bank.books import Books
from provider_adapters.testing.bank.callbacks import Event, EventKind, Listener
from provider_adapters.testing.bank.clock import BankClock
from provider_adapters.testing.bank.control_client import BankControl, Reply
from provider_adapters.testing.bank.dialect import Dialect
from provider_adapters.testing.bank.messages import Refusal
from provider_adapters.testing.bank.server import SimulatedBank
from provider_adapters.testing.verify.stage import (
    BankAnswer,
    Charge,
    ChargePaid,
    Fate,
    FieldNames,
    ListedRefusal,
    Movement,
    NotApplicable,
    PayoutWish,
    Received,
    RelayTls,
    SentHeaders,
    Stage,
    Thing,
)

_OPENING: Final = Money(10_000_00)
# By the bank's clock; in the wall's time no case waits for it.
_SETTLE_AFTER_S: Final = 1.0
# Longer than any payout of these amounts takes by the bank's clock.
_SETTLED_AFTER_S: Final = 60.0
# The magic amounts of every simulated bank.
_AMOUNTS: Final[Mapping[Fate, Money]] = {
    Fate.SETTLES: Money(10_50),
    Fate.FAILS: Money(777_02),
    Fate.RETURNS: Money(777_09),
    Fate.HELD: Money(10_50),
}
_STATES: Final[Mapping[ChargeStatus, str]] = {
    ChargeStatus.ACTIVE: "pending",
    ChargeStatus.PAID: "paid",
    ChargeStatus.CANCELED: "canceled",
}
_KINDS: Final[Mapping[MovementKind, str]] = {
    MovementKind.FEE: "fee",
    MovementKind.TED: "ted_out",
    MovementKind.BOLETO: "boleto_out",
}
_LISTENER: Final = "http://127.0.0.1:1/callbacks/verified/token"


def written(status: int, document: object) -> BankAnswer:
    """Write an answer of a bank in JSON."""
    return BankAnswer(status=status, body=msgspec.json.encode(document))


class SimulatedStage(Stage):
    """
    A simulated bank with two accounts; a bank's stage subclasses it.

    The dialect's part is left to the subclass: the attributes, ``stranger``, ``refusal``,
    ``token_path`` and ``revoke_tokens``.

    Attributes:
        dialect: How the bank looks.
        account_secrets: The struct that the adapter's factory names; None for one text.
        words: The bank's names of the fields that the suite changes.
        untold: Outcomes of payouts that the bank does not report, each with the reason.
        listed: Status and code of each refusal of a payout that the README lists, and what it
            means; the adapter's own tables would prove nothing.
        forbidden: The codes among them that forbid the payment itself.
    """

    dialect: Dialect
    account_secrets: type[msgspec.Struct] | None = None
    words: Mapping[PortCall, FieldNames] = MappingProxyType({})
    untold: Mapping[Fate, str] = MappingProxyType({})
    listed: Sequence[tuple[int, str, FailureCode | Reason]] = ()
    forbidden: Collection[str] = ()

    def __init__(self) -> None:
        self._opened = contextlib.AsyncExitStack()
        self._accounts: list[ProviderAccount] = []
        self._contexts: dict[bytes, ssl.SSLContext] = {}
        self._secrets = CallbackSecrets(current=self.new_secret())

    async def start(self) -> None:
        """Open the bank and its accounts."""
        folder = self._opened.enter_context(tempfile.TemporaryDirectory())
        self.bank = SimulatedBank(
            dialect=self.dialect,
            db_path=str(Path(folder) / "bank.db"),
            port=0,
            control_port=0,
            settle_after_s=_SETTLE_AFTER_S,
        )
        await self.bank.start()
        self._opened.push_async_callback(self.bank.close)
        # The bank is in this process: a limit would measure how busy the machine is.
        unlimited = aiohttp.ClientTimeout()
        control = BankControl(self.bank.control_url, unlimited)
        self.control = await self._opened.enter_async_context(control)
        self._accounts = [await self._account(number) for number in (1, 2)]

    async def close(self) -> None:
        """Close the bank; its file is deleted."""
        await self._opened.aclose()

    @property
    def address(self) -> str:
        """The bank's address for customers."""
        return self.bank.url

    @property
    def token_address(self) -> str:
        """The address of the token endpoint's host, if the dialect has a second one."""
        return self.bank.token_url

    @property
    def accounts(self) -> Sequence[ProviderAccount]:
        """Both accounts."""
        return self._accounts

    async def executions(self, provider_key: str) -> Sequence[Money]:
        """Read the bank's lists of executions."""
        paid = await self.control.get("executions", query={"key": provider_key})
        refunded = await self.control.get("refunds", query={"key": provider_key})
        return [Money(row["centavos"]) for row in (*paid["data"], *refunded["data"])]

    def payee(self, method: PayoutMethod) -> Destination:
        """Return Maria, by her key or her account at another bank."""
        return _payee(method, "Maria Silva", "52998224725", "maria@example.com")

    def other_payee(self, method: PayoutMethod) -> Destination:
        """Return Joao as another payee."""
        return _payee(method, "Joao Souza", "12345678909", "joao@example.com")

    def settings(self, address: str) -> Mapping[str, object]:
        """Name the address."""
        return {"base_url": address}

    def fields(self, call: PortCall) -> FieldNames:
        """Return the bank's words."""
        return self.words.get(call) or super().fields(call)

    def refusals(self) -> Sequence[ListedRefusal]:
        """Return the listed refusals."""
        return [
            ListedRefusal(
                name=f"{status} {code}",
                answer=self.refusal(status, code),
                failure=means if isinstance(means, FailureCode) else None,
                not_sent=means if isinstance(means, Reason) else None,
                forbidden=code in self.forbidden,
            )
            for status, code, means in self.listed
        ]

    async def wish(self, fate: Fate) -> PayoutWish:
        """Return a magic amount; a hold is ordered for the first account's next payout."""
        if fate in self.untold:
            raise NotApplicable(self.untold[fate])
        if fate is Fate.HELD:
            first = self._accounts[0].provider_account
            await self.control.post("accounts", first, "hold", body={"seconds": 600})
        return PayoutWish(value=_AMOUNTS[fate], destination=self.payee(PayoutMethod.PIX))

    async def settle(self) -> None:
        """Move the bank's clock past every settlement."""
        await self.advance(timedelta(seconds=_SETTLED_AFTER_S))

    async def advance(self, by: timedelta) -> None:
        """Move the bank's clock."""
        offset_s = self.bank.books.clock.offset_s + by.total_seconds()
        await self.control.post("clock", body={"offset_s": offset_s})

    async def put(self, account: ProviderAccount, thing: Thing) -> str:
        """Let the control interface do it."""
        match thing:
            case Charge():
                return await self._put_charge(account, thing)
            case ChargePaid():
                query = {"account": account.provider_account}
                where = ("charges", thing.reference, "pay")
                return str((await self.control.post(*where, body={}, query=query))["e2e_id"])
            case Received():
                return str((await self._book(account, "incoming", thing))["e2e_id"])
            case Movement():
                if thing.kind not in _KINDS:
                    message = f"the bank books no {thing.kind.value} by itself"
                    raise NotApplicable(message)
                said = await self._book(account, "movements", thing, kind=_KINDS[thing.kind])
                return str(said["id"])

    def own_key(self, account: ProviderAccount) -> str:
        """Return the key that the account was opened with."""
        return f"loja{self._accounts.index(account) + 1}@example.com"

    def new_key(self) -> KeyOrder:
        """Return an e-mail address that no account has."""
        return KeyOrder(PixKeyType.EMAIL, f"nova{secrets.token_hex(4)}@example.com")

    @property
    def relay_tls(self) -> RelayTls | None:
        """TLS on both sides, in which each account keeps showing its own certificate."""
        if not self.dialect.client_certificates:
            return None
        server = certificates.server_context(self.bank.books)
        return RelayTls(server=server, client=self._shown)

    async def renew_certificate(self, account: ProviderAccount) -> ProviderAccount:
        """Sign another certificate for an account, beside the former one."""
        held = account.secrets
        if not self.dialect.client_certificates or not isinstance(held, msgspec.Struct):
            return await super().renew_certificate(account)
        renewed = with_pair(held, certificates.issue(self.bank.books, account.provider_account))
        self._known(renewed)
        return dataclasses.replace(account, secrets=renewed)

    @property
    def callback_secrets(self) -> CallbackSecrets:
        """A secret of this stage's own."""
        return self._secrets

    async def rotate_secrets(self) -> None:
        """Take another secret."""
        former = (self._secrets.current, *self._secrets.former)
        self._secrets = CallbackSecrets(current=self.new_secret(), former=former)

    def new_secret(self) -> bytes:
        """Make a secret for callbacks."""
        return secrets.token_bytes(32)

    async def callback(
        self, account: ProviderAccount, kind: CallbackKind, subject: str, at: datetime
    ) -> Delivery:
        """Let the dialect write and sign a callback, by a stopped clock."""
        whose, happened = account.provider_account, EventKind.__members__.get(kind.name)
        if happened is None:
            return await super().callback(account, kind, subject, at)
        to = Listener(id="av_1", url=_LISTENER, secret=self._secrets.current.hex())
        kept = dataclasses.replace(self.bank.books, clock=BankClock(lambda: at))
        named, name = _named(kept, whose, happened, subject), f"evt_{secrets.token_hex(8)}"
        event = Event(id=name, kind=happened, account_id=whose, subject=named)
        written = self.dialect.callback(kept, event, to)
        if written is None:
            return await super().callback(account, kind, subject, at)
        rest = written.url.removeprefix(_LISTENER).removeprefix("/")
        return Delivery(headers=SentHeaders(written.headers), body=written.body, rest=rest)

    def _known(self, made: msgspec.Struct) -> None:
        """Remember a certificate, so that the relay can show it to the bank."""
        pair = pair_of(made)
        if pair is not None:
            shown = ssl.create_default_context(cafile=self.bank.authority_file)
            load_pair(shown, pair)
            self._contexts[ssl.PEM_cert_to_DER_cert(pair.certificate)] = shown

    def _shown(self, certificate: bytes) -> ssl.SSLContext:
        """Return the TLS context that shows a certificate; an unknown one is not shown."""
        known = self._contexts.get(certificate)
        return known or ssl.create_default_context(cafile=self.bank.authority_file)

    async def _put_charge(self, account: ProviderAccount, charge: Charge) -> str:
        reference = charge.reference or f"charge-{secrets.token_hex(8)}"
        body = {"reference": reference, "state": _STATES[charge.status], "value": charge.value}
        await self.control.post("accounts", account.provider_account, "charges", body=body)
        return reference

    async def _book(
        self, account: ProviderAccount, what: str, thing: Received | Movement, **more: str
    ) -> Reply:
        dated = {} if thing.at is None else {"at": thing.at.isoformat()}
        body = {"value": thing.value, **dated, **more}
        return await self.control.post("accounts", account.provider_account, what, body=body)

    async def _account(self, number: int) -> ProviderAccount:
        body = {"name": f"Loja {number}", "tax_number": "11222333000181", "balance": _OPENING}
        opened = await self.control.post("accounts", body=body)
        key = {"type": "email", "key": f"loja{number}@example.com"}
        await self.control.post("accounts", opened["id"], "keys", body=key)
        given, kind = opened["credentials"], self.account_secrets
        secret = None if kind is None else msgspec.convert(given, kind)
        if secret is not None:
            self._known(secret)
        return ProviderAccount(
            account_id=f"5f1c3a52-7f0e-4c2b-9d3f-{number:012}",
            provider_account=opened["id"],
            credentials=given if kind is None else "",
            secrets=secret,
        )


def _payee(method: PayoutMethod, name: str, tax_number: str, key: str) -> Destination:
    """Return a payee at another bank; the account's number is made of the tax number."""
    if method is PayoutMethod.PIX:
        return PixDestination(name=name, tax_number=tax_number, key_type=PixKeyType.EMAIL, key=key)
    return BankDestination(
        name=name,
        tax_number=tax_number,
        bank_number="341",
        branch="0001",
        account=f"{tax_number[:6]}-7",
        account_type=AccountType.CHECKING,
    )


def _named(kept: Books, account_id: str, kind: EventKind, subject: str) -> str:
    """Name the subject of an event as the bank does; an unknown one unchanged."""
    try:
        if kind is EventKind.CHARGE:
            paid = received_payments.latest(kept, account_id, subject)
            return paid.e2e_id if paid else subject
        find = refunds.by_key if kind is EventKind.REFUND else payouts.by_key
        return find(kept, account_id, subject).id
    except Refusal:
        return subject
