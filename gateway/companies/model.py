"""Companies: the owners of accounts and credentials."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Struct

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.schemas import Name, OptionalMoment, Text
from gateway.core.versions import entity_tag

Contact = Annotated[
    str,
    meaning(
        "E-mail address of its people, who are told of changes of its endpoints; empty for none.",
        "ti@loja.example.com",
        max_length=254,
    ),
]


class Company(Struct, frozen=True):
    """A company; ``id`` is a lower-case UUID."""

    id: fields.Id
    name: fields.CompanyName
    created_at: OptionalMoment
    contact: Contact

    def version(self) -> str:
        """Return the entity tag."""
        return entity_tag("company", self.id, self.name, self.contact)


class CompanySummary(Company, frozen=True):
    """
    A company with its accounts.

    Attributes:
        accounts: Number of its accounts.
        tax_number: That of its accounts; empty where they have none in common.
    """

    accounts: int
    tax_number: str


class CompanyRequest(Struct):
    """A new company; without ``id`` one is generated."""

    name: Annotated[Name, meaning("Name, as people know it.", "Loja Exemplo Ltda")]
    id: Annotated[Text, meaning("Its id.", fields.ID)] = ""
    contact: Contact = ""


class ContactRequest(Struct):
    """Another contact of a company."""

    contact: Contact


KnownCompany = Callable[[str, str], Awaitable[Company]]
"""Returns the company of an id that was typed in a field; RuleViolation when there is none."""
