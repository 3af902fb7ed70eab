"""Accounts in the store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, func, literal, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.account import Account, BankCoordinates, bank_account_key
from gateway.core.audit import AuditEvent
from gateway.core.company_scope import CompanyScope
from gateway.core.storage import AlreadyExists, BankAccountTaken
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import accounts
from gateway.store.tables.scope import of_company

_FIND = select(accounts).where(accounts.c.id == bindparam("account_id"))
_LIST = select(accounts).order_by(accounts.c.created_at, accounts.c.id)
AT_BANK = _LIST.where(
    accounts.c.provider == bindparam("provider"),
    accounts.c.provider_account == bindparam("provider_account"),
).limit(1)
"""What ``find_at`` asks."""
_UNMOVED = select(literal(1)).where(
    accounts.c.id == bindparam("account_id"),
    accounts.c.provider == bindparam("provider"),
    accounts.c.provider_account == bindparam("provider_account"),
)
_CERTIFICATES = (
    select(accounts.c.provider, func.min(accounts.c.certificate_ends_at).label("ends"))
    .where(accounts.c.active, accounts.c.certificate_ends_at.is_not(None))
    .group_by(accounts.c.provider)
)
_BANK_ACCOUNTS_LOCK: Final = 0x7069_7867_6261_6E6B
"""A number of our own for PostgreSQL's advisory locks; any other would do as well."""


class StoredAccounts:
    """
    Accounts in a database.

    ``same_bank`` are other names of the bank of an account's provider; names of accounts are
    compared as ``bank_account_key`` has them.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._find_all = select(accounts).where(database.one_of(accounts.c.id, "ids"))

    async def find(self, account_id: str) -> Account | None:
        """Return the account with a lower-case id."""
        row = await self.database.first(_FIND, {"account_id": account_id})
        return None if row is None else read_account(row)

    async def visible(self, account_id: str, scope: CompanyScope) -> Account | None:
        """Return the account with a lower-case id, of a company in scope."""
        wanted = select(accounts).where(accounts.c.id == account_id)
        row = await self.database.first(wanted.where(*of_company(accounts.c.company_id, scope)))
        return None if row is None else read_account(row)

    async def find_all(self, account_ids: Sequence[str]) -> Mapping[str, Account]:
        """Return the existing accounts among several ids, by id."""
        rows = await self.database.rows(self._find_all, {"ids": account_ids})
        return {row.id: read_account(row) for row in rows}

    async def find_at(self, provider: str, provider_account: str) -> Account | None:
        """Return the account with this name at the bank; the oldest if several have it."""
        named = {"provider": provider, "provider_account": provider_account}
        row = await self.database.first(AT_BANK, named)
        return None if row is None else read_account(row)

    async def some_at(self, provider: str, skip: int, most: int) -> Sequence[Account]:
        """Return some accounts of a provider by id: at most ``most`` after the first ``skip``."""
        theirs = select(accounts).where(accounts.c.provider == provider).order_by(accounts.c.id)
        found = await self.database.rows(theirs.offset(skip).limit(most))
        return [read_account(row) for row in found]

    async def add(
        self, account: Account, event: AuditEvent, same_bank: Collection[str] = ()
    ) -> None:
        """
        Store a new account.

        Raises:
            AlreadyExists: the id is taken.
            BankAccountTaken: another account has the bank's account.
        """
        async with self.database.writing() as connection:
            await _require_own_bank_account(connection, account, same_bank)
            if not await self.database.add(connection, accounts, _row(account)):
                raise AlreadyExists(account.id)
            await audit_log.append(connection, event)

    async def replace(
        self,
        account: Account,
        event: AuditEvent,
        seen: Account | None = None,
        same_bank: Collection[str] = (),
    ) -> bool:
        """Overwrite an account; False if absent or not as ``seen``; raises as ``add``."""
        known = {"id": account.id} if seen is None else _row(seen)
        change = (
            update(accounts)
            .where(*(accounts.c[name] == value for name, value in known.items()))
            .values(_row(account))
        )
        async with self.database.writing() as connection:
            await _require_own_bank_account(connection, account, same_bank)
            if (await connection.execute(change)).rowcount == 0:
                return False
            await audit_log.append(connection, event)
        return True

    async def require_own_bank(self, account: Account, same_bank: Collection[str] = ()) -> None:
        """Raise BankAccountTaken where ``replace`` would."""
        async with self.database.reading() as connection:
            await _require_own_bank_account(connection, account, same_bank)

    async def list(self, company_id: str | None = None) -> Sequence[Account]:
        """Return all accounts, or the accounts of one company, oldest first."""
        wanted = _LIST if company_id is None else _LIST.where(accounts.c.company_id == company_id)
        return [read_account(row) for row in await self.database.rows(wanted)]

    async def certificates_end(self) -> Mapping[str, datetime]:
        """Return the earliest certificate expiry among active accounts, by provider."""
        return {row.provider: row.ends for row in await self.database.rows(_CERTIFICATES)}


async def _require_own_bank_account(
    connection: AsyncConnection, account: Account, same_bank: Collection[str]
) -> None:
    """
    Refuse a bank account of another company; an account that does not move may stay.

    Names are compared here, since no database folds them as ``bank_account_key`` does.

    Transactions that move accounts are serialised: SQLite has one writer anyhow, PostgreSQL a lock.
    If two companies take a bank account at the same time, only one succeeds.
    """
    if not account.provider:
        return
    place = {"provider": account.provider, "provider_account": account.provider_account}
    unmoved = await connection.execute(_UNMOVED, place | {"account_id": account.id})
    if unmoved.first() is not None:
        return
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(_BANK_ACCOUNTS_LOCK)))
    theirs = select(accounts.c.provider_account).where(
        accounts.c.provider.in_({account.provider, *same_bank}),
        accounts.c.company_id != account.company_id,
    )
    key = bank_account_key(account.provider_account)
    for taken in (await connection.execute(theirs)).scalars():
        if bank_account_key(taken) == key:
            raise BankAccountTaken(account.id)


def _row(account: Account) -> dict[str, object]:
    where = account.coordinates
    return {
        "id": account.id,
        "company_id": account.company_id,
        "name": account.name,
        "tax_number": account.tax_number,
        "active": account.active,
        "verified": account.verified,
        "provider": account.provider,
        "provider_account": account.provider_account,
        "sealed_credentials": account.sealed_credentials,
        "certificate_ends_at": account.certificate_ends_at,
        "bank_number": where.bank_number,
        "ispb": where.ispb,
        "branch": where.branch,
        "account": where.account,
        "created_at": account.created_at,
    }


def read_account(row: Record) -> Account:
    """Build an account from the columns of ``accounts``."""
    return Account(
        id=row.id,
        company_id=row.company_id,
        name=row.name,
        tax_number=row.tax_number,
        active=row.active,
        verified=row.verified,
        provider=row.provider,
        provider_account=row.provider_account,
        sealed_credentials=row.sealed_credentials,
        certificate_ends_at=row.certificate_ends_at,
        coordinates=BankCoordinates(
            bank_number=row.bank_number, ispb=row.ispb, branch=row.branch, account=row.account
        ),
        created_at=row.created_at,
    )
