"""Models of accounts: registration, changes, and the connection to a bank."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from gateway.core import fields, schemas
from gateway.core.account import Account
from gateway.core.fields import meaning
from gateway.core.schemas import OptionalMoment, TaxNumber, Text
from gateway.core.strict import hidden_tax_number
from gateway.core.versions import version_of_account
from gateway.core.windows import Paging


class Owner(Struct, frozen=True):
    """The company that owns an account; its name is empty where it has no record."""

    id: fields.Id
    name: fields.CompanyName


class _Registered(Struct, frozen=True, kw_only=True):
    """The fields of an account that every reader of it sees."""

    id: fields.Id
    name: fields.CompanyName
    tax_number: fields.CompanyTaxNumber
    active: Annotated[bool, meaning("Whether the account may be used.")]
    verified: Annotated[bool, meaning("Whether the owner's documents were checked.")]
    provider: fields.Provider
    provider_account: fields.ProviderAccount
    has_credentials: Annotated[
        bool, meaning("Whether secrets for the bank are stored; they are never shown.")
    ]
    certificate_ends_at: OptionalMoment
    bank_number: fields.BankNumber
    ispb: fields.Ispb
    branch: fields.Branch
    account: fields.Account
    created_at: OptionalMoment


class AccountRegistered(_Registered, frozen=True, kw_only=True):
    """An account as registered; it states whether credentials are stored, and shows none."""

    company_id: fields.CompanyId


class AccountRecord(_Registered, frozen=True, kw_only=True):
    """An account as registered, with where it is held."""

    company: Owner


class OwnedAccount(Struct, frozen=True):
    """An account and its company's name; empty for a company without a record."""

    account: Account
    company_name: str

    def to_document(self, _reader: object) -> AccountRecord:
        """Leave out the sealed credentials, and hide the CPF of a person."""
        owner = Owner(self.account.company_id, self.company_name)
        return AccountRecord(company=owner, **_shown(self.account))

    def version(self) -> str:
        """Return the entity tag."""
        return version_of_account(self.account)


def registered(account: Account, _who: object) -> AccountRegistered:
    """Leave out the sealed credentials, and hide the CPF of a person."""
    return AccountRegistered(company_id=account.company_id, **_shown(account))


def _shown(account: Account) -> dict[str, Any]:
    kept = {each.name for each in dataclasses.fields(Account)} & set(_Registered.__struct_fields__)
    return {
        **{name: getattr(account, name) for name in kept},
        "tax_number": hidden_tax_number(account.tax_number),
        **msgspec.structs.asdict(account.coordinates),
        "has_credentials": bool(account.sealed_credentials),
    }


@dataclass(frozen=True, slots=True)
class AccountSearch:
    """Search parameters of accounts; None means every company in scope, or every provider."""

    paging: Paging
    company_id: str | None = None
    provider: str | None = None


def _form(pattern: str) -> Meta:
    """Describe a text by its pattern; the service validates it."""
    return Meta(extra_json_schema={"pattern": pattern})


class CoordinatesRequest(Struct):
    """Bank, branch and number of an account; absent fields keep their values."""

    bank_number: Annotated[
        Text,
        _form("^([0-9]{3})?$"),
        meaning("COMPE code of the bank, 3 digits; where a payout names one, its ISPB too.", "341"),
    ] = ""
    ispb: Annotated[
        Text,
        _form("^([0-9]{8})?$"),
        meaning("ISPB of the bank, 8 digits; may be empty.", "60701190"),
    ] = ""
    branch: Annotated[
        Text,
        _form("^([0-9]{1,4})?$"),
        meaning("Branch, up to 4 digits, without check digit.", "0001"),
    ] = ""
    account: Annotated[
        Text,
        _form("^([0-9]{1,20}(-[0-9Xx])?)?$"),
        meaning(
            "Number of the account at its bank, with the check digit after a hyphen.", "123456-7"
        ),
    ] = ""


class AccountRequest(CoordinatesRequest, kw_only=True):
    """A new account; it cannot be used before it is active and verified."""

    company_id: Annotated[
        Text, meaning("The company that owns it, a UUID; empty where there is none.", fields.ID)
    ]
    name: Annotated[schemas.Name, meaning("Name, as people know it.", "Loja Exemplo Ltda")]
    tax_number: Annotated[TaxNumber, Meta(extra_json_schema={"example": "11222333000181"})]
    id: Annotated[Text, meaning("Its id.", fields.ID)] = ""
    active: Annotated[bool, meaning("Whether the account may be used.")] = False
    verified: Annotated[bool, meaning("Whether the owner's documents were checked.")] = False


class AccountChange(CoordinatesRequest, kw_only=True, forbid_unknown_fields=True):
    """Changes to an account; absent fields keep their values."""

    name: Annotated[schemas.Name | None, meaning("Name, as people know it.", "Maria Silva")] = None
    tax_number: Annotated[
        TaxNumber | None, meaning("CPF or CNPJ; what is read back may be hidden in part.")
    ] = None
    active: Annotated[bool | None, meaning("Whether the account may be used.")] = None
    verified: Annotated[bool | None, meaning("Whether the owner's documents were checked.")] = None


