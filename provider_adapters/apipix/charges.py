"""
Charges of API Pix: immediate ones (``cob``), and with a due date (``cobv``).

The latter are read and cancelled, and not made. A charge is known by its txid. A partner's
reference that is none gets a derived one, and a charge is looked for under both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from operator import attrgetter
from typing import Final

from gateway.banks.port.charges import (
    Charge,
    ChargeOrder,
    ChargePayment,
    ChargeStatus,
    ChargeType,
    Party,
    Payer,
)
from gateway.banks.port.providers import (
    CHARGE_PAID,
    IN_USE,
    BadReply,
    NotFound,
    ProviderAccount,
    ProviderError,
    Reason,
    Refused,
)
from gateway.core.clocks import Deadline
from gateway.core.money import ZERO, Money
from gateway.core.strict import cleaned_text
from provider_adapters.apipix import documents
from provider_adapters.apipix.access import CHANGED, Access, amount, readable, reading
from provider_adapters.apipix.lists import Limits, PagedList
from provider_adapters.apipix.profiles import LARGEST_PAGE
from provider_adapters.apipix.words import CHARGE_STATUSES, REMOVED
from provider_adapters.kit import brcode, money
from provider_adapters.kit.adapter import made_or_read
from provider_adapters.kit.answers import is_e2e_id, known, try_body
from provider_adapters.kit.client import UnknownWord
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.payers import payer_of
from provider_adapters.kit.references import txids
from provider_adapters.kit.requests import ProviderRequest, sending
from provider_adapters.kit.times import utc
from provider_adapters.kit.working_days import working_day_from

IMMEDIATE: Final = "/cob/{txid}"
DUE: Final = "/cobv/{txid}"
_PAYMENTS: Final = "/pix"
_LISTED: Final = timedelta(days=90)
"""How far back the payment of a charge is looked for that does not tell when it was made."""
_DEFAULT_S: Final = 86_400
"""Until when a charge can be paid if nobody says (API Pix 2.9.0, ``calendario.expiracao``)."""
_DAY_LENGTH: Final = len("2026-11-28")
_DEFAULT_DAYS: Final = 30
"""After its due date (API Pix 2.9.0, ``validadeAposVencimento``)."""
_LONGEST_MESSAGE: Final = 140
_LONGEST_NAME: Final = 200
_CPF_DIGITS: Final = 11
_SAO_PAULO: Final = timezone(timedelta(hours=-3))
"""Where days end: without summer time since 2019."""
_LOCATION: Final = re.compile(r"(?:https?://)?([!-~]{1,77})", re.ASCII | re.IGNORECASE)
"""Of at most 77 characters (API Pix 2.9.0), which is what fits into a payload."""
_ONE_USE: Final = "12"
"""The mark of a payload that is paid once (manual of the BR Code, field 01)."""


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
        operation, by = "get_charge", self.client.read_by()
        found = await self._find(account, reference, operation, by)
        emv = await self._emv(account, operation, found, by)
        with readable():
            return _payable(_charge(found, reference, emv, self._unknown(operation)))

    async def get_charge_payment(self, account: ProviderAccount, reference: str) -> ChargePayment:
        """
        Read the payment of a charge; the same paths.

        Of a paid charge that shows none it is looked for in the list of payments; ``GET /pix``.
        """
        operation, by = "get_charge_payment", self.client.read_by()
        found = await self._find(account, reference, operation, by)
        with readable():
            status, paid = _state(found, self._unknown(operation))
        if status is ChargeStatus.PAID and paid is None:
            paid = await self._listed_payment(account, operation, found)
        with readable():
            return _payment(found, reference, paid)

    async def create_charge(self, account: ProviderAccount, order: ChargeOrder) -> Charge:
        """
        Make an immediate charge, once, under the first txid of its reference; ``PUT /cob/{txid}``.

        The bank would change a charge that is there already, so it is looked for before. One that
        was made, if the bank's answer is incomplete, is read; where that helps no
        further it is returned as far as it is known, without a payload.
        """
        document = _order(order)
        by = self.client.read_by()
        try:
            await self._find(account, order.reference, "create_charge", by)
        except NotFound:
            pass
        else:
            raise Refused(IN_USE)
        txid = self._txids(account, order.reference)[0]
        request = self._request(account, "create_charge", IMMEDIATE, txid)

        def shape(charge: documents.Cobranca) -> documents.Cobranca:
            _charge(_same(charge, txid), order.reference, charge.emv, lambda: None)
            return charge

        made, put = reading(documents.COBRANCA, shape, CHANGED), sending(request, document, "PUT")
        there = reading(documents.COBRANCA, shape)
        charge = await made_or_read(
            self.change(account, put, made), lambda: self.read(account, request, there)
        )
        return await self._made(account, order.reference, request, charge)

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

    async def _made(
        self,
        account: ProviderAccount,
        reference: str,
        request: ProviderRequest,
        charge: documents.Cobranca,
    ) -> Charge:
        """Return a charge that was created; a missing payload is read again."""
        operation, by = request.operation, self.client.read_by()
        emv = ""
        with suppress(ProviderError):
            emv = await self._emv(account, operation, charge, by)
        if not emv:
            with suppress(ProviderError):
                again = await self.read(account, request, _WHOLE, by)
                emv = await self._emv(account, operation, again, by)
        with readable():
            return _charge(charge, reference, emv, self._unknown(operation))

    async def _removed(
        self, account: ProviderAccount, reference: str, path: str, txid: str
    ) -> Charge:
        """Order the removal of a charge; sent once."""
        unknown = self._unknown("cancel_charge")

        def shape(charge: documents.Cobranca) -> Charge:
            return _charge(_same(charge, txid), reference, charge.emv, unknown)

        request = self._request(account, "cancel_charge", path, txid)
        change = sending(request, {"status": REMOVED}, "PATCH")
        removed = await self.change(account, change, reading(documents.COBRANCA, shape, CHANGED))
        if removed.status is ChargeStatus.PAID:
            raise Refused(CHARGE_PAID)
        return removed

    async def _left(
        self, account: ProviderAccount, reference: str, path: str, txid: str, refused: Refused
    ) -> Charge:
        """Read a charge that the bank did not remove: it may be gone already, or paid."""
        request = self._request(account, "cancel_charge", path, txid)
        document = await self.read(account, request, _WHOLE)
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
    ) -> documents.Cobranca:
        for path, txid in self._places(account, reference):
            request = self._request(account, operation, path, txid)
            try:
                document = await self.read(account, request, _WHOLE, by)
            except NotFound:
                continue
            with readable():
                return _same(document, txid)
        raise NotFound(Reason.NOT_FOUND)

    async def _listed_payment(
        self, account: ProviderAccount, operation: str, charge: documents.Cobranca
    ) -> documents.Pix:
        """Find the payment of a charge in the list of payments; raises ``BadReply``: it is paid."""
        listed = PagedList(
            access=self,
            account=account,
            operation=operation,
            path=self.profile.pix + _PAYMENTS,
            decoder=documents.RECEBIDOS,
            moment=lambda pix: pix.horario,
            filters={"txid": charge.txid},
        )
        now = self.now()
        limits = Limits(charge.calendario.criacao or now - _LISTED, now)
        found: Sequence[documents.Pix] = ()
        with suppress(NotFound):
            page = await listed.page(
                limits, None, LARGEST_PAGE, lambda pix: [pix] if pix.txid == charge.txid else []
            )
            found = [pix for pix in page.items if _is_amount(pix.valor)]
        with readable():
            _, paid = _paying(charge, found)
        if paid is None:
            raise BadReply(Reason.WRONG_SHAPE)
        return paid

    def _places(self, account: ProviderAccount, reference: str) -> Sequence[tuple[str, str]]:
        """Return the possible places of a charge: each path with each txid."""
        paths = (IMMEDIATE, DUE) if self.due else (IMMEDIATE,)
        return [(path, txid) for path in paths for txid in self._txids(account, reference)]

    async def _emv(
        self,
        account: ProviderAccount,
        operation: str,
        charge: documents.Cobranca,
        by: Deadline,
    ) -> str:
        """Return the payload: the bank's, else made of the location; empty without."""
        made = charge.emv or _made_of_location(charge, account.holder)
        try:
            payload = charge.emv or await self._payload(account, operation, charge, by)
            return payload.strip() or made
        except ProviderError:
            if not made:
                raise
            return made

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
    return Party(name=cleaned_text(found.nome), tax_number=cleaned_text(found.tax_number))


