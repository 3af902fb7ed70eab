"""The sandbox bank behind the provider port."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial

from gateway.domain.accounts.accounts import Environment
from gateway.domain.backoffice.callbacks import CallbackProof
from gateway.domain.bank.balances import Balance
from gateway.domain.bank.charges import Charge, ChargeOrder, ChargePayment
from gateway.domain.bank.incoming import IncomingPayment
from gateway.domain.bank.payout_orders import PayoutOrder
from gateway.domain.bank.pix_keys import KeyOrder, KeyOwner, PixKey
from gateway.domain.bank.providers import (
    Capabilities,
    NotFound,
    NotSent,
    NotSupported,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
)
from gateway.domain.bank.refunds import Refund, RefundOrder
from gateway.domain.bank.statements import Entry
from gateway.domain.kernel.clocks import Deadline, Now
from gateway.domain.kernel.windows import Window
from gateway.net.client.addresses import AddressRefused, loopback_address
from gateway.net.client.messages import ProviderRequest
from gateway.net.client.reasons import Reason
from gateway.net.client.send_progress import Passage
from gateway.net.client.transport import WireTransport
from gateway.net.common.runtime import Surroundings
from gateway.telemetry.records import Observer
from provider_adapters._shared.factory import AdapterRefused, settings_of
from provider_adapters._shared.http import ClientParts, ProviderClient
from provider_adapters._shared.transcript import Transcript
from provider_adapters.sandbox import client as bank
from provider_adapters.sandbox import documents, listing, payouts, translate
from provider_adapters.sandbox.callbacks import SandboxProof, token_of
from provider_adapters.sandbox.client import Question
from provider_adapters.sandbox.options import SandboxOptions
from provider_adapters.sandbox.settings import SandboxSettings

_BALANCE = Question(operation="get_balance", path="/saldo")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SandboxAdapter:
    """
    The sandbox bank as one configured provider.

    A ``ProviderAccount``'s credentials are the bank's token of that account.
    """

    name: str
    capabilities: Capabilities
    client: ProviderClient
    observer: Observer
    around: Surroundings

    async def start(self) -> None:
        """Open the client's connections on the running loop."""
        await self.client.start()

    async def close(self) -> None:
        """Let go of the connections."""
        await self.client.close()

    async def probe(self) -> None:
        """Reach the bank: any answer in its own words will do; ``GET /``."""
        await self.client.read(bank.PROBE, translate.reached)

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance, live; ``GET /v1/contas/{conta}/saldo``."""
        return await self.client.read(bank.asking(account, _BALANCE), translate.balance)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of movements; ``GET …/extrato``, its window half open as ours."""
        query = listing.query(window, cursor, limit)
        question = Question(operation="list_statement", path="/extrato", query=query)
        return await self.client.read(
            bank.asking(account, question),
            lambda answer: translate.statement(answer, self._unseen("list_statement")),
        )

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read every key, cancelled ones too; ``GET …/chaves``, in one piece."""
        return await self._keys(account, "list_keys")

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Find a key among all: the bank's own ids are no UUIDs for some, so it has no call."""
        for key in await self._keys(account, "get_key"):
            if key.public_id(account.account_id) == key_id:
                return key
        raise NotFound(Reason.NOT_FOUND)

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge, an expired one too; ``GET …/cobrancas/{referencia}``."""
        return await self._charge(account, reference, "get_charge", self.client.read_by())

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """
        Read the latest payment of a charge; ``GET …/cobrancas/{referencia}/pagamento``.

        The payment names whoever paid, also for an anonymous charge, so the
        charge is read too; both within the time of one read.
        """
        by = self.client.read_by()
        question = Question(
            operation="get_charge_payment",
            path="/cobrancas/{referencia}/pagamento",
            steps={"referencia": reference},
        )
        payment = await self.client.read(
            bank.asking(account, question), translate.charge_payment, by
        )
        charge = await self._charge(account, reference, "get_charge_payment", by)
        payer = charge.payer and (payment.payer or charge.payer)
        return dataclasses.replace(payment, payer=payer)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """
        Ask the bank to pay out; ``POST …/transferencias``.

        The provider key travels as the idempotency key. The bank keeps it for
        ever and answers a repetition with the payout as it stands.

        Returns:
            Accepted or Settled as the bank said, a known key included;
            Rejected for a listed refusal; NotSent when no byte left us;
            Unknown for all else: look it up, do not send again.
        """
        try:
            request = self._order(account, order)
        except ProviderError as failure:
            return NotSent(Passage().evidence(failure))
        asked = payouts.Asked(order.provider_key, order.value)
        unseen = self._unseen("create_payout")
        return await self.client.pay(
            request, lambda answer: payouts.created(answer, asked, unseen), send_by
        )

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        """
        Look a payout up; ``GET …/transferencias/{id}`` or ``…/por-chave/{chave}``.

        The bank shows a payout from the moment it is carried out. What was
        ordered is not known here: whoever asks compares ``Settled.value``.

        Raises:
            NotFound: the bank does not know it; no proof before
                ``absent_after`` is over.
            NotSupported: without the bank's id, where looking up by key is
                switched off.
        """
        if not (provider_id or self.capabilities.lookup_by_key):
            raise NotSupported(Reason.NOT_SUPPORTED)
        path = "/transferencias/{id}" if provider_id else "/transferencias/por-chave/{id}"
        question = Question(
            operation="find_payout", path=path, steps={"id": provider_id or provider_key}
        )
        asked = payouts.Asked(provider_key, None)
        unseen = self._unseen("find_payout")
        return await self.client.read(
            bank.asking(account, question), lambda answer: payouts.found(answer, asked, unseen)
        )

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """Register a key; see ``SandboxOptions``, as for all that follow."""
        return await self._options.create_key(account, order)

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """Give a key up."""
        return await self._options.cancel_key(account, key)

    async def look_up_key(self, account: ProviderAccount, key: str) -> KeyOwner:
        """Ask who is behind a key."""
        return await self._options.look_up_key(account, key)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """Make a charge."""
        return await self._options.create_charge(account, order)

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Cancel a charge."""
        return await self._options.cancel_charge(account, reference)

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment."""
        return await self._options.find_received(account, e2e_id)

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read a page of payments."""
        return await self._options.list_received(account, window, cursor, limit)

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        """Give money back."""
        return await self._options.create_refund(account, order, send_by)

    async def find_refund(self, account: ProviderAccount, provider_key: str) -> Refund:
        """Look a refund up."""
        return await self._options.find_refund(account, provider_key)

    async def list_refunds(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Refund]:
        """Read a page of refunds."""
        return await self._options.list_refunds(account, window, cursor, limit)

    @property
    def _options(self) -> SandboxOptions:
        """What is offered beyond the nine calls; made when asked for, it keeps nothing."""
        return SandboxOptions(client=self.client, now=self.around.now, unseen=self._unseen)

    async def _keys(self, account: ProviderAccount, operation: str) -> Sequence[PixKey]:
        """Read every key."""
        question = Question(operation=operation, path="/chaves")
        return await self.client.read(
            bank.asking(account, question),
            lambda answer: translate.keys(answer, self._unseen(operation)),
        )

    async def _charge(
        self, account: ProviderAccount, reference: str, operation: str, by: Deadline
    ) -> Charge:
        """Read a charge."""
        question = Question(
            operation=operation, path="/cobrancas/{referencia}", steps={"referencia": reference}
        )
        return await self.client.read(
            bank.asking(account, question),
            lambda answer: translate.charge(answer, self.around.now(), self._unseen(operation)),
            by,
        )

    def _order(self, account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
        """Make the request of a payout; raises what keeps it from being one."""
        if not self.capabilities.payouts:
            raise NotSupported(Reason.NOT_SUPPORTED)
        return bank.ordering(account, order)

    def _unseen(self, operation: str) -> translate.Unseen:
        """Count a word of the bank's that we do not know: drift shows on its first day."""
        return lambda: self.observer.count("unknown_status", f"{self.name}.{operation}")


class SandboxFactory:
    """Makes sandbox adapters; an ``AdapterFactory`` and a ``CallbackFactory``."""

    settings = SandboxSettings
    capabilities = SandboxSettings().capabilities()

    def __init__(self, around: Surroundings | None = None) -> None:
        """Take clocks and chance from outside where a test wants to."""
        self._around = around or Surroundings()

    def __call__(
        self,
        name: str,
        settings: Mapping[str, object],
        environment: Environment,
        observer: Observer,
    ) -> SandboxAdapter:
        """Make the adapter; never in production, and never of a bank on another machine."""
        if environment is not Environment.SANDBOX:
            message = f"providers.{name}: the sandbox bank moves no money and is refused here"
            raise AdapterRefused(message)
        chosen = settings_of(name, SandboxSettings, settings)
        return SandboxAdapter(
            name=name,
            capabilities=chosen.capabilities(),
            client=self._client(name, chosen, observer),
            observer=observer,
            around=self._around,
        )

    def proof(self, secrets: Sequence[bytes], now: Now) -> CallbackProof:
        """Make what believes the bank's callbacks; see ``CallbackFactory``."""
        return SandboxProof(secrets, now)

    def token(self, secret: bytes) -> str:
        """Return the last step of the callbacks' address."""
        return token_of(secret)

    def _client(self, name: str, chosen: SandboxSettings, observer: Observer) -> ProviderClient:
        """Make the client; nothing is opened yet."""
        around = self._around
        if around.certified is None:
            told = partial(observer.certificate, name)
            around = dataclasses.replace(around, certified=told)
        transport = WireTransport(
            _base_url(name, chosen), chosen.limits, Environment.SANDBOX, around, chosen.tls
        )
        return ProviderClient(
            ClientParts(
                provider=name,
                transport=transport,
                limits=chosen.limits,
                observer=observer,
                transcript=Transcript(name, documents.HARMLESS),
                around=around,
            )
        )


def _base_url(name: str, settings: SandboxSettings) -> str:
    """Return the bank's address, which must be on this machine."""
    try:
        return loopback_address(settings.base_url)
    except AddressRefused as problem:
        message = f"providers.{name}: base_url {problem}"
        raise AdapterRefused(message) from problem
