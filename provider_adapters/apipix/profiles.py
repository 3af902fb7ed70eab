"""
The banks behind API Pix, as data: hosts, paths, tokens, headers, and each bank's features.

Sources are named in the README with their versions. Features without a source are not declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from gateway.banks.port.capabilities import (
    Capabilities,
    EntryField,
    Hosts,
    Lookup,
    PortCall,
    ProofKind,
    Repeat,
)
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.account import Environment
from provider_adapters.apipix.secrets import (
    ApiPixSecrets,
    BbSecrets,
    EfiSecrets,
    InterSecrets,
    SicoobSecrets,
    SicrediSecrets,
)
from provider_adapters.kit.settings import AccountLimits, CallRate
from provider_adapters.kit.tokens import TokenForm

LARGEST_PAGE: Final = 1000
"""Items in a page (API Pix 2.9.0, ``paginacao.itensPorPagina``)."""


class Name(StrEnum):
    """The profiles."""

    EFI = "efi"
    INTER = "inter"
    SICOOB = "sicoob"
    BB = "bb"
    SICREDI = "sicredi"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretAddress:
    """
    Form of a callback address whose last segment is a secret.

    Attributes:
        ends: The part after that step in the address given to the bank.
        adds: The bank's addition to it when it sends.
        headers: The headers of the registration.
    """

    ends: str = ""
    adds: str = "/pix"  # API Pix 2.9.0, callback "{$request.body#/webhookUrl}/pix"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    One bank.

    Attributes:
        base_urls: The bank's address, by environment; absent where no source names a host.
        token_urls: The address for tokens, if another one.
        pix: The prefix of the standard's paths.
        charges: The prefix of the path of an immediate charge, if another one.
        account_headers: Headers that name the account, each with the field of its secrets.
        account_query: Fields of every query, each with the field of its secrets.
        limits: The bank's limits for each account.
        secret_address: The proof of its callbacks without its certificate.
    """

    secrets: type[ApiPixSecrets]
    base_urls: Mapping[Environment, str]
    token: TokenForm
    capabilities: Capabilities
    token_urls: Mapping[Environment, str] = field(default_factory=dict)
    pix: str = "/v2"
    charges: str = ""
    account_headers: Mapping[str, str] = field(default_factory=dict)
    account_query: Mapping[str, str] = field(default_factory=dict)
    limits: AccountLimits = field(default_factory=AccountLimits)
    secret_address: SecretAddress = field(default_factory=SecretAddress)

    def __post_init__(self) -> None:
        """Declare the hosts of its addresses: there are no others."""
        hosts = _hosts(self.base_urls, self.token_urls)
        object.__setattr__(self, "capabilities", replace(self.capabilities, hosts=hosts))


def _hosts(*urls: Mapping[Environment, str]) -> Hosts:
    def of(environment: Environment) -> frozenset[str]:
        known = (each[environment] for each in urls if environment in each)
        return frozenset(url.removeprefix("https://") for url in known)

    return Hosts(production=of(Environment.PRODUCTION), sandbox=of(Environment.SANDBOX))


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

_STANDARD: Final = Capabilities(
    calls=STANDARD_CALLS,
    account_credentials=True,
    charge_states=frozenset(ChargeStatus),
    callback_proofs=frozenset({ProofKind.CERTIFICATE, ProofKind.TOKEN}),
    largest_page=LARGEST_PAGE,
)
"""What the document of the Banco Central states, and nothing else: no payouts."""

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
    # "Webhooks" (2026-11-22): adds nothing to an address that ends so, and with this header
    # registers one that does not ask for its certificate.
    secret_address=SecretAddress(
        ends="?ignorar=", adds="", headers={"x-skip-mtls-checking": "true"}
    ),
    capabilities=replace(
        _STANDARD,
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
        entry_fields=frozenset({EntryField.KIND, EntryField.E2E_ID, EntryField.OUR_KEY}),
        blocked_known=True,
    ),
)

_SCOPE: Final = "cob.read cob.write cobv.read pix.read pix.write webhook.read webhook.write"

INTER: Final = Profile(
    secrets=InterSecrets,
    base_urls={
        Environment.PRODUCTION: "https://cdpj.partners.bancointer.com.br",
        Environment.SANDBOX: "https://cdpj-sandbox.partners.uatinter.co",
    },
    token=TokenForm(
        path="/oauth/v2/token",
        proof="body",
        more={"scope": f"{_SCOPE} extrato.read pagamento-pix.read pagamento-pix.write"},
    ),
    pix="/pix/v2",
    account_headers={"x-conta-corrente": "account"},
    capabilities=replace(
        _STANDARD,
        calls=STANDARD_CALLS
        | {
            PortCall.GET_BALANCE,
            PortCall.LIST_STATEMENT,
            PortCall.CREATE_PAYOUT,
            PortCall.FIND_PAYOUT,
        },
        destinations=frozenset(PayoutMethod),
        # Others say that a known key is answered as before; no document of the bank's says it.
        repeat=Repeat.IGNORES,
        lookup=frozenset({Lookup.BANK_ID}),
        entry_fields=frozenset({EntryField.KIND, EntryField.E2E_ID, EntryField.PARTY}),
        blocked_known=True,
    ),
)

SICOOB: Final = Profile(
    secrets=SicoobSecrets,
    # Its sandbox is under another path, and no source says how it gives tokens.
    base_urls={Environment.PRODUCTION: "https://api.sicoob.com.br"},
    token_urls={Environment.PRODUCTION: "https://auth.sicoob.com.br"},
    token=TokenForm(
        path="/auth/realms/cooperado/protocol/openid-connect/token",
        proof="body",
        more={"scope": _SCOPE},
    ),
    pix="/pix/api/v2",
    account_headers={"client_id": "client_id"},
    capabilities=_STANDARD,
)

BB: Final = Profile(
    secrets=BbSecrets,
    base_urls={
        Environment.PRODUCTION: "https://api-pix.bb.com.br",
        Environment.SANDBOX: "https://api-pix.hm.bb.com.br",
    },
    token_urls={
        Environment.PRODUCTION: "https://oauth.bb.com.br",
        Environment.SANDBOX: "https://oauth.hm.bb.com.br",
    },
    token=TokenForm(path="/oauth/token", more={"scope": _SCOPE}),
    pix="/pix/v2",
    account_query={"gw-dev-app-key": "app_key"},
    capabilities=_STANDARD,
)

SICREDI: Final = Profile(
    secrets=SicrediSecrets,
    base_urls={
        Environment.PRODUCTION: "https://api-pix.sicredi.com.br",
        Environment.SANDBOX: "https://api-pix-h.sicredi.com.br",
    },
    token=TokenForm(path="/oauth/token", more={"scope": _SCOPE}),
    pix="/api/v2",
    charges="/api/v3",
    capabilities=_STANDARD,
)

PROFILES: Final[Mapping[Name, Profile]] = {
    Name.EFI: EFI,
    Name.INTER: INTER,
    Name.SICOOB: SICOOB,
    Name.BB: BB,
    Name.SICREDI: SICREDI,
}