def payer(pix: documents.Pix) -> Payer | None:
    """Read the payer; Efí has it in a field of its own, many banks nowhere."""
    person = pix.pagador or (pix.extras.pagador if pix.extras else None)
    named = person or documents.Pessoa()
    return payer_of(named.nome, named.tax_number, pix.info)


_WHOLE: Final = reading(documents.COBRANCA, lambda document: document)
"""Reads a charge."""


def _payable(charge: Charge) -> Charge:
    """Check that a live charge can be paid; raises ``ValueError`` for one without a payload."""
    if charge.status is ChargeStatus.ACTIVE and not charge.emv:
        raise ValueError(Reason.WRONG_SHAPE)
    return charge


def _same(document: documents.Cobranca, txid: str) -> documents.Cobranca:
    if document.txid != txid:
        raise ValueError(Reason.KEY_MISMATCH)
    return document


def _order(order: ChargeOrder) -> Mapping[str, object]:
    """Write an order; raises ``NeverSendable`` if it fits no immediate charge."""
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
    """Write the payer: the standard requires name and tax number, or neither."""
    if not payer.name or not payer.tax_number or len(payer.name) > _LONGEST_NAME:
        raise NeverSendable
    field = "cpf" if len(payer.tax_number) == _CPF_DIGITS else "cnpj"
    return {field: payer.tax_number, "nome": payer.name}


