"""
The banks behind API Pix, as data: hosts, paths, tokens, headers, and what each offers.

Sources are named in the README with their versions. What no source states is not declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.capabilities import (
    Capabilities,
    EntryField,
    Hosts,
    Lookup,
    PortCall,
    ProofKind,
    Repeat,
)
from gateway.domain.bank.charges import ChargeStatus
from gateway.domain.bank.payout_orders import PayoutMethod
from provider_adapters.apipix.secrets import ApiPixSecrets, EfiSecrets
from provider_adapters.kit.settings import AccountLimits, CallRate
from provider_adapters.kit.tokens import TokenForm

LARGEST_PAGE: Final = 1000
"""Items in a page (API Pix 2.9.0, ``paginacao.itensPorPagina``)."""


class Name(StrEnum):
    """The profiles."""

    EFI = "efi"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    One bank.

    Attributes:
        base_urls: Where the bank is, by environment; none where no source names a host.
        token_urls: Where it gives tokens, if elsewhere.
        pix: What precedes the paths of the standard.
        charges: What precedes those of charges, if something else does.
        account_headers: Headers that name the account, by the field of its secrets.
        certificate: It wants the account's certificate on every call.
        limits: What the bank allows each account.
    """

    secrets: type[ApiPixSecrets]
    base_urls: Mapping[Environment, str]
    token: TokenForm
    capabilities: Capabilities
    token_urls: Mapping[Environment, str] = field(default_factory=dict)
    pix: str = "/v2"
    charges: str = ""
    account_headers: Mapping[str, str] = field(default_factory=dict)
    certificate: bool = True
    limits: AccountLimits = field(default_factory=AccountLimits)


STANDARD_CALLS: Final = frozenset(
    {
        PortCall.GET_CHARGE,
        PortCall.GET_CHARGE_PAYMENT,
        PortCall.CREATE_CHARGE,
        PortCall.CANCEL_CHARGE,
        PortCall.FIND_RECEIVED,
        PortCall.LIST_RECEIVED,
        PortCall.CREATE_REFUND,
        PortCall.FIND_REFUND,
        PortCall.LIST_REFUNDS,
        PortCall.REGISTER_CALLBACK,
        PortCall.LIST_CALLBACKS,
        PortCall.REMOVE_CALLBACK,
    }
)
"""What the document of the Banco Central states. A probe is not among it: every path of it wants
a token, and nearly every bank a certificate before that."""

EFI: Final = Profile(
    secrets=EfiSecrets,
    base_urls={
        Environment.PRODUCTION: "https://pix.api.efipay.com.br",
        Environment.SANDBOX: "https://pix-h.api.efipay.com.br",
    },
    token=TokenForm(path="/oauth/token", body="json", proof="basic"),
    limits=AccountLimits(
        # "Limites de consumo" (2026-11-22): 500 PUT and 500 POST a second for a client.
        rates={"create_payout": CallRate(rate=500, burst=500)},
    ),
    capabilities=Capabilities(
        calls=STANDARD_CALLS
        | {
            PortCall.GET_BALANCE,
            PortCall.LIST_STATEMENT,
            PortCall.LIST_KEYS,
            PortCall.GET_KEY,
            PortCall.CREATE_PAYOUT,
            PortCall.FIND_PAYOUT,
            PortCall.CREATE_KEY,
            PortCall.CANCEL_KEY,
        },
        destinations=frozenset(PayoutMethod),
        repeat=Repeat.REFUSES,
        lookup=frozenset({Lookup.KEY}),
        absent_after=None,
        account_credentials=True,
        entry_fields=frozenset({EntryField.KIND, EntryField.E2E_ID, EntryField.OUR_KEY}),
        blocked_known=True,
        charge_states=frozenset(ChargeStatus),
        callback_proofs=frozenset({ProofKind.CERTIFICATE, ProofKind.TOKEN}),
        hosts=Hosts(
            production=frozenset({"pix.api.efipay.com.br"}),
            sandbox=frozenset({"pix-h.api.efipay.com.br"}),
        ),
        largest_page=LARGEST_PAGE,
    ),
)

PROFILES: Final[Mapping[Name, Profile]] = {Name.EFI: EFI}