Secret = Annotated[str, Meta(max_length=32 * 1024, extra_json_schema={"format": "password"})]


class ProviderRequest(Struct):
    """
    The bank behind an account; an empty ``provider`` for none.

    Always whole. Without credentials the stored ones stay, as long as provider and
    account stay the same; otherwise they are required; an empty text means that there are none.
    A bank that requires one secret takes a text; one that requires several takes an object,
    with the fields that its adapter names, or the same object as a text. They must be whole:
    a certificate needs its key. They are encrypted before they are stored, also in an order that
    waits, and never shown again; ``certificate_ends_at`` says when the certificate among them
    expires.
    """

    provider: Annotated[
        Text, meaning("Name of the bank in the operator's settings; empty for none.", "sandbox")
    ]
    provider_account: Annotated[
        Text, meaning("The bank's own name of the account.", "0001-123456")
    ] = ""
    credentials: Annotated[
        Secret | dict[str, Secret] | None,
        meaning("Secrets that the bank asks for: a text, or an object by field name."),
    ] = None

    def __repr__(self) -> str:
        """Leave out the credentials."""
        return f"ProviderRequest({self.provider!r}, {self.provider_account!r})"


NO_BANK: Final = ProviderRequest(provider="")


class BankChange(Struct, frozen=True, kw_only=True, tag="account_bank"):
    """
    An order for another bank of an account that has one, or for other credentials there.

    It is stored as JSON. An empty bank stands for none.

    Attributes:
        provider_before, provider_account_before, sealed_before: How it stands when it is ordered.
        sealed_credentials: Credentials at the bank, sealed for the account; empty for none.
    """

    account_id: str
    provider: str
    provider_account: str
    provider_before: str
    provider_account_before: str
    sealed_before: bytes
    sealed_credentials: bytes
    certificate_ends_at: datetime | None = None

    def still_fits(self, account: Account) -> bool:
        """Return whether the account's bank and credentials are the former or the ordered ones."""
        return (account.provider, account.provider_account, account.sealed_credentials) in {
            (self.provider_before, self.provider_account_before, self.sealed_before),
            (self.provider, self.provider_account, self.sealed_credentials),
        }


class Connected(StrEnum):
    """The result of testing an account's credentials at its bank."""

    WORKS = "works"
    NO_PROVIDER = "no_provider"
    NO_CREDENTIALS = "no_credentials"
    NO_CERTIFICATE = "no_certificate"
    CREDENTIALS_REFUSED = "credentials_refused"
    ACCOUNT_UNKNOWN = "account_unknown"
    REFUSED = "refused"
    NOT_OFFERED = "not_offered"
    BUSY = "busy"
    UNREACHABLE = "unreachable"
    NO_ANSWER = "no_answer"
    NOT_UNDERSTOOD = "not_understood"


class Connection(Struct, frozen=True):
    """The result of a test at an account's bank; ``works`` is true for the outcome of that name."""

    works: Annotated[bool, meaning("Whether the bank accepted us.")]
    outcome: Annotated[
        Connected,
        Meta(
            description="How it ended.",
            extra_json_schema={
                "example": "works",
                "type": "string",
                "enum": sorted(map(str, Connected)),
            },
        ),
    ]
    message: Annotated[
        str,
        meaning(
            "A sentence for people; its wording may change.",
            "The bank knows the account and accepts its credentials.",
        ),
    ]


class RecordKind(StrEnum):
    """Kinds of records that have names."""

    ACCOUNT = "account"
    COMPANY = "company"
    CREDENTIAL = "credential"


class Name(Struct, frozen=True):
    """A record as people call it; ``id`` of a credential is its client id."""

    kind: RecordKind
    id: fields.Id
    name: fields.CompanyName


NAMED_AT_MOST: Final = 200
"""Names of one call: a page of a hundred lines, each of an account and a credential."""
Id = Annotated[
    str, Meta(min_length=1, max_length=64, examples=["0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"])
]


class NamesRequest(Struct):
    """Ids of accounts and companies, client ids of credentials."""

    ids: Annotated[list[Id], meaning("Ids to look up, at most 200.", max_length=NAMED_AT_MOST)]


class BankNumber(Struct, frozen=True):
    """
    A bank, or another institution with a number.

    ``name`` is the one the Banco Central lists; ``pix`` says how it takes part in Pix, and is
    empty for one that does not.
    """

    compe: Annotated[
        str,
        Meta(description="COMPE code, 3 digits; empty where the bank has none.", examples=["341"]),
    ]
    ispb: Annotated[
        str, Meta(description="ISPB of the bank, 8 digits; may be empty.", examples=["60701190"])
    ]
    name: Annotated[
        str, Meta(description="Name, as people know it.", examples=["ITAU UNIBANCO S.A."])
    ]
    pix: Annotated[
        Literal["direct", "indirect", ""],
        meaning(
            "Whether the bank takes part in Pix `direct`ly or `indirect`ly; empty for not at all."
        ),
    ]
