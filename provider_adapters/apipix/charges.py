"""
Charges of API Pix: immediate ones (``cob``), and with a due date (``cobv``).

The latter are read and cancelled, and not made. A charge is known by its txid. A partner's
reference that is none gets a derived one, and a charge is looked for under both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Final, TypeVar

import msgspec

from gateway.domain.bank.charges import (
    Charge,
    ChargeOrder,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.domain.bank.provider_options import CHARGE_PAID, IN_USE
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import NotFound, ProviderAccount, Refused
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.strict import cleaned_text
from provider_adapters.apipix import documents
from provider_adapters.apipix.access import CHANGED, Access, amount, readable, reading
from provider_adapters.apipix.words import CHARGE_STATUSES, REMOVED
from provider_adapters.kit import brcode, money
from provider_adapters.kit.answers import is_e2e_id, known
from provider_adapters.kit.client import Translate, UnknownWord
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.payers import payer_of
from provider_adapters.kit.references import txids
from provider_adapters.kit.requests import ProviderRequest, sending
from provider_adapters.kit.times import utc

Document = TypeVar("Document", bound=documents.Cobranca)

IMMEDIATE: Final = "/cob/{txid}"
DUE: Final = "/cobv/{txid}"
_DEFAULT_S: Final = 86_400
"""Until when a charge can be paid if nobody says (API Pix 2.9.0, ``calendario.expiracao``)."""
_DEFAULT_DAYS: Final = 30
"""After its due date (API Pix 2.9.0, ``validadeAposVencimento``)."""
_LONGEST_MESSAGE: Final = 140
_LONGEST_NAME: Final = 200
_CPF_DIGITS: Final = 11
_SAO_PAULO: Final = timezone(timedelta(hours=-3))
"""Where days end: without summer time since 2019."""


@dataclass(frozen=True, kw_only=True)
class Charges(Access):
    """
    Reads, makes and cancels charges.

    Attributes:
        due: Charges with a due date are looked for too.
    """

    due: bool

    async def get_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """Read a charge, an expired one too; ``GET /cob/{txid}``, ``GET /cobv/{txid}``."""
        by = self.client.read_by()
        found = await self._find(account, reference, "get_charge", by, documents.COBRANCA)
        emv = found.emv or await self._payload(account, "get_charge", found, by)
        with readable():
            return _payable(_charge(found, reference, emv, self._unknown("get_charge")))

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """Read the latest payment of a charge; the same paths."""
        by = self.client.read_by()
        operation = "get_charge_payment"
        found = await self._find(account, reference, operation, by, documents.COBRANCA_PAGA)
        with readable():
            return _payment(found, reference)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """
        Make an immediate charge, once, under the first txid of its reference; ``PUT /cob/{txid}``.

        The bank would change a charge that is there already, so it is looked for before.
        """
        document = _order(order)
        by = self.client.read_by()
        try:
            await self._find(account, order.reference, "create_charge", by, documents.COBRANCA)
        except NotFound:
            pass
        else:
            raise Refused(IN_USE)
        txid = self._txids(account, order.reference)[0]
        request = self._request(account, "create_charge", IMMEDIATE, txid)

        def shape(charge: documents.Cobranca) -> documents.Cobranca:
            _charge(_same(charge, txid), order.reference, charge.emv, lambda: None)
            return charge

        made = reading(documents.COBRANCA, shape, CHANGED)
        charge = await self.change(account, sending(request, document, "PUT"), made)
        by = self.client.read_by()
        emv = charge.emv or await self._payload(account, "create_charge", charge, by)
        with readable():
            return _payable(_charge(charge, order.reference, emv, self._unknown("create_charge")))

    async def cancel_charge(self, account: ProviderAccount, reference: str) -> Charge:
        """
        Cancel a charge that is still active; ``PATCH /cob/{txid}`` or ``/cobv/{txid}``.

        One that is cancelled already stays so.
        """
        for path, txid in self._places(account, reference):
            try:
                return await self._removed(account, reference, path, txid)
            except NotFound:
                continue
            except Refused as refused:
                return await self._left(account, reference, path, txid, refused)
        raise NotFound(Reason.NOT_FOUND)

    async def _removed(
        self, account: ProviderAccount, reference: str, path: str, txid: str
    ) -> Charge:
        """Ask for a charge to be removed, once."""
        unknown = self._unknown("cancel_charge")

        def shape(charge: documents.Cobranca) -> Charge:
            return _charge(_same(charge, txid), reference, charge.emv, unknown)

        request = self._request(account, "cancel_charge", path, txid)
        change = sending(request, {"status": REMOVED}, "PATCH")
        removed = reading(documents.COBRANCA, shape, CHANGED)
        return await self.change(account, change, removed)

    async def _left(
        self, account: ProviderAccount, reference: str, path: str, txid: str, refused: Refused
    ) -> Charge:
        """Read a charge that the bank did not remove: it may be gone already, or paid."""
        request = self._request(account, "cancel_charge", path, txid)
        document = await self.read(account, request, _whole(documents.COBRANCA))
        with readable():
            same, unknown = _same(document, txid), self._unknown("cancel_charge")
            charge = _charge(same, reference, document.emv, unknown)
        if charge.status is ChargeStatus.CANCELED:
            return charge
        if charge.status is ChargeStatus.PAID:
            raise Refused(CHARGE_PAID, http_status=refused.http_status)
        raise refused

    async def _find(
        self,
        account: ProviderAccount,
        reference: str,
        operation: str,
        by: Deadline,
        decoder: msgspec.json.Decoder[Document],
    ) -> Document:
        """Look for a charge under each txid and each path that it may have."""
        for path, txid in self._places(account, reference):
            request = self._request(account, operation, path, txid)
            try:
                document = await self.read(account, request, _whole(decoder), by)
            except NotFound:
                continue
            with readable():
                return _same(document, txid)
        raise NotFound(Reason.NOT_FOUND)

    def _places(self, account: ProviderAccount, reference: str) -> Sequence[tuple[str, str]]:
        """Return where a charge may be: each path with each txid."""
        paths = (IMMEDIATE, DUE) if self.due else (IMMEDIATE,)
        return [(path, txid) for path in paths for txid in self._txids(account, reference)]

    async def _payload(
        self, _account: ProviderAccount, _operation: str, _charge: documents.Cobranca, _by: Deadline
    ) -> str:
        """Read the payload of a charge that shows none; the standard has no path for it."""
        return ""

    def _request(
        self, account: ProviderAccount, operation: str, path: str, txid: str
    ) -> ProviderRequest:
        immediate = self.profile.charges if path == IMMEDIATE else ""
        base = immediate or self.profile.pix
        return self.request(account, operation, base + path, txid=txid)

    def _txids(self, account: ProviderAccount, reference: str) -> tuple[str, ...]:
        return tuple(txids(self.environment, account.account_id, reference))

    def _unknown(self, operation: str) -> UnknownWord:
        return self.client.unknown_word(operation)


def person(found: documents.Pessoa | None) -> Party:
    """Read a name and a tax number."""
    if found is None:
        return Party()
    return Party(name=cleaned_text(found.nome), tax_number=found.tax_number)


def payer(pix: documents.Pix) -> Payer | None:
    """Read who paid; Efí tells it in a place of its own, many banks not at all."""
    told = pix.pagador or (pix.extras.pagador if pix.extras else None)
    named = told or documents.Pessoa()
    return payer_of(named.nome, named.tax_number, pix.info)


def _whole(decoder: msgspec.json.Decoder[Document]) -> Translate[Document]:
    """Return what reads a charge."""
    return reading(decoder, lambda document: document)


def _payable(charge: Charge) -> Charge:
    """Check that a live charge can be paid; raises ``ValueError`` for one without a payload."""
    if charge.status is ChargeStatus.ACTIVE and not charge.emv:
        raise ValueError(Reason.WRONG_SHAPE)
    return charge


def _same(document: Document, txid: str) -> Document:
    if document.txid != txid:
        raise ValueError(Reason.KEY_MISMATCH)
    return document


def _order(order: ChargeOrder) -> Mapping[str, object]:
    """Write an order; raises ``NeverSendable`` for what an immediate charge cannot be."""
    fits = order.type is ChargeType.DYNAMIC and not order.reusable
    if not fits or order.value is None or len(order.description) > _LONGEST_MESSAGE:
        raise NeverSendable
    document: dict[str, object] = {
        "calendario": {"expiracao": order.expires_in or _DEFAULT_S},
        "valor": {"original": money.as_text(order.value)},
        "chave": order.key,
    }
    if order.payer is not None:
        document["devedor"] = _debtor(order.payer)
    if order.description:
        document["solicitacaoPagador"] = order.description
    return document


def _debtor(payer: Payer) -> Mapping[str, str]:
    """Write who is to pay: the standard wants name and tax number, or nobody."""
    if not payer.name or not payer.tax_number or len(payer.name) > _LONGEST_NAME:
        raise NeverSendable
    field = "cpf" if len(payer.tax_number) == _CPF_DIGITS else "cnpj"
    return {field: payer.tax_number, "nome": payer.name}


def _charge(document: documents.Cobranca, reference: str, emv: str, unknown: UnknownWord) -> Charge:
    status = known(CHARGE_STATUSES, document.status, ChargeStatus.ACTIVE, unknown)
    receiver, city, zip_code = _receiver(document, emv)
    return Charge(
        reference=reference,
        type=ChargeType.DYNAMIC,
        key=document.chave,
        value=amount(document.valor.original),
        status=status,
        emv=emv,
        reusable=False,
        payer=_asked(document.devedor),
        receiver=receiver,
        city=city,
        zip_code=zip_code,
        created_at=utc(document.calendario.criacao),
        expires_at=_expires_at(document.calendario),
    )


def _payment(document: documents.CobrancaPaga, reference: str) -> ChargePayment:
    """Read the latest payment of a charge; an anonymous charge names no payer."""
    paid = max(document.pix, key=lambda pix: pix.horario, default=None)
    asked = amount(document.valor.original)
    return ChargePayment(
        reference=reference,
        value=asked if paid is None else amount(paid.valor),
        created_at=utc(document.calendario.criacao),
        paid_at=None if paid is None else utc(paid.horario),
        e2e_id="" if paid is None or not is_e2e_id(paid.e2e) else paid.e2e,
        payer=_who_paid(document, paid),
    )


def _who_paid(document: documents.CobrancaPaga, paid: documents.Pix | None) -> Payer | None:
    asked = _asked(document.devedor)
    return None if paid is None or asked is None else payer(paid) or asked


def _asked(debtor: documents.Pessoa | None) -> Payer | None:
    """Read who is asked to pay; None for an anonymous charge."""
    return None if debtor is None else payer_of(debtor.nome, debtor.tax_number)


def _receiver(document: documents.Cobranca, emv: str) -> tuple[Party, str, str]:
    """Return receiver, city and postal code: of the charge, else of its payload."""
    told = document.recebedor
    if told is not None:
        return person(told), told.cidade or "", told.cep or ""
    code = brcode.receiver(emv)
    return Party(name=cleaned_text(code.name)), code.city, code.postal_code or ""


def _expires_at(calendar: documents.Calendario) -> datetime | None:
    """Return when a charge can no longer be paid: seconds after it was made, or a day's end."""
    if calendar.data_de_vencimento is not None:
        days = calendar.validade_apos_vencimento
        last = calendar.data_de_vencimento + timedelta(days=_DEFAULT_DAYS if days is None else days)
        midnight = datetime(last.year, last.month, last.day, tzinfo=_SAO_PAULO)
        return (midnight + timedelta(days=1)).astimezone(UTC)
    if calendar.criacao is None or calendar.expiracao is None:
        return None
    return calendar.criacao.astimezone(UTC) + timedelta(seconds=int(calendar.expiracao))
