"""``pixgate credential``: client ids and secrets of partners."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar

import click
from msgspec.structs import asdict

from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, in_store
from gateway.cli.options import DURATION, REAIS, Option
from gateway.core.caller_rules import CallerRule
from gateway.core.permissions import Permission
from gateway.core.schemas import ReasonBody, instant
from gateway.credentials.model import (
    Credential,
    CredentialBody,
    Issued,
    LimitsBody,
    PublicKeyBody,
    RotationBody,
    words,
)

if TYPE_CHECKING:
    from gateway.credentials.public_keys import PublicKeys
    from gateway.credentials.service import Credentials

Command = TypeVar("Command", bound=Callable[..., Any])

_LONGEST_KEY: Final = 4096
"""Characters; a public key in PEM has 113."""
COLUMNS = ("client_id", "name", "state", "account_id", "permissions", "last_used_at")
PERMISSION = Option("resource:action", Permission.parse)


_NETWORKS = click.option(
    "--network",
    "networks",
    multiple=True,
    help="Where it may be used from, such as 203.0.113.0/24. May be repeated.",
)
_CERTIFICATES = click.option(
    "--certificate",
    "certificates",
    multiple=True,
    help="SHA-256 fingerprint of a client certificate to show. May be repeated.",
)
_ANYWHERE = click.option("--anywhere", is_flag=True, help="It may be used from anywhere.")
_LIMITS = (
    ("--limit-per-payout", "Most that one payout may be."),
    ("--limit-per-day", "Most that all payouts of a UTC day may be together."),
    ("--limit-per-payout-at-night", "Most that one payout may be at night."),
    ("--limit-per-night", "Most that all payouts of a night may be together."),
)


def _limits(command: Command) -> Command:
    command = click.option(
        "--unlimited", is_flag=True, help="A payout, or a day, is to have no limit."
    )(command)
    for name, meaning in reversed(_LIMITS):
        command = click.option(name, type=REAIS, help=meaning)(command)
    return command


@click.group("credential")
def credential() -> None:
    """Credentials of partners; a secret is shown once, when it is made."""


@credential.command()
@click.option("--name", required=True, help="What it is for.")
@click.option("--company", "company_id", default="", help="UUID of a company: all its accounts.")
@click.option("--account", "account_id", help="UUID of an account: this one only.")
@click.option(
    "--permission", "permissions", multiple=True, type=PERMISSION, help="May be repeated."
)
@click.option("--expires", type=click.DateTime(("%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ")), help="In UTC.")
@_limits
@_NETWORKS
@_CERTIFICATES
@_ANYWHERE
@changing
def issue(  # noqa: PLR0913 - one parameter per option
    terminal: Terminal,
    /,
    *,
    name: str,
    company_id: str,
    account_id: str | None,
    permissions: Sequence[Permission],
    expires: datetime | None,
    networks: Sequence[str],
    certificates: Sequence[str],
    anywhere: bool,
    **limits: Any,  # noqa: ANN401 - the options of limits, for LimitsBody
) -> None:
    """
    Make a credential for a company or for one account, and print its secret.

    In production one that may pay out wants --limit-per-payout and --limit-per-day, or --unlimited.
    """
    if not company_id and account_id is None:
        message = "give --company or --account"
        raise click.UsageError(message)
    wanted = CredentialBody(
        name=name,
        company_id=company_id,
        account_id=account_id,
        permissions=[str(each) for each in permissions],
        expires_at=expires and expires.replace(tzinfo=UTC),
        **limits,
        callers=CallerRule(
            networks=tuple(networks), certificates=tuple(certificates), anywhere=anywhere
        ),
    )
    _show_secret(
        terminal,
        in_store(terminal, lambda office: _credentials(office).issue(office.staff, wanted)),
    )


@credential.command()
@click.argument("client_id")
@click.option(
    "--overlap",
    type=DURATION,
    default="24h",
    show_default=True,
    help="How long the old secret still works, at most 30d; 0s ends it at once.",
)
@changing
def rotate(terminal: Terminal, client_id: str, overlap: timedelta) -> None:
    """Make a new secret and print it."""
    wanted = RotationBody(int(overlap.total_seconds()))

    def rotated(office: CommandContext) -> Awaitable[object]:
        return _credentials(office).rotate(office.staff, client_id, wanted)

    _show_secret(terminal, in_store(terminal, rotated))


@credential.command()
@click.argument("client_id")
@_NETWORKS
@_CERTIFICATES
@_ANYWHERE
@changing
def networks(
    terminal: Terminal,
    client_id: str,
    *,
    networks: Sequence[str],
    certificates: Sequence[str],
    anywhere: bool,
) -> None:
    """Set where a credential may be used, in place of the rule before."""
    wanted = CallerRule(
        networks=tuple(networks), certificates=tuple(certificates), anywhere=anywhere
    )
    _show_changed(
        terminal, lambda office: _credentials(office).set_callers(office.staff, client_id, wanted)
    )


@credential.command("add-key")
@click.argument("client_id")
@click.argument("pem", type=click.File())
@changing
def add_key(terminal: Terminal, client_id: str, pem: TextIO) -> None:
    """Register an Ed25519 public key in PEM; from then on each payout is signed."""
    wanted = PublicKeyBody(pem.read(_LONGEST_KEY))
    _show_changed(terminal, lambda office: _keys(office).add(office.staff, client_id, wanted))


@credential.command("remove-key")
@click.argument("client_id")
@click.argument("key_id")
@changing
def remove_key(terminal: Terminal, client_id: str, key_id: str) -> None:
    """Remove a public key; without the last one the secret alone pays again."""
    _show_changed(terminal, lambda office: _keys(office).remove(office.staff, client_id, key_id))


@credential.command()
@click.argument("client_id")
@_limits
@changing
def limits(terminal: Terminal, /, client_id: str, **limits: Any) -> None:  # noqa: ANN401 - for LimitsBody
    """Set a credential's payout limits, in place of the former ones."""
    if not any(each is not None and each is not False for each in limits.values()):
        message = "give a limit or --unlimited"
        raise click.UsageError(message)
    wanted = LimitsBody(**limits)
    _show_changed(
        terminal, lambda office: _credentials(office).set_limits(office.staff, client_id, wanted)
    )


