"""What the sandbox bank offers beyond the nine calls; ``gateway.domain.bank.provider_options``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from gateway.domain.bank.charges import Charge, ChargeOrder
from gateway.domain.bank.incoming import IncomingPayment
from gateway.domain.bank.pix_keys import KeyOrder, KeyOwner, PixKey
from gateway.domain.bank.providers import (
    Accepted,
    Evidence,
    NotSent,
    Outcome,
    Page,
    Phase,
    ProviderAccount,
    ProviderError,
    Unavailable,
    Unreachable,
)
from gateway.domain.bank.refunds import Refund, RefundOrder
from gateway.domain.kernel.clocks import Deadline, Now
from gateway.domain.kernel.windows import Window
from gateway.net.client.messages import ProviderAnswer, ProviderRequest
from gateway.net.client.reasons import Reason
from gateway.net.client.send_progress import Passage
from provider_adapters._shared.http import ProviderClient
from provider_adapters.sandbox import client as bank
from provider_adapters.sandbox import listing, option_words, orders, refunds, translate
from provider_adapters.sandbox.client import Question

Value = TypeVar("Value")

_MADE = Accepted(evidence=Evidence(phase=Phase.ANSWERED, bytes_left=True, reason=Reason.ANSWERED))


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxOptions:
    """
    The optional calls of one configured provider.

    Attributes:
        unseen: Given an operation, hears of words of the bank's that we do not know.
    """

    client: ProviderClient
    now: Now
    unseen: Callable[[str], translate.Unseen]

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """Register a key, once; ``POST …/chaves``."""
        unseen = self.unseen("create_key")
        return await self._once(
            orders.key(account, order), lambda answer: option_words.key(answer, unseen)
        )

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """Give a key up; ``DELETE …/chaves/{id}``, which may be repeated."""
        unseen = self.unseen("cancel_key")
        return await self.client.read(
            orders.key_cancelling(account, key.provider_id),
            lambda answer: option_words.key(answer, unseen),
        )

    async def look_up_key(self, account: ProviderAccount, key: str) -> KeyOwner:
        """Ask who is behind a key; ``POST …/consultas-chave``, which changes nothing."""
        return await self.client.read(orders.key_lookup(account, key), option_words.owner)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """Make a charge, once; ``POST …/cobrancas``."""
        unseen = self.unseen("create_charge")
        return await self._once(
            orders.charge(account, order),
            lambda answer: option_words.charge(answer, self.now(), unseen),
        )

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Cancel a charge; ``DELETE …/cobrancas/{referencia}``, which may be repeated."""
        unseen = self.unseen("cancel_charge")
        return await self.client.read(
            orders.charge_cancelling(account, reference),
            lambda answer: option_words.charge(answer, self.now(), unseen),
        )

    async def find_received(self, account: ProviderAccount, e2e_id: str) -> IncomingPayment:
        """Read one payment; ``GET …/recebimentos/{e2e}``."""
        question = Question(
            operation="find_received", path="/recebimentos/{e2e}", steps={"e2e": e2e_id}
        )
        return await self.client.read(bank.asking(account, question), option_words.received)

    async def list_received(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[IncomingPayment]:
        """Read a page of payments; ``GET …/recebimentos``."""
        question = Question(
            operation="list_received",
            path="/recebimentos",
            query=listing.query(window, cursor, limit),
        )
        return await self.client.read(bank.asking(account, question), option_words.received_page)

    async def create_refund(
        self, account: ProviderAccount, order: RefundOrder, send_by: Deadline
    ) -> Outcome:
        """
        Give money back; ``POST …/recebimentos/{e2e}/devolucoes``.

        The provider key travels as the idempotency key. The bank keeps it for
        ever and answers a repetition with the refund as it stands.
        """
        try:
            request = orders.refund(account, order)
        except ProviderError as failure:
            return NotSent(Passage().evidence(failure))
        unseen = self.unseen("create_refund")
        return await self.client.pay(
            request, lambda answer: refunds.created(answer, order, unseen), send_by
        )

    async def find_refund(self, account: ProviderAccount, provider_key: str) -> Refund:
        """Look a refund up; ``GET …/devolucoes/por-chave/{chave}``."""
        question = Question(
            operation="find_refund",
            path="/devolucoes/por-chave/{chave}",
            steps={"chave": provider_key},
        )
        unseen = self.unseen("find_refund")
        return await self.client.read(
            bank.asking(account, question),
            lambda answer: refunds.found(answer, provider_key, unseen),
        )

    async def list_refunds(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Refund]:
        """Read a page of refunds; ``GET …/devolucoes``."""
        question = Question(
            operation="list_refunds",
            path="/devolucoes",
            query=listing.query(window, cursor, limit),
        )
        unseen = self.unseen("list_refunds")
        return await self.client.read(
            bank.asking(account, question), lambda answer: refunds.page(answer, unseen)
        )

    async def _once(
        self, request: ProviderRequest, read: Callable[[ProviderAnswer], Value]
    ) -> Value:
        """
        Change something as money is moved: sent once, and never repeated.

        Raises:
            ProviderError: what the bank said; Unreachable when nothing was
                sent, Unavailable when nobody can tell.
        """
        said = _Said(read)
        outcome = await self.client.pay(request, said, self.client.read_by())
        if said.failure is not None:
            raise said.failure
        if said.value:
            return said.value[0]
        reason = outcome.evidence.reason
        raise Unreachable(reason) if isinstance(outcome, NotSent) else Unavailable(reason)


class _Said(Generic[Value]):
    """Keeps what an answer was read as, since money calls tell no more than an outcome."""

    def __init__(self, read: Callable[[ProviderAnswer], Value]) -> None:
        self._read = read
        self.value: list[Value] = []
        self.failure: ProviderError | None = None

    def __call__(self, answer: ProviderAnswer) -> Outcome:
        try:
            self.value.append(self._read(answer))
        except ProviderError as failure:
            self.failure = failure
            raise
        return _MADE
