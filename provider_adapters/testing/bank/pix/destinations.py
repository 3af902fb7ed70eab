"""A payout's destination: another bank, or another customer of this one."""

from __future__ import annotations

from dataclasses import dataclass

from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.pix import keys, magic_values

_HELD = (
    "SELECT keys.*, name, tax_number, branch, number AS account, ? AS ispb, ? AS bank,"
    " ? AS bank_name FROM keys JOIN accounts ON accounts.id = account_id"
    " WHERE key = ? AND status = 'active'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """
    A key, or a bank account.

    Attributes:
        tax_number: The recipient's, as the payer gave it; digits.
        bank: COMPE code or ISPB, with ``branch`` and ``account``.
        sent: The destination as it was sent, JSON text, for answers.
    """

    tax_number: str
    sent: str
    name: str = ""
    key: str | None = None
    bank: str | None = None
    branch: str | None = None
    account: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The owner of a key; ``bank`` is a COMPE code."""

    key: str
    type: str
    name: str
    tax_number: str
    ispb: str
    bank: str
    bank_name: str
    branch: str
    account: str


def resolve(books: Books, to: Destination) -> str | None:
    """
    Return the account of this bank that is meant; None for another bank's.

    Raises:
        Refusal: For a magic destination; ``ACCOUNT_INVALID`` for an account that
            this bank does not have; ``OWNER_MISMATCH`` for a wrong tax number.
    """
    magic_values.refuse_destination(to.key, to.account)
    owner = _customer(books, to)
    if owner is None:
        return None
    if owner.tax_number != to.tax_number:
        raise Refusal(Code.OWNER_MISMATCH, "the tax number is not the owner's")
    return owner.id


def look_up(books: Books, key: str) -> Owner:
    """Return the owner of a key, invented at another bank; raises ``KEY_NOT_FOUND`` (404)."""
    if key == magic_values.KEY_UNKNOWN:
        raise Refusal(Code.KEY_NOT_FOUND, "no such key", status=404)
    bank = books.identity
    held = books.database.record(Owner, _HELD, (bank.ispb, bank.compe, bank.name, key))
    return held or Owner(
        key=key,
        type=_guess(key),
        name="Cliente de Outro Banco",
        tax_number="***.000.001-**" if key == magic_values.KEY_OF_ANOTHER else "***.982.247-**",
        ispb="88888888",
        bank="888",
        bank_name="Outro Banco S.A.",
        branch="0001",
        account="1234567-8",
    )


def _customer(books: Books, to: Destination) -> Account | None:
    if to.key is not None:
        held = keys.active(books, to.key)
        return accounts.get(books, held.account_id) if held else None
    if to.bank not in (books.identity.compe, books.identity.ispb):
        return None
    found = accounts.by_coordinates(books, to.branch or "", to.account or "")
    if found is None:
        raise Refusal(Code.ACCOUNT_INVALID, "this bank has no such account")
    return found


def _guess(key: str) -> str:
    """Guess the type of another bank's key from its form."""
    if "@" in key:
        return "email"
    if key.startswith("+"):
        return "phone"
    return {11: "cpf", 14: "cnpj"}.get(len(key), "evp")