def _charge(document: documents.Cobranca, reference: str, emv: str, unknown: UnknownWord) -> Charge:
    status, _ = _state(document, unknown)
    receiver, city, zip_code = _receiver(document, emv)
    return Charge(
        reference=reference,
        type=ChargeType.DYNAMIC,
        key=document.chave,
        value=_asked_for(document.valor),
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


def _state(
    document: documents.Cobranca, unknown: UnknownWord
) -> tuple[ChargeStatus, documents.Pix | None]:
    """
    Return a charge's state and its payment, for the QR code and the transaction alike.

    It is paid in the bank's state Paid, or with a sufficient payment beside another state. The
    payment is the first sufficient one, since a paid charge takes no other (API Pix 2.9.0,
    ``CONCLUIDA``); without one, for a charge that the bank calls paid, the latest.
    """
    state = known(CHARGE_STATUSES, document.status, ChargeStatus.ACTIVE, unknown)
    suffices, paid = _paying(document, _payments(document))
    return (ChargeStatus.PAID, paid) if suffices or state is ChargeStatus.PAID else (state, None)


def _paying(
    document: documents.Cobranca, payments: Sequence[documents.Pix]
) -> tuple[bool, documents.Pix | None]:
    """Return whether a payment suffices, and the first sufficient payment, else the latest."""
    least = _least(document.valor)
    enough = [
        each for each in payments if _is_meant(each, document) and amount(each.valor) >= least
    ]
    if enough:
        return True, min(enough, key=attrgetter("horario"))
    return False, max(payments, key=attrgetter("horario"), default=None)


def _payments(document: documents.Cobranca) -> Sequence[documents.Pix]:
    """Read the payments that a charge shows; one that cannot be read, or of nothing, is none."""
    read = (try_body(each, documents.PIX) for each in try_body(document.pix, documents.PIXES) or ())
    return [pix for pix in read if pix is not None and _is_amount(pix.valor)]


def _is_meant(pix: documents.Pix, document: documents.Cobranca) -> bool:
    """Return whether a payment has the charge's key and txid, as far as reported."""
    to, txid = pix.chave or document.chave, pix.txid or document.txid
    return (to, txid) == (document.chave, document.txid)


def _is_amount(text: str) -> bool:
    try:
        return amount(text) > ZERO
    except (ValueError, ArithmeticError):
        return False


def _asked_for(value: documents.Valor) -> Money:
    """Return the requested amount: the purchase and the cash handed out with it."""
    return Money(
        amount(value.original).centavos + sum(amount(each.valor).centavos for each in _cash(value))
    )


def _least(value: documents.Valor) -> Money:
    """Return the least amount that pays a charge; changeable amounts have no minimum."""
    if value.alteravel:
        return ZERO
    fixed = (amount(each.valor).centavos for each in _cash(value) if not each.alteravel)
    return Money(amount(value.original).centavos + sum(fixed))


def _cash(value: documents.Valor) -> Sequence[documents.Retirado]:
    """Return the amount handed out in cash, with a purchase or without."""
    given = value.retirada or documents.Retirada()
    return [each for each in (given.saque, given.troco) if each is not None]


def _payment(
    document: documents.Cobranca, reference: str, paid: documents.Pix | None
) -> ChargePayment:
    """Show a charge with its payment, if it has one; an anonymous charge names no payer."""
    return ChargePayment(
        reference=reference,
        value=_asked_for(document.valor) if paid is None else amount(paid.valor),
        created_at=utc(document.calendario.criacao),
        paid_at=None if paid is None else utc(paid.horario),
        e2e_id="" if paid is None or not is_e2e_id(paid.e2e) else paid.e2e,
        payer=_who_paid(document, paid),
    )


def _who_paid(document: documents.Cobranca, paid: documents.Pix | None) -> Payer | None:
    asked = _asked(document.devedor)
    return None if paid is None or asked is None else payer(paid) or asked


def _asked(debtor: documents.Pessoa | None) -> Payer | None:
    """Read the requested payer; None for an anonymous charge."""
    return None if debtor is None else payer_of(debtor.nome, debtor.tax_number)


def _receiver(document: documents.Cobranca, emv: str) -> tuple[Party, str, str]:
    """Return receiver, city and postal code: of the charge, else of its payload."""
    party = document.recebedor
    if party is not None:
        return person(party), cleaned_text(party.cidade), cleaned_text(party.cep)
    code = brcode.receiver(emv)
    return Party(name=cleaned_text(code.name)), code.city, code.postal_code or ""


def _expires_at(calendar: documents.Calendario) -> datetime | None:
    """Return when a charge can no longer be paid: seconds after it was made, or a day's end."""
    try:
        if calendar.data_de_vencimento is not None:
            due = date.fromisoformat(calendar.data_de_vencimento[:_DAY_LENGTH])
            return _end_of(due, calendar.validade_apos_vencimento)
        if calendar.criacao is None or calendar.expiracao is None:
            return None
        return calendar.criacao.astimezone(UTC) + timedelta(seconds=int(calendar.expiracao))
    except OverflowError:  # beyond the calendar: it does not end
        return None


def _end_of(due: date, days: int | None) -> datetime:
    """
    Return when the last day of a charge with a due date is over.

    The days after the due date follow one another, and both the due date and the last day move to
    the next working day (API Pix 2.9.0, ``validadeAposVencimento``, with its examples). Holidays
    of the payer's city are not known: there, a charge may be paid for some days more.
    """
    valid = timedelta(days=_DEFAULT_DAYS if days is None else days)
    last = working_day_from(working_day_from(due) + valid) + timedelta(days=1)
    return datetime(last.year, last.month, last.day, tzinfo=_SAO_PAULO).astimezone(UTC)


def _made_of_location(document: documents.Cobranca, holder: str) -> str:
    """Make the payload of a charge of its location; empty without one that fits."""
    found = _LOCATION.fullmatch((document.place.location or "").strip())
    if found is None:
        return ""
    to = document.recebedor or documents.Pessoa()
    digits = "".join(filter(str.isdecimal, to.cep or ""))
    return brcode.encode(
        brcode.BrCode(
            name=to.nome or holder,
            city=to.cidade or "",
            url=found[1],
            postal_code=digits[:8] or None,
            point_of_initiation=_ONE_USE,
        )
    )
