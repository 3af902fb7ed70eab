"""Charges: static and dynamic, and their payment."""

from __future__ import annotations

import re
from dataclasses import dataclass

from provider_adapters.kit import brcode
from provider_adapters.testing.bank import accounts, keys, received_payments
from provider_adapters.testing.bank.accounts import Account
from provider_adapters.testing.bank.books import Books, Table
from provider_adapters.testing.bank.messages import Code, Refusal, require
from provider_adapters.testing.bank.received_payments import Payer, Payment

_LONGEST_TXID = 25
"""Characters of a txid in a static code (BR Code manual)."""

_TXID_STATIC = re.compile(rf"[A-Za-z0-9]{{1,{_LONGEST_TXID}}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCharge:
    """
    An order of a charge.

    Attributes:
        type: ``dynamic`` or ``static``.
        txid: A dynamic charge's, where the customer chooses it; the bank chooses otherwise.
        centavos: None lets the payer choose.
        expires_in: Microseconds from now; negative for a charge that has expired.
    """

    reference: str
    type: str
    key: str
    centavos: int | None = None
    expires_in: int | None = None
    reusable: bool = False
    description: str = ""
    payer: Payer | None = None
    txid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge(NewCharge):
    """
    A charge as stored.

    Attributes:
        status: ``active``, ``paid`` or ``canceled``; expiry is in ``expires_at``.
        payer: None for an anonymous charge.
    """

    id: str
    account_id: str
    emv: str
    status: str
    created_at: int
    expires_at: int | None
    seq: int = 0

    def expired(self, at: int) -> bool:
        """Return whether it is active but past its expiry."""
        return self.status == "active" and self.expires_at is not None and self.expires_at <= at


_TABLE = Table(Charge, "SELECT * FROM charges", "charges", "created_at", "charge")
get = _TABLE.by("reference")
"""Find a customer's charge, an expired one too; raises ``NOT_FOUND``."""
by_id = _TABLE.by("id")
"""Find it by the bank's id."""
by_txid = _TABLE.by("txid")
"""Find it by its txid."""
list_all = _TABLE.all
"""Return a customer's charges, oldest first."""


def add(books: Books, account: Account, new: NewCharge) -> Charge:
    """
    Create a charge on one of the account's active keys.

    Raises:
        Refusal: ``KEY_NOT_OWNED`` for any other key, ``REFERENCE_IN_USE``.
    """
    if keys.owned(books, account.id, new.key) is None:
        raise Refusal(Code.KEY_NOT_OWNED, "the key is not an active key of this account")
    if _TABLE.find(books, account.id, reference=new.reference):
        raise Refusal(Code.REFERENCE_IN_USE, "a charge with this reference exists")
    txid, emv = _payload(books, account, new)
    at, expires_in = books.clock.micros(), new.expires_in
    books.database.insert(
        "charges",
        new,
        id=books.identifier("cob"),
        account_id=account.id,
        txid=txid,
        emv=emv,
        status="active",
        created_at=at if expires_in is None else min(at, at + expires_in),
        expires_at=None if expires_in is None else at + expires_in,
    )
    return get(books, account.id, new.reference)


def anywhere(books: Books, reference: str) -> list[Charge]:
    """Find all customers' charges with this reference."""
    sql = "SELECT * FROM charges WHERE reference = ? ORDER BY seq"
    return books.database.records(Charge, sql, (reference,))


def cancel(books: Books, account_id: str, reference: str) -> Charge:
    """Cancel a charge; safe to repeat; raises ``NOT_FOUND``, ``CHARGE_PAID``."""
    charge = get(books, account_id, reference)
    if charge.status == "paid":
        raise Refusal(Code.CHARGE_PAID, "the charge is paid")
    books.database.update("charges", charge.seq, status="canceled")
    return get(books, account_id, reference)


def pay(books: Books, charge: Charge, centavos: int | None, payer: Payer | None) -> Payment:
    """
    Pay a charge from another bank, as the payer's bank would.

    Raises:
        Refusal: ``CHARGE_PAID``, ``CHARGE_CANCELED``, ``CHARGE_EXPIRED``;
            ``KEY_NOT_FOUND`` when its key was cancelled;
            ``BALANCE_LIMIT`` for more than the account can hold;
            ``INVALID_REQUEST`` for a missing open amount, or an amount that
            differs from a fixed one.
    """
    at = books.clock.micros()
    if charge.status == "paid":
        raise Refusal(Code.CHARGE_PAID, "the charge is paid")
    if charge.status == "canceled":
        raise Refusal(Code.CHARGE_CANCELED, "the charge is cancelled")
    if charge.expired(at):
        raise Refusal(Code.CHARGE_EXPIRED, "the charge has expired")
    if keys.owned(books, charge.account_id, charge.key) is None:
        raise Refusal(Code.KEY_NOT_FOUND, "the charge's key was given up")
    wanted = charge.centavos or centavos
    require(wanted, "the charge has an open amount: say how much is paid")
    require(centavos in {None, wanted}, "the charge has another amount")
    accounts.require_room(books, charge.account_id, wanted or 0)
    payment = Payment(
        account_id=charge.account_id,
        centavos=wanted or 0,
        at=at,
        e2e_id=books.e2e_id(at),
        reference=charge.reference,
        payer=payer or charge.payer,
    )
    with books.database.transaction():
        if not charge.reusable:
            books.database.update("charges", charge.seq, status="paid")
        return received_payments.receive(books, payment)


def payment(books: Books, charge: Charge) -> Payment | None:
    """Find what paid a charge: of a reusable charge its latest payment, else its first."""
    if charge.reusable:
        return received_payments.latest(books, charge.account_id, charge.reference)
    if charge.status != "paid":
        return None
    payments = received_payments.of_charge(books, charge.account_id, charge.reference)
    return next((each for each in payments if charge.centavos in {None, each.centavos}), None)


def is_only_named(books: Books, charge: Charge, centavos: int | None) -> bool:
    """
    Return whether a Pix of this amount names a charge without paying it.

    So it is with less than a charge is of, and with its amount once more when it is paid. Apps of
    payers send neither from a dynamic code; anyone can write the name of a charge into a Pix.
    """
    if charge.reusable or charge.centavos is None or charge.expired(books.clock.micros()):
        return False
    if charge.status == "paid":
        return centavos in {None, charge.centavos}
    return charge.status == "active" and centavos is not None and centavos < charge.centavos


def _payload(books: Books, account: Account, new: NewCharge) -> tuple[str, str]:
    """Return txid and BR Code; a dynamic code holds the charge's URL, a static one the key."""
    dynamic = new.type == "dynamic"
    token = books.random_hex(16)
    if dynamic:
        txid = new.txid or token
    else:
        txid = new.reference if _TXID_STATIC.fullmatch(new.reference) else token[-_LONGEST_TXID:]
    code = brcode.BrCode(
        name=account.name,
        city=account.city,
        key=None if dynamic else new.key,
        url=f"{books.identity.host}/qr/v2/{token}" if dynamic else None,
        amount=None if new.centavos is None else f"{new.centavos // 100}.{new.centavos % 100:02d}",
        postal_code="".join(filter(str.isdigit, account.zip_code)) or None,
        txid="***" if dynamic else txid,
        point_of_initiation="12" if dynamic else None,
    )
    return txid, brcode.encode(code)
