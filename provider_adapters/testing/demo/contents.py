"""The demo's contents, by role, and the values that follow from an account's id."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple

from gateway.banks.port.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.core.account import BankCoordinates
from gateway.core.money import Money
from gateway.core.permissions import (
    EVERY_PERMISSION,
    READS_EVENTS,
    UNLIMITED,
    Action,
    CredentialLimits,
    Permission,
    Resource,
)
from gateway.core.rights import Role


class Party(NamedTuple):
    """A company or a person, as the bank's control interface names one."""

    name: str
    tax_number: str


LOJA: Final = Party("Loja Exemplo Ltda", "11222333000181")
_MERCADO: Final = Party("Mercado Central SA", "45723174000110")
_ENERGIA: Final = Party("Companhia de Energia SA", "02558157000162")
_JOAO: Final = Party("Joao Pereira", "11144477735")
_MARIA: Final = Party("Maria Silva", "52998224725")

COMPANIES: Final[Mapping[str, Party]] = {
    "main": LOJA,
    "other": Party("Padaria Vizinha Ltda", "11444777000161"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAccount:
    """
    An account; the bank has none without ``provider``.

    Attributes:
        label: Distinguishes it from the company's other accounts, behind the holder's name.
        opening: Balance at the bank when the account is opened.
    """

    company: str = "main"
    label: str = ""
    active: bool = True
    verified: bool = True
    provider: str = "sandbox"
    opening: Money | None = None


ACCOUNTS: Final[Mapping[str, DemoAccount]] = {
    "main": DemoAccount(),
    "sister": DemoAccount(label="filial", opening=Money(5_000_00)),
    "other_company": DemoAccount(company="other", opening=Money(5_000_00)),
    "inactive": DemoAccount(label="inativa", active=False, opening=Money(1_000_00)),
    "unverified": DemoAccount(label="não verificada", verified=False, opening=Money(1_000_00)),
    "inactive_unverified": DemoAccount(
        label="dormente", active=False, verified=False, opening=Money(1_000_00)
    ),
    "no_provider": DemoAccount(label="sem banco", provider=""),
    "read_only": DemoAccount(
        label="só leitura", provider="sandbox-read-only", opening=Money(2_500_00)
    ),
}

WITH_PIX_KEYS: Final = ("main", "other_company")


@dataclass(frozen=True, slots=True)
class DemoCredential:
    """A credential; without ``account``, for every account of the company."""

    permissions: frozenset[Permission]
    company: str = "main"
    account: str | None = "main"
    revoked: bool = False
    limits: CredentialLimits = UNLIMITED


_EVERYTHING: Final = frozenset(
    Permission(resource, Action.MANAGE) for resource in Resource if resource is not Resource.EVENT
)
"""Of the contract: events are an extension."""

CREDENTIALS: Final[Mapping[str, DemoCredential]] = {
    "full": DemoCredential(_EVERYTHING | {READS_EVENTS}),
    "company": DemoCredential(_EVERYTHING | {READS_EVENTS}, account=None),
    "other_company": DemoCredential(_EVERYTHING, company="other", account=None),
    "limited": DemoCredential(
        _EVERYTHING,
        limits=CredentialLimits(
            per_payout=Money(1_000_00),
            per_day=Money(5_000_00),
            per_payout_at_night=Money(200_00),
            per_night=Money(500_00),
        ),
    ),
    "revoked": DemoCredential(_EVERYTHING, revoked=True),
    "none": DemoCredential(frozenset()),
    **{str(each): DemoCredential(frozenset({each})) for each in EVERY_PERMISSION},
}

PEOPLE: Final[Mapping[str, Role]] = {
    **{role.value: role for role in Role},
    "approver2": Role.APPROVER,
    "approver3": Role.APPROVER,
}
"""Users by name; two approvers judge a payout without proof, a third one where they differ."""


@dataclass(frozen=True, slots=True)
class DemoCharge:
    """A charge; ``state`` is a word of the bank's control interface."""

    state: str
    value: Money
    account: str = "main"
    reusable: bool = False


CHARGES: Final[Mapping[str, DemoCharge]] = {
    "pending": DemoCharge("pending", Money(25_00)),
    "paid": DemoCharge("paid", Money(149_90)),
    "expired": DemoCharge("expired", Money(80_00)),
    "anonymous": DemoCharge("anonymous", Money(12_50)),
    "canceled": DemoCharge("canceled", Money(33_00)),
    "other_company": DemoCharge("pending", Money(40_00), account="other_company"),
    # Made last: with it comes the history.
    "reusable": DemoCharge("pending", Money(5_00), reusable=True),
}

PIX_IN: Final = "pix_in"


@dataclass(frozen=True, slots=True)
class DemoMovement:
    """A movement of main's statement; other kinds are words of the bank's control interface."""

    ago: timedelta
    kind: str
    value: Money
    other: Party
    description: str
    refunded: Money | None = None


# With the paid charge, the refund and the fee it comes to R$ 100,000.00.
HISTORY: Final = (
    DemoMovement(timedelta(days=9, hours=3), PIX_IN, Money(85_000_00), LOJA, "Aporte inicial"),
    DemoMovement(timedelta(days=7, hours=1), PIX_IN, Money(12_500_00), _MERCADO, "Fatura 2210"),
    DemoMovement(
        timedelta(days=6, hours=6), "ted_in", Money(2_000_00), _MERCADO, "TED Fatura 2198"
    ),
    DemoMovement(timedelta(days=5, hours=5), PIX_IN, Money(1_980_35), _JOAO, "Pedido 1007"),
    DemoMovement(
        timedelta(days=4, hours=2), "boleto_out", Money(1_200_00), _ENERGIA, "Conta de energia"
    ),
    DemoMovement(
        timedelta(days=3, hours=2), PIX_IN, Money(340_00), _MARIA, "Pedido 1019", Money(20_00)
    ),
    DemoMovement(timedelta(days=2, hours=6), "ted_out", Money(800_00), _JOAO, "TED Frete"),
    DemoMovement(timedelta(days=1, hours=4), PIX_IN, Money(59_65), _MARIA, "Pedido 1031"),
)
FEE: Final = Money(9_90)


def reference(role: str, account_id: str) -> str:
    """Name a charge, or the refund (``refund``); two demos at one bank use different names."""
    return f"demo-{role.replace('_', '-')}-{account_id[:8]}"


def token(account_id: str) -> str:
    """Derive an account's token at the bank, so that a lost store or bank is made again to fit."""
    return f"tok_{hashlib.sha256(f'demo {account_id}'.encode()).hexdigest()[:40]}"


def coordinates(account_id: str) -> BankCoordinates:
    """Derive branch and account number: seven digits and a check digit."""
    number = f"{int(account_id[:8], 16) % 10**7:07d}"
    return BankCoordinates(
        bank_number="999",
        ispb="99999999",
        branch="0001",
        account=f"{number}-{sum(map(int, number)) % 10}",
    )


def pix_keys(account_id: str) -> tuple[PixKey, ...]:
    """Derive an account's three keys; the bank's id of the phone is no UUID."""
    own = uuid.UUID(account_id)
    kinds = (
        (PixKeyType.EMAIL, str(uuid.uuid5(own, "email")), f"loja-{own.hex[:8]}@example.com"),
        (PixKeyType.EVP, str(uuid.uuid5(own, "evp")), str(uuid.uuid5(own, "random key"))),
        (PixKeyType.PHONE, f"CH{own.int % 10**10:010d}", f"+55119{own.int % 10**8:08d}"),
    )
    return tuple(
        PixKey(provider_id=there, key=key, type=kind, status=PixKeyStatus.ACTIVE, created_at=None)
        for kind, there, key in kinds
    )
