"""
Efí's own paths: balance, random keys, payouts, and the statement made of three lists.

Source: the pages and the SDK that the README names. Efí asks for one payout after the other of an
account, and for a registered callback before the first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

from gateway.banks.port.charges import Party
from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.pix_keys import KeyOrder, PixKey, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import (
    BadReply,
    NotFound,
    Outcome,
    Page,
    ProviderAccount,
    ProviderError,
    Reason,
)
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.core.clocks import Deadline
from gateway.core.windows import Window
from provider_adapters.apipix import documents
from provider_adapters.apipix.access import CHANGED, accepted, amount, reading
from provider_adapters.apipix.adapter import ApiPixAdapter
from provider_adapters.apipix.charges import person
from provider_adapters.apipix.efi import documents as efi_documents
from provider_adapters.apipix.efi import payouts
from provider_adapters.apipix.lists import PagedList, limits_of
from provider_adapters.apipix.secrets import ApiPixSecrets
from provider_adapters.kit import money
from provider_adapters.kit.adapter import key_of
from provider_adapters.kit.answers import is_e2e_id, provider_id
from provider_adapters.kit.outcomes import Expected, NeverSendable, read_back, unsent
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


class Efi(ApiPixAdapter):
    """Efí: the standard, and its calls beyond it."""

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance; available and blocked are separate fields."""
        request = self.request(account, "get_balance", _BALANCE, {"bloqueios": "true"})
        now = self.now()

        def shape(document: efi_documents.Saldo) -> Balance:
            blocked = money.unsigned_sum(money.sum_from_text(document.bloqueios.total))
            held = money.sum_from_text(document.saldo)
            return Balance(balance=held, blocked=blocked, updated_at=now)

        return await self.read(account, request, reading(efi_documents.SALDO, shape))

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        """Read a page of payments received and sent, and of refunds given, newest first."""

        async def received(at: str | None) -> Page[Entry]:
            return await self.entries(account, window, at, limit)

        async def given_back(at: str | None) -> Page[Entry]:
            return await self.given_back(account, window, at)

        async def sent(at: str | None) -> Page[Entry]:
            return await self._sent(account, window, at, limit)

        return await merged(
            (received, sent, given_back),
            cursor,
            lambda entry: entry.created_at,
            limit,
            lambda entry: entry.provider_id,
        )

    async def list_keys(self, account: ProviderAccount) -> Sequence[PixKey]:
        """Read every random key; Efí shows no other."""
        return await self._keys(account, "list_keys")

    async def get_key(self, account: ProviderAccount, key_id: str) -> PixKey:
        """Find a key among the keys that Efí lists."""
        return key_of(await self._keys(account, "get_key"), account, key_id)

    async def own_keys(self, account: ProviderAccount) -> Sequence[str]:
        """Return the key of the account's credentials, then the keys that Efí lists."""
        own, listed = await super().own_keys(account), await self.list_keys(account)
        return tuple(dict.fromkeys([*own, *(key.key for key in listed)]))

    async def create_key(self, account: ProviderAccount, order: KeyOrder) -> PixKey:
        """Register a random key, once."""
        if order.type is not PixKeyType.EVP:
            raise NeverSendable
        request = sending(self.request(account, "create_key", _KEYS))
        made = reading(efi_documents.CHAVE, lambda document: _key(document.inside), CHANGED)
        return await self.change(account, request, made)

    async def cancel_key(self, account: ProviderAccount, key: PixKey) -> PixKey:
        """
        Give a random key up; safe to repeat.

        Efí answers with a text, as any server may, so that the keys are read afterwards.
        """
        asked = self.request(account, "cancel_key", _KEY, chave=key.key)
        with contextlib.suppress(NotFound):
            await self.change(account, sending(asked, method="DELETE"), accepted)
        left = await self._keys(account, "cancel_key")
        if any(each.key == key.key for each in left):
            raise BadReply(Reason.WRONG_SHAPE)
        return _key(key.key, PixKeyStatus.CANCELED)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        """Order a payout by PUT to our key; one that Efí has already is read and compared."""
        try:
            request = self._payout_order(account, order)
        except ProviderError as refused:
            return unsent(refused)
        expected = payouts.expected(order)
        created = partial(payouts.created, ordered=expected)
        outcome = await self.pay(account, request, created, send_by)
        return await read_back(outcome, lambda: self._found(account, expected))

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, _provider_id: str
    ) -> Outcome:
        """Look a payout up by our key."""
        return await self._found(account, Expected(provider_key))

    async def _found(self, account: ProviderAccount, wanted: Expected) -> Outcome:
        """Read a payout, and compare it with the order."""
        request = self.request(account, "find_payout", _BY_KEY, idEnvio=wanted.provider_key)
        return await self.read(account, request, partial(payouts.found, wanted=wanted))

    async def _keys(self, account: ProviderAccount, operation: str) -> Sequence[PixKey]:
        """Read every random key, for one of three operations."""
        request = self.request(account, operation, _KEYS)
        return await self.read(account, request, _READ_KEYS)

    async def _payload(
        self, account: ProviderAccount, operation: str, charge: documents.Cobranca, by: Deadline
    ) -> str:
        """Read the payload of a charge's location, if it has one."""
        place = charge.place.id
        if place is None:
            return ""
        path = self.profile.pix + "/loc/{id}/qrcode"
        request = self.request(account, operation, path, id=str(place))
        shown = reading(efi_documents.QRCODE, lambda document: document.inside)
        return await self.read(account, request, shown, by)

    async def _sent(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:
        found = PagedList(
            access=self,
            account=account,
            operation="list_statement",
            path=_SENT,
            decoder=efi_documents.ENVIADOS,
            moment=_ordered_at,
            filters={"status": _SETTLED},
        )
        return await found.page(limits_of(window), cursor, limit, _entries)

    def _payout_order(self, account: ProviderAccount, order: PayoutOrder) -> ProviderRequest:
        """Write an order; raises ``NeverSendable`` for one that Efí can never take."""
        key = secrets_of(account, ApiPixSecrets).pix_key
        asked = self.request(account, "create_payout", _ORDER, idEnvio=order.provider_key)
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
    return person(to.conta_banco or to.identificacao)


def _ordered_at(sent: efi_documents.Enviado) -> datetime:
    """Return when a payment was ordered, which Efí's list goes by; raises ``ValueError``."""
    if sent.horario.solicitacao is None:
        raise ValueError(Reason.WRONG_SHAPE)
    return sent.horario.solicitacao


def _key(value: str, status: PixKeyStatus = PixKeyStatus.ACTIVE) -> PixKey:
    return PixKey(provider_id="", key=value, type=PixKeyType.EVP, status=status, created_at=None)


_READ_KEYS: Final = reading(
    efi_documents.CHAVES, lambda document: tuple(map(_key, document.inside))
)
