"""The identity provider of a company, what its claims give, and the orders about it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from msgspec import Struct
from msgspec.structs import asdict

from gateway.core import fields
from gateway.core.approvals import SignOnDocument
from gateway.core.fields import meaning
from gateway.core.rights import Role
from gateway.core.schemas import Moment, Text
from gateway.core.versions import entity_tag

MOST_VALUES: Final = 100
"""Of the mapping: a claim's value for each job of a company, and a few over."""
MOST_WORDS: Final = 20
"""Domains, scopes, and values of ``acr`` and ``amr``."""
MOST_BREAK_GLASS: Final = 5
"""A few people reach the panel in an outage; more would be a second way in."""

ShortName = Annotated[
    Text, meaning("What people of the company type to find their sign-in.", "loja-exemplo")
]
Domains = Annotated[
    tuple[Text, ...],
    meaning(
        "Domains of its people's e-mail addresses; no other address signs in.",
        ["loja.example.com"],
        max_length=MOST_WORDS,
    ),
]
IssuerUrl = Annotated[
    Text,
    meaning("The `iss` of its tokens, an https address.", "https://sso.example.com/realms/loja"),
]
ClientId = Annotated[Text, meaning("The client that the gateway is there.", "pixgate")]
Scopes = Annotated[
    tuple[Text, ...],
    meaning(
        "Scopes that are asked for beside `openid`, `email` and `profile`.",
        ["groups"],
        max_length=MOST_WORDS,
    ),
]
Claim = Annotated[
    Text,
    meaning(
        "The claim of the ID token that gives roles; points lead into an object.",
        "realm_access.roles",
    ),
]


class RoleValue(Struct, frozen=True):
    """A value of the claim, and the role that it gives."""

    value: Annotated[Text, meaning("A value of the claim, compared exactly.", "pixgate-operator")]
    role: Annotated[Role, meaning("The role that it gives.", "operator")]


Mapping = Annotated[
    tuple[RoleValue, ...],
    meaning("What the claim's values give; all others give nothing.", max_length=MOST_VALUES),
]
FactorAcr = Annotated[
    tuple[Text, ...],
    meaning(
        "Values of `acr` that prove a second factor; empty for none.", ["2"], max_length=MOST_WORDS
    ),
]
FactorAmr = Annotated[
    tuple[Text, ...],
    meaning(
        "Values of `amr`, one of which proves a second factor; empty for none.",
        ["mfa"],
        max_length=MOST_WORDS,
    ),
]
BreakGlass = Annotated[
    tuple[Text, ...],
    meaning(
        "Ids of the company's users who may sign in without the provider, as in its outage.",
        [fields.ID],
        max_length=MOST_BREAK_GLASS,
    ),
]


class IdentityProvider(Struct, frozen=True, kw_only=True):
    """The identity provider of a company, by which its people sign in; never its secret."""

    company_id: fields.CompanyId
    short_name: ShortName
    domains: Domains
    issuer: IssuerUrl
    client_id: ClientId
    scopes: Scopes
    claim: Claim
    mapping: Mapping
    factor_acr: FactorAcr
    factor_amr: FactorAmr
    break_glass: BreakGlass
    changed_at: Annotated[Moment, meaning("When it was last changed.")]
    changed_by: Annotated[str, meaning("Who ordered the last change.", "user:ana@example.com")]

    @property
    def subject(self) -> str:
        """The name of the identity provider in the audit log."""
        return f"identity_provider:{self.company_id}"

    @property
    def label(self) -> str:
        """The provider's name in mails; the short name has no misleading characters."""
        return f"{self.short_name} (single sign-on)"

    def version(self) -> str:
        """Return the entity tag."""
        return entity_tag("identity_provider", self.company_id, self.changed_at.isoformat())

    def document(self) -> SignOnDocument:
        """Return what an order about it shows."""
        return {
            "short_name": self.short_name,
            "domains": [*self.domains],
            "issuer": self.issuer,
            "client_id": self.client_id,
            "scopes": [*self.scopes],
            "claim": self.claim,
            "mapping": [f"{each.value} = {each.role.value}" for each in self.mapping],
            "factor_acr": [*self.factor_acr],
            "factor_amr": [*self.factor_amr],
            "break_glass": [*self.break_glass],
        }


class NewIdentityProvider(Struct, frozen=True, kw_only=True):
    """What the identity provider of a company is to be: all of it."""

    short_name: ShortName
    domains: Domains
    issuer: IssuerUrl
    client_id: ClientId
    client_secret: Annotated[
        Text,
        meaning(
            "Of that client; stored encrypted. Empty keeps the present one, while issuer and client"
            " stay the same.",
            "a-secret-of-the-client",
        ),
    ] = ""
    scopes: Scopes = ()
    claim: Claim
    mapping: Mapping
    factor_acr: FactorAcr = ()
    factor_amr: FactorAmr = ()
    break_glass: BreakGlass = ()


class SignOnOrder(Struct, frozen=True, kw_only=True, tag="single_sign_on"):
    """
    The order of a company's identity provider; stored as JSON, sealed with its secret.

    Attributes:
        before: What it replaces; None for the first one.
    """

    company_id: str
    wanted: NewIdentityProvider
    before: IdentityProvider | None


class SignOnRemoval(Struct, frozen=True, kw_only=True, tag="single_sign_on_removal"):
    """The order to remove a company's identity provider, as it was then."""

    company_id: str
    before: IdentityProvider


SignOnOrders = SignOnOrder | SignOnRemoval


def made(
    company_id: str, wanted: NewIdentityProvider, changed_at: datetime, changed_by: str
) -> IdentityProvider:
    """Return the provider that an order wants."""
    values = asdict(wanted)
    del values["client_secret"]
    return IdentityProvider(
        **values, company_id=company_id, changed_at=changed_at, changed_by=changed_by
    )
