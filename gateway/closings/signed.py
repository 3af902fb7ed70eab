"""Days of accounts that the operator has signed, as partners read them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

from sqlalchemy import bindparam, select

from gateway.closings.model import Closing
from gateway.core import errors
from gateway.core.account import Account
from gateway.core.errors import ServiceError
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row
from gateway.store.tables.core import day_closings

_SIGNED: Final = select(day_closings).where(
    day_closings.c.account_id == bindparam("account"), day_closings.c.day == bindparam("of_day")
)


@dataclass(frozen=True, slots=True)
class SignedClosings:
    """The closings of accounts, for partners: what people signed, and nothing computed anew."""

    database: Database

    async def read(self, account: Account, day: date) -> Closing:
        """
        Read the closing of an account's day in the time of Brasilia.

        Raises:
            ServiceError: ``SVC.GTW.012`` (404) where nobody has signed it.
            StoreUnavailable: the store did not answer.
        """
        row = await self.database.first(_SIGNED, {"account": account.id, "of_day": day})
        if row is None:
            raise ServiceError(errors.CLOSING_NOT_FOUND)
        return from_row(row, Closing)
