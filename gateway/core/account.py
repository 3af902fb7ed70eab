"""Accounts at banks."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec


class Environment(StrEnum):
    """The two deployments; they share no data (contract part 1)."""

    SANDBOX = "sandbox"
    PRODUCTION = "production"


GivenSecrets = str | Mapping[str, str]
"""What an operator enters for an account's bank: one text, or texts by the names of fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BankSecrets:
    """
    An account's bank secrets, validated, as one text for encryption.

    Attributes:
        certificate_ends_at: When the certificate among it expires; None without one.
    """

    text: str = field(repr=False)
    certificate_ends_at: datetime | None = None


class BankSecretsRefused(ValueError):
    """
    The secrets entered for an account do not fit; the message never repeats them.

    Attributes:
        reason: A word of ``gateway.core.reasons``.
        field: The invalid field of the secrets; empty when it is not one field.
    """

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field


class BankCoordinates(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """
    Where an account is held: COMPE number, ISPB, branch, number with check digit.

    Packed as it is, without the names of its fields.
    """

    bank_number: str = ""
    ispb: str = ""
    branch: str = ""
    account: str = ""


class Derived(msgspec.Struct):
    """
    Values derived from an account's record, computed once and never stored.

    They are dropped with the record.

    Attributes:
        bank: The opened way to the account's bank.
        bank_by: Who opened it; None before anybody has.
        hash: The short form under which the account is found in the logs.
    """

    bank: Any = None
    bank_by: object = None
    hash: str = ""


def bank_account_key(name: str) -> str:
    """
    Return the key by which a bank's names of accounts are compared.

    Spellings that a bank may take for one another have one key: letter case, wide and other
    compatible forms (NFKC), and outer blanks.
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """
    An account a partner acts on.

    Attributes:
        id: A lower-case hyphenated UUID.
        provider: The name of a configured provider; empty when there is none.
        provider_account: The provider's own name of the account; without a provider that of the
            last one, empty if there never was one.
        sealed_credentials: Our credentials at the provider, encrypted with the
            account id bound to it; empty when the provider needs nothing.
        certificate_ends_at: When the certificate among them expires; None without one.
        name, tax_number: The holder's.
        derived: Values computed from this record in this process.
    """

    id: str
    company_id: str
    name: str
    tax_number: str
    active: bool
    verified: bool
    provider: str
    provider_account: str
    sealed_credentials: bytes
    coordinates: BankCoordinates
    created_at: datetime
    certificate_ends_at: datetime | None = None
    derived: Derived = field(default_factory=Derived, init=False, repr=False, compare=False)

    @property
    def had_bank(self) -> bool:
        """Whether the account has or had a bank."""
        return bool(self.provider or self.provider_account)

    @property
    def log_hash(self) -> str:
        """Short id in the logs: 16 hex digits of SHA-256."""
        derived = self.derived
        if not derived.hash:
            derived.hash = hashlib.sha256(self.id.encode("utf-8", "replace")).hexdigest()[:16]
        return derived.hash
