"""What the demo is made of: tables, to be read and not to be run."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from gateway.domain.accounts.accounts import BankCoordinates
from gateway.domain.accounts.credentials import EVERY_PERMISSION, Action, Permission, Resource
from gateway.domain.bank.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.domain.kernel.money import Money

BANK_NUMBER = "999"
BANK_ISPB = "99999999"
BRANCH = "0001"
CITY = "Sao Paulo"
ZIP_CODE = "01310-100"
_NOTHING = Money(0)


@dataclass(frozen=True, slots=True)
class DemoCompany:
    """A company; its accounts are held under its name and tax number."""

    role: str
    name: str
    tax_number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAccount:
    """
    An account.

    Attributes:
        called: What tells it from the others of its company, behind the holder's name.
        provider: Empty for none; then the bank does not know the account.
        opening: What the bank credits when it opens the account.
    """

    role: str
    company: str
    called: str = ""
    active: bool = True
    verified: bool = True
    provider: str = "sandbox"
    opening: Money = _NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoCredential:
    """
    A credential.

    Attributes:
        account: None for every account of the company.
    """

    role: str
    company: str = "main"
    account: str | None = "main"
    permissions: frozenset[Permission]
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class DemoCharge:
    """
    A charge.

    Attributes:
        state: In the words of the bank's control interface.
        reusable: A static one, paid as often as one likes.
    """

    role: str
    account: str
    state: str
    value: Money
    reusable: bool = False


@dataclass(frozen=True, slots=True)
class DemoIncome:
    """Money that came in ``ago``; ``payer`` is a name and a tax number."""

    ago: timedelta
    value: Money
    payer: tuple[str, str]
    description: str


@dataclass(frozen=True, slots=True)
class DemoMovement:
    """
    A movement that is not Pix, ``ago``.

    Attributes:
        kind: In the words of the bank's control interface; the direction is in it.
        other: A name and a tax number.
    """

    ago: timedelta
    kind: str
    value: Money
    other: tuple[str, str]
    description: str


@dataclass(frozen=True, slots=True)
class DemoRefund:
    """A refund of one of the incomes; ``income`` is its place among ``HISTORY``."""

    income: int
    value: Money
    description: str


_LOJA = ("Loja Exemplo Ltda", "11222333000181")
_MERCADO = ("Mercado Central SA", "45723174000110")
_ENERGIA = ("Companhia de Energia SA", "02558157000162")
_JOAO = ("Joao Pereira", "11144477735")
_MARIA = ("Maria Silva", "52998224725")
COMPANIES = (
    DemoCompany("main", *_LOJA),
    DemoCompany("other", "Padaria Vizinha Ltda", "11444777000161"),
)


def _account(role: str, called: str, reais: int, **other: bool | str) -> DemoAccount:
    values: dict[str, Any] = {"company": "main", **other}
    return DemoAccount(role=role, called=called, opening=Money(reais * 100), **values)


ACCOUNTS = (
    _account("main", "", 0),
    _account("sister", "filial", 5_000),
    _account("other_company", "", 5_000, company="other"),
    _account("inactive", "inativa", 1_000, active=False),
    _account("unverified", "não verificada", 1_000, verified=False),
    _account("inactive_unverified", "dormente", 1_000, active=False, verified=False),
    _account("no_provider", "sem banco", 0, provider=""),
    _account("read_only", "só leitura", 2_500, provider="sandbox-read-only"),
)

_EVERYTHING = frozenset(Permission(resource, Action.MANAGE) for resource in Resource)

CREDENTIALS = (
    DemoCredential(role="full", permissions=_EVERYTHING),
    DemoCredential(role="company", account=None, permissions=_EVERYTHING),
    DemoCredential(role="other_company", company="other", account=None, permissions=_EVERYTHING),
    DemoCredential(role="revoked", permissions=_EVERYTHING, revoked=True),
    DemoCredential(role="none", permissions=frozenset()),
    *(DemoCredential(role=str(each), permissions=frozenset({each})) for each in EVERY_PERMISSION),
)

CHARGES = (
    DemoCharge("pending", "main", "pending", Money(25_00)),
    DemoCharge("paid", "main", "paid", Money(149_90)),
    DemoCharge("expired", "main", "expired", Money(80_00)),
    DemoCharge("anonymous", "main", "anonymous", Money(12_50)),
    DemoCharge("canceled", "main", "canceled", Money(33_00)),
    DemoCharge("other_company", "other_company", "pending", Money(40_00)),
    # With it comes the history.
    DemoCharge("reusable", "main", "pending", Money(5_00), reusable=True),
)

# With the paid charge, the refund and the fee it comes to R$ 100,000.00.
HISTORY = (
    DemoIncome(timedelta(days=9, hours=3), Money(85_000_00), _LOJA, "Aporte inicial"),
    DemoIncome(timedelta(days=7, hours=1), Money(12_500_00), _MERCADO, "Fatura 2210"),
    DemoIncome(timedelta(days=5, hours=5), Money(1_980_35), _JOAO, "Pedido 1007"),
    DemoIncome(timedelta(days=3, hours=2), Money(340_00), _MARIA, "Pedido 1019"),
    DemoIncome(timedelta(days=1, hours=4), Money(59_65), _MARIA, "Pedido 1031"),
)
FEE = Money(9_90)

# They come to nothing.
MOVEMENTS = (
    DemoMovement(
        timedelta(days=6, hours=6), "ted_in", Money(2_000_00), _MERCADO, "TED Fatura 2198"
    ),
    DemoMovement(
        timedelta(days=4, hours=2), "boleto_out", Money(1_200_00), _ENERGIA, "Conta de energia"
    ),
    DemoMovement(timedelta(days=2, hours=6), "ted_out", Money(800_00), _JOAO, "TED Frete"),
)
REFUND = DemoRefund(income=3, value=Money(20_00), description="Desconto esquecido")


def reference(charge: DemoCharge, account_id: str) -> str:
    """Name a charge; the account is in it, so that a second demo on one bank is not mixed up."""
    return f"demo-{charge.role.replace('_', '-')}-{account_id[:8]}"


def refund_reference(account_id: str) -> str:
    """Name the refund."""
    return f"demo-refund-{account_id[:8]}"


def coordinates(account_id: str) -> BankCoordinates:
    """Give an account the number that its id says: seven digits and a check digit."""
    number = f"{int(account_id[:8], 16) % 10**7:07d}"
    return BankCoordinates(
        bank_number=BANK_NUMBER,
        ispb=BANK_ISPB,
        branch=BRANCH,
        account=f"{number}-{sum(map(int, number)) % 10}",
    )


def pix_keys(account_id: str) -> tuple[PixKey, ...]:
    """Give an account three keys of its own; the bank's id of the phone's is no UUID."""
    own = uuid.UUID(account_id)
    digits = f"{own.int % 10**8:08d}"
    return (
        _key(str(uuid.uuid5(own, "email")), PixKeyType.EMAIL, f"loja-{own.hex[:8]}@example.com"),
        _key(str(uuid.uuid5(own, "evp")), PixKeyType.EVP, str(uuid.uuid5(own, "random key"))),
        _key(f"CH{own.int % 10**10:010d}", PixKeyType.PHONE, f"+55119{digits}"),
    )


def _key(provider_id: str, kind: PixKeyType, key: str) -> PixKey:
    return PixKey(
        provider_id=provider_id, key=key, type=kind, status=PixKeyStatus.ACTIVE, created_at=None
    )
