"""
Efí's own paths: balance, random keys, payouts, and the statement made of three lists.

Source: the pages and the SDK that the README names. Efí asks for one payout after the other of an
account, and for a registered callback before the first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from gateway.domain.bank.charges import Party
from gateway.domain.bank.payout_orders import (
    PayoutOrder,
)
from gateway.domain.bank.pix_keys import KeyOrder, PixKey, PixKeyStatus, PixKeyType
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    BadReply,
    NotFound,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
)
from gateway.domain.bank.statements import Balance, Direction, Entry, MovementKind
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.windows import Window
from provider_adapters.apipix import documents
from provider_adapters.apipix.access import (
    CHANGED,
    OK,
    Access,
    accepted,
    amount,
    error_code,
    failure,
)
from provider_adapters.apipix.charges import person
from provider_adapters.apipix.efi import documents as efi_documents
from provider_adapters.apipix.efi import payouts
from provider_adapters.apipix.lists import PagedList, limits_of
from provider_adapters.apipix.received import Received
from provider_adapters.apipix.secrets import ApiPixSecrets
from provider_adapters.kit import money
from provider_adapters.kit.answers import ProviderAnswer, is_e2e_id, provider_id, read_document
from provider_adapters.kit.outcomes import NeverSendable, read_back, unsent
from provider_adapters.kit.paging import merged
from provider_adapters.kit.requests import ProviderRequest, paying, sending
from provider_adapters.kit.secrets import secrets_of

_BALANCE: Final = "/v2/gn/saldo"
_KEYS: Final = "/v2/gn/evp"
_KEY: Final = "/v2/gn/evp/{chave}"
_ORDER: Final = "/v3/gn/pix/{idEnvio}"
_SENT: Final = "/v2/gn/pix/enviados"
_BY_KEY: Final = "/v2/gn/pix/enviados/id-envio/{idEnvio}"
_SETTLED: Final = "REALIZADO"
_NOT_FOUND: Final = (404, "PixEnviadoNaoEncontrado")


@dataclass(frozen=True, slots=True, kw_only=True)
class Efi:
    """What Efí offers beyond the standard."""

    access: Access
    received: Received

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance; what is available and what is blocked are told apart."""
        request = self.access.request(account, "get_balance", _BALANCE, {"bloqueios": "true"})
        now = self.access.now()

        def shape(document: efi_documents.Saldo) -> Balance:
            blocked = amount(document.bloqueios.total)
            return Balance(balance=money.from_text(document.saldo), blocked=blocked, updated_at=now)

        def read(answer: ProviderAnswer) -> Balance:
            return read_document(_good(answer), efi_documents.SALDO, shape)

        return await self.access.read(account, request, read)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of payments received and sent, and of refunds given, newest first."""

        async def received(at: str | None) -> Page[Entry]:
            return await self.received.entries(account, window, at, limit)

        async def given_back(at: str | None) -> Page[Entry]:
            return await self.received.given_back(account, window, at)

        async def sent(at: str | None) -> Page[Entry]:
            return await self._sent(account, window, at, limit)

        return await merged(
            (received, sent, given_back),
            cursor,
            lambda entry: entry.created_at,
            limit,
            lambda entry: entry.provider_id,
        )

    async def list_keys(self, account: ProviderAccount, operation: str) -> Sequence[PixKey]:
        """Read every random key; Efí shows no other."""
        request = self.access.request(account, operation, _KEYS)

        def read(answer: ProviderAnswer) -> Sequence[PixKey]:
            return read_document(_good(answer), efi_documents.CHAVES, shape)

        def shape(document: efi_documents.Chaves) -> Sequence[PixKey]:
            return tuple(map(_key, document.chaves))

        return await self.access.read(account, request, read)

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """Register a random key, once."""
        if order.type is not PixKeyType.EVP:
            raise NeverSendable

        def made(answer: ProviderAnswer) -> PixKey:
            if answer.status not in CHANGED:
                raise failure(answer)
            return read_document(
                answer, efi_documents.CHAVE, lambda document: _key(document.chave), CHANGED
            )

        request = sending(self.access.request(account, "create_key", _KEYS))
        return await self.access.change(account, request, made)

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """
        Give a random key up; safe to repeat.

        Efí answers with a text, as any server may, so that the keys are read afterwards.
        """
        asked = self.access.request(account, "cancel_key", _KEY, chave=key.key)
        with contextlib.suppress(NotFound):
            await self.access.change(account, sending(asked, method="DELETE"), accepted)
        left = await self.list_keys(account, "cancel_key")
        if any(each.key == key.key for each in left):
            raise BadReply(Reason.WRONG_SHAPE)
        return _key(key.key, PixKeyStatus.CANCELED)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """Order a payout by PUT to our key; one that Efí knows already is read and compared."""
        try:
            request = self._order(account, order)
        except ProviderError as refused:
            return unsent(refused)
        unknown = self.access.client.unknown_word("create_payout")

        def created(answer: ProviderAnswer) -> Outcome:
            return payouts.created(answer, order, unknown)

        outcome = await self.access.pay(account, request, created, send_by)
        return await read_back(outcome, lambda: self._found(account, order.provider_key, order))

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, _provider_id: str
    ) -> Outcome:
        """Look a payout up by our key."""
        return await self._found(account, provider_key, None)

    async def _found(
        self, account: ProviderAccount, provider_key: str, order: PayoutOrder | None
    ) -> Outcome:
        """Read a payout; an order that is given is compared with it."""
        request = self.access.request(account, "find_payout", _BY_KEY, idEnvio=provider_key)
        unknown = self.access.client.unknown_word("find_payout")

        def read(answer: ProviderAnswer) -> Outcome:
            if (answer.status, error_code(answer)) == _NOT_FOUND:
                raise NotFound(Reason.NOT_FOUND, http_status=answer.status)
            return read_document(_good(answer), efi_documents.ENVIADO, shape(answer))

        def shape(answer: ProviderAnswer) -> payouts.Shape:
            return lambda document: payouts.shown(answer, document, provider_key, order, unknown)

        return await self.access.read(account, request, read)

    async def _sent(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of payments that were sent and have settled."""
        found = PagedList(
            access=self.access,
            account=account,
            operation="list_statement",
            path=_SENT,
            decoder=efi_documents.ENVIADOS,
            moment=_ordered_at,
            filters={"status": _SETTLED},
        )
        return await found.page(limits_of(window), cursor, limit, _entries)

    def _order(self, account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
        """Write an order; raises ``NeverSendable`` for what Efí can take on no day."""
        key = secrets_of(account, ApiPixSecrets).pix_key
        asked = self.access.request(account, "create_payout", _ORDER, idEnvio=order.provider_key)
        if not key or len(order.description) > payouts.LONGEST_INFO:
            raise NeverSendable
        payer = {"chave": key, "infoPagador": order.description}
        document = {
            "valor": money.as_text(order.value),
            "pagador": {name: text for name, text in payer.items() if text},
            "favorecido": payouts.recipient(order),
        }
        return paying(asked, document, order.provider_key, method="PUT")


def _entries(sent: efi_documents.Enviado) -> Iterable[Entry]:
    """Read a payment sent as a movement; one that has not settled is none."""
    if sent.status != _SETTLED:
        return
    to = sent.favorecido
    yield Entry(
        provider_id=provider_id(sent.e2e or sent.key or ""),
        e2e_id=sent.e2e if sent.e2e and is_e2e_id(sent.e2e) else "",
        direction=Direction.DEBIT,
        is_pix=True,
        value=amount(sent.valor),
        description="",
        counterparty=_party(to),
        created_at=_ordered_at(sent).astimezone(UTC),
        provider_key=provider_id(sent.key or ""),
        kind=MovementKind.PIX,
    )


def _party(to: efi_documents.Favorecido | None) -> Party:
    """Return who was paid, the tax number masked as Efí shows it."""
    if to is None:
        return Party()
    if to.conta_banco is None:
        return person(to.identificacao)
    place = to.conta_banco
    return person(documents.Pessoa(nome=place.nome, cpf=place.cpf, cnpj=place.cnpj))


def _ordered_at(sent: efi_documents.Enviado) -> datetime:
    """Return when a payment was ordered, which Efí's list goes by; raises ``ValueError``."""
    if sent.horario.solicitacao is None:
        raise ValueError(Reason.WRONG_SHAPE)
    return sent.horario.solicitacao


def _key(value: str, status: PixKeyStatus = PixKeyStatus.ACTIVE) -> PixKey:
    return PixKey(provider_id="", key=value, type=PixKeyType.EVP, status=status, created_at=None)


def _good(answer: ProviderAnswer) -> ProviderAnswer:
    """Let an answer through that is 200; raises the error that another means."""
    if answer.status not in OK:
        raise failure(answer)
    return answer