@credential.command("propose-limit")
@click.argument("client_id")
@reading
def propose_limit(terminal: Terminal, client_id: str) -> None:
    """Propose a daily limit: three times the median day of the last 30 days."""

    async def proposed(office: CommandContext) -> Row:
        found = await _credentials(office).limit_proposal(office.staff, client_id)
        return {
            "client_id": client_id,
            "days": found.days,
            "median_day": str(found.median_day or ""),
            "limit_per_day": str(found.limit_per_day or ""),
        }

    terminal.show(in_store(terminal, proposed))


@credential.command()
@click.argument("client_id")
@click.option("--reason", default="", help="For the audit log.")
@changing
def revoke(terminal: Terminal, client_id: str, reason: str) -> None:
    """End a credential; every gateway refuses it within a second."""
    why = ReasonBody(reason)
    _show_changed(
        terminal, lambda office: _credentials(office).revoke(office.staff, client_id, why)
    )


@credential.command("list")
@click.option("--company", "company_id", help="UUID of a company: only its credentials.")
@reading
def listing(terminal: Terminal, company_id: str | None) -> None:
    """List credentials, including expired and revoked ones. Secrets and digests are never shown."""

    async def listed(office: CommandContext) -> list[Row]:
        found = await _credentials(office).every(office.staff, company_id)
        return [_row(each, office.acting.now()) for each in found]

    terminal.show_all(in_store(terminal, listed), COLUMNS)


def _credentials(office: CommandContext) -> Credentials:
    from gateway.credentials.service import Credentials  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(Credentials)


def _keys(office: CommandContext) -> PublicKeys:
    from gateway.credentials.public_keys import PublicKeys  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(PublicKeys)


def _show_changed(terminal: Terminal, act: Callable[[CommandContext], Awaitable[object]]) -> None:
    """Change a credential, and print it; commands never wait for a second person."""

    async def changed(office: CommandContext) -> Row:
        found = await act(office)
        if not isinstance(found, Credential):
            raise TypeError(found)
        return _row(found, office.acting.now())

    terminal.show(in_store(terminal, changed))


def _show_secret(terminal: Terminal, issued: object) -> None:
    """Print the secret, which is stored nowhere; commands never wait for a second person."""
    if not isinstance(issued, Issued):
        raise TypeError(issued)
    terminal.show(
        {
            "client_id": issued.credential.client_id,
            "client_secret": issued.client_secret,
            **fields_of(issued.credential, "name", "company_id", "account_id"),
            "permissions": words(issued.credential.permissions),
            "expires_at": instant(issued.credential.expires_at),
            "old_secret_ends_at": instant(issued.old_ends),
        }
    )
    if not terminal.as_json:
        click.echo("The secret is not shown again.", err=True)


def _row(shown: Credential, now: datetime) -> Row:
    return {
        **fields_of(shown, "client_id", "name"),
        "state": shown.state(now),
        **fields_of(shown, "company_id", "account_id"),
        "permissions": words(shown.permissions),
        "live_secrets": shown.live_secrets(now),
        **fields_of(shown, "created_at", "expires_at", "revoked_at", "last_used_at"),
        **{f"limit_{name}": str(each or "") for name, each in asdict(shown.limits).items()},
        **fields_of(shown.callers, "networks", "certificates", "anywhere"),
        "public_keys": [each.key_id for each in shown.public_keys],
    }
