"""PIX keys of an account (contract 2.8)."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.core import strict


class PixKeyType(StrEnum):
    """The central bank's kinds of key; ``evp`` is a random one."""

    CPF = "cpf"
    CNPJ = "cnpj"
    EMAIL = "email"
    PHONE = "phone"
    EVP = "evp"


class PixKeyStatus(StrEnum):
    """Whether money sent to the key arrives here."""

    ACTIVE = "active"
    PENDING = "pending"
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PixKey:
    """A key as the provider lists it; ``provider_id`` may be empty."""

    provider_id: str
    key: str
    type: PixKeyType
    status: PixKeyStatus
    created_at: datetime | None

    def public_id(self, account_id: str) -> str:
        """Return the provider's id where it is a UUID, else one derived from account and key."""
        try:
            return strict.uuid_text(self.provider_id)
        except ValueError:
            return str(uuid.uuid5(uuid.UUID(account_id), self.key))


@dataclass(frozen=True, slots=True)
class KeyOrder:
    """
    A key to be registered; ``key`` is in its normal form and empty for ``evp`` alone.

    The bank draws a random key itself.
    """

    type: PixKeyType
    key: str

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid order, before it can be sent."""
        if (self.type is PixKeyType.EVP) is not (self.key == ""):
            problem = "every key but a random one is named"
            raise ValueError(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyOwner:
    """
    The owner of a key, as the central bank's directory shows it before paying.

    Attributes:
        tax_number: For showing, a person's with its ends hidden. It can prove that another number
            is not
            the owner's, but never that a number is.
        bank_number, bank_name, branch, account: Empty where unreported.
    """

    key: str
    type: PixKeyType
    name: str
    tax_number: str
    ispb: str
    bank_number: str = ""
    bank_name: str = ""
    branch: str = ""
    account: str = ""

    @property
    def bank(self) -> str:
        """Return the owner's bank: its name, else its number or ISPB; empty if unreported."""
        return self.bank_name or self.bank_number or self.ispb


# A label of a host name, as in the directory of the central bank: HTML's form of an e-mail.
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"[A-Za-z0-9.!#$&'*+/=?^_`{{|}}~\-]{{1,64}}@{_LABEL}(?:\.{_LABEL})*", re.ASCII)
# In Brazil an area code and 8 or 9 digits; elsewhere no number in use is shorter than 7 digits.
_PHONE = re.compile(r"\+(?:55[1-9]{2}[0-9]{8,9}|(?!55)[1-9][0-9]{6,14})", re.ASCII)
# The directory of the central bank takes no longer one.
_LONGEST_EMAIL = 77


def normal_key(kind: PixKeyType, text: str, *, alphanumeric_cnpj: bool = True) -> str:
    """
    Return a key in the form for sending and comparing.

    Tax numbers lose their punctuation, letters of a CNPJ become capitals, e-mail and evp lower
    case; a phone is ``+`` E.164. Without ``alphanumeric_cnpj`` a CNPJ with letters is refused.

    Raises:
        ValueError: when the text does not fit its kind.
    """
    match kind:
        case PixKeyType.CPF | PixKeyType.CNPJ:
            return _tax_key(kind, text, alphanumeric_cnpj=alphanumeric_cnpj)
        case PixKeyType.EVP:
            return strict.uuid_text(text)
        case PixKeyType.EMAIL:
            # Matched as sent: some letters of other scripts turn into ASCII when lowered.
            return _matching(_EMAIL, strict.plain_text(text, _LONGEST_EMAIL)).lower()
        case PixKeyType.PHONE:
            return _matching(_PHONE, text)


def _tax_key(kind: PixKeyType, text: str, *, alphanumeric_cnpj: bool) -> str:
    bare = strict.tax_number(text)
    if not alphanumeric_cnpj and strict.has_letters(bare):
        raise strict.Malformed
    if (len(bare) == 11) is not (kind is PixKeyType.CPF):  # noqa: PLR2004 - a CPF has 11 digits
        problem = f"not a {kind}"
        raise ValueError(problem)
    return bare


def _matching(pattern: re.Pattern[str], text: str) -> str:
    """Return the text if it matches as a whole."""
    if pattern.fullmatch(text) is None:
        problem = "not a key of its kind"
        raise ValueError(problem)
    return text
