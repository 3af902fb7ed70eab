"""``pixgate account``: commands for accounts and their banks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, TextIO, TypedDict, Unpack

import click
from msgspec.structs import asdict

from gateway.accounts.model import AccountChange, AccountRequest, ProviderRequest
from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, in_store
from gateway.core.account import Account
from gateway.core.schemas import instant

if TYPE_CHECKING:
    from gateway.accounts.service import Accounts

COLUMNS = ("id", "name", "active", "verified", "provider", "company_id")


class Shared(TypedDict):
    """Options that ``create`` and ``update`` share."""

    active: bool | None
    verified: bool | None
    provider: str | None
    provider_account: str | None
    provider_credentials: TextIO | None
    provider_fields: tuple[str, ...]
    bank_number: str
    ispb: str
    branch: str
    account: str


_SHARED = (
    click.option("--active/--inactive", default=None, help="Whether it may be used."),
    click.option("--verified/--unverified", default=None, help="Whether the holder is verified."),
    click.option("--provider", help="A provider of the configuration; '' for none."),
    click.option("--provider-account", help="The account's id at the provider."),
    click.option(
        "--provider-credentials",
        type=click.File(),
        help="File with the provider's credentials, '-' for standard input; stored sealed.",
    ),
    click.option(
        "--provider-credential",
        "provider_fields",
        multiple=True,
        metavar="FIELD=FILE",
        help="One of several, such as certificate=cert.pem; repeat it for the others.",
    ),
    click.option("--bank-number", default="", help="COMPE code, 3 digits."),
    click.option("--ispb", default="", help="8 digits."),
    click.option("--branch", default="", help="1 to 4 digits."),
    click.option("--account", default="", help="Account number with its check digit."),
)


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_SHARED):
        command = option(command)
    return command


@click.group("account")
def account() -> None:
    """Accounts, and the bank behind each."""


@account.command()
@click.option("--company", "company_id", required=True, help="UUID of the company that owns it.")
@click.option("--name", required=True, help="Name of the holder.")
@click.option("--tax-number", required=True, help="CPF or CNPJ of the holder.")
@click.option("--id", "account_id", default="", help="A UUID.  [default: a new one]")
@_shared
@changing
def create(
    terminal: Terminal,
    company_id: str,
    name: str,
    tax_number: str,
    account_id: str,
    **given: Unpack[Shared],
) -> None:
    """Add an account. By default it is inactive and unverified."""
    wanted = AccountRequest(
        company_id=company_id,
        name=name,
        tax_number=tax_number,
        id=account_id,
        active=bool(given["active"]),
        verified=bool(given["verified"]),
        **_coordinates(given),
    )
    bank = _provider(given)

    def created(office: CommandContext) -> Awaitable[Account]:
        return _accounts(office).create(office.staff, wanted, bank)

    terminal.show(_row(in_store(terminal, created)))


@account.command()
@click.argument("account_id")
@click.option("--name", help="Name of the holder.")
@click.option("--tax-number", help="CPF or CNPJ of the holder.")
@_shared
@changing
def update(
    terminal: Terminal,
    account_id: str,
    name: str | None,
    tax_number: str | None,
    **given: Unpack[Shared],
) -> None:
    """
    Change an account. Options not given keep their values, except a provider's.

    A provider is given with all its options.
    Without --provider-credentials the stored ones are kept, as long as --provider
    and --provider-account stay the same; otherwise they must be given again.
    """
    wanted = AccountChange(
        name=name,
        tax_number=tax_number,
        active=given["active"],
        verified=given["verified"],
        **_coordinates(given),
    )
    bank = _provider(given)

    async def changed(office: CommandContext) -> Account:
        accounts, who = _accounts(office), office.staff
        before = await accounts.find(who, account_id)
        return await accounts.change(who, before, wanted, bank=bank)

    terminal.show(_row(in_store(terminal, changed)))


@account.command("list")
@click.option("--company", "company_id", help="Only those of this one.")
@reading
def listing(terminal: Terminal, company_id: str | None) -> None:
    """List accounts, oldest first."""

    def found(office: CommandContext) -> Awaitable[Sequence[Account]]:
        return _accounts(office).every(office.staff, company_id)

    terminal.show_all([_row(each) for each in in_store(terminal, found)], COLUMNS)


def _accounts(office: CommandContext) -> Accounts:
    from gateway.accounts.service import Accounts  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(Accounts)


def _provider(given: Shared) -> ProviderRequest | None:
    """Read the options of a provider; None when none was given."""
    credentials = _credentials(given)
    if given["provider"] is None:
        if given["provider_account"] is not None or credentials is not None:
            message = "--provider-account and --provider-credentials need --provider"
            raise click.UsageError(message)
        return None
    return ProviderRequest(
        provider=given["provider"],
        provider_account=given["provider_account"] or "",
        credentials=credentials,
    )


def _credentials(given: Shared) -> str | dict[str, str] | None:
    """Read the bank credentials from one file, or from one file per field."""
    file, fields = given["provider_credentials"], given["provider_fields"]
    if file is None and not fields:
        return None
    if file is None:
        return dict(map(_field, fields))
    if fields:
        message = "--provider-credentials and --provider-credential exclude each other"
        raise click.UsageError(message)
    return _stripped(file)


def _field(text: str) -> tuple[str, str]:
    """Read one field from its file; every process would see a secret in an argument."""
    name, equals, path = text.partition("=")
    if not (name and equals):
        message = "--provider-credential is FIELD=FILE"
        raise click.UsageError(message)
    try:
        with click.open_file(path, encoding="utf-8") as file:
            return name, _stripped(file)
    except OSError as problem:
        message = f"the file of {name} cannot be read: {problem.strerror}"
        raise click.UsageError(message) from problem


def _stripped(file: IO[str]) -> str:
    try:
        return file.read().strip()
    except UnicodeDecodeError as problem:
        message = "the provider's credentials are no text in UTF-8"
        raise click.UsageError(message) from problem


def _coordinates(given: Shared) -> Mapping[str, str]:
    return {part: given[part] for part in ("bank_number", "ispb", "branch", "account")}


def _row(shown: Account) -> Row:
    ends = shown.certificate_ends_at
    return {
        **fields_of(shown, "id", "company_id", "name", "tax_number", "active", "verified"),
        **fields_of(shown, "provider", "provider_account"),
        "provider_credentials": bool(shown.sealed_credentials),
        "certificate_ends_at": ends and instant(ends),
        **asdict(shown.coordinates),
        "created_at": instant(shown.created_at),
    }
