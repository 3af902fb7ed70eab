"""Accounts: the list, one account, switching it on and off, and its bank."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit, address

READ: Final = Right(Area.ACCOUNT, Action.READ)
_WRITE: Final = Right(Area.ACCOUNT, Action.WRITE)
_BANK: Final = Right(Area.PROVIDER, Action.WRITE)
_PAGE: Final = "25"
_WAITS: Final = 202
ACCOUNT: Final = "/accounts/{account_id}"


def account_path(visit: Visit) -> dict[str, str]:
    """Return the path parameter of every row of an account."""
    return {"account_id": visit.parameter("account_id")}


async def account_of(rows: RowCalls, visit: Visit) -> dict[str, Any]:
    """Read the account that the path names; raises what the row refuses with."""
    found: dict[str, Any] = (
        await rows.ask(visit, "backoffice.account", path=account_path(visit))
    ).data
    return found


def account_rights(visit: Visit) -> dict[str, bool]:
    """Say what the person may do at an account, for what is left out of a page."""
    return {
        "may_keys": visit.may(Right(Area.PIX_KEY, Action.READ)),
        "may_charges": visit.may(Right(Area.QRCODE, Action.READ)),
        "may_received": visit.may(Right(Area.TRANSACTION, Action.READ)),
        "may_payouts": visit.may(Right(Area.PAYOUT, Action.READ)),
        "may_stop": visit.may(Right(Area.STOP, Action.WRITE)),
        "may_charge": visit.may(Right(Area.QRCODE, Action.WRITE)),
    }


async def every_account(rows: RowCalls, visit: Visit) -> list[dict[str, Any]]:
    """Return the accounts to choose from, at most a hundred; none where they cannot be read."""
    said = await rows.section(visit, "backoffice.accounts", limit="100")
    return [] if said.problem else list(said.data["data"])


@dataclass(frozen=True, slots=True)
class AccountPages:
    """The pages of accounts."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show accounts with their companies and banks."""
        company = visit.query("company_id")
        page = visit.query("page")
        accounts, companies = await asyncio.gather(
            self.rows.section(
                visit, "backoffice.accounts", company_id=company, page=page, limit=_PAGE
            ),
            self.rows.section(visit, "backoffice.companies", limit="100"),
        )
        data = {"accounts": accounts, "companies": companies, "company_id": company}
        return Shown(template="accounts/list.html", data=data)

    async def account(self, visit: Visit) -> Result:
        """Show one account; its balance is read from the bank after the page."""
        account = await account_of(self.rows, visit)
        balance = await self._balance(visit) if visit.reads_bank else None
        data = {
            "account": account,
            "balance": balance,
            "may_write": visit.may(_WRITE),
            "may_bank": visit.may(_BANK),
            **account_rights(visit),
        }
        return Shown(template="accounts/account.html", part="accounts/_balance.html", data=data)

    async def _balance(self, visit: Visit) -> Section:
        return await self.rows.section(visit, "backoffice.balance", account_path(visit))

    async def switch(self, visit: Visit) -> Result:
        """Activate or verify an account, or take that back; the form says which, and to what."""
        field, to = visit.form["field"], visit.form["to"] == "yes"
        account = await self.rows.ask(visit, "backoffice.account", path=account_path(visit))
        if field not in {"active", "verified"}:
            raise ServiceError(errors.PAYLOAD_INVALID, "not_one_of", field="field")
        if visit.form["words"] != account.data["name"].strip():
            raise ServiceError(errors.PAYLOAD_INVALID, "not_the_name", field="words")
        path, body = account_path(visit), {field: to}
        await self.rows.ask(visit, "backoffice.account_change", path=path, body=body)
        return Redirect(address("/panel/accounts/{account_id}", **path))

    async def bank(self, visit: Visit) -> Result:
        """Show the bank behind an account, the form that changes it, and one that tests it."""
        return await self._bank(visit, None)

    async def test_bank(self, visit: Visit) -> Result:
        """Ask the bank whether it accepts us, and show what came of it."""
        path = account_path(visit)
        tested = await self.rows.ask(visit, "backoffice.account_provider_test", path=path)
        return await self._bank(visit, tested.data)

    async def _bank(self, visit: Visit, tested: Mapping[str, Any] | None) -> Result:
        account, providers = await asyncio.gather(
            account_of(self.rows, visit), self.rows.section(visit, "backoffice.providers")
        )
        data = {
            "account": account,
            "providers": providers,
            "tested": tested,
            "again": _had_credentials(visit),
            **account_rights(visit),
        }
        return Shown(template="accounts/bank.html", data=data)

    async def change_bank(self, visit: Visit) -> Result:
        """Move an account to another bank, or order that; its name is typed again."""
        account = await account_of(self.rows, visit)
        if visit.form["words"] != account["name"].strip():
            raise ServiceError(errors.PAYLOAD_INVALID, "not_the_name", field="words")
        body: dict[str, object] = {
            "provider": visit.form["provider"],
            "provider_account": visit.form["provider_account"],
        }
        if secret := visit.form.exactly("credentials").strip():
            body["credentials"] = secret
        elif _had_credentials(visit):
            raise ServiceError(errors.PAYLOAD_INVALID, "secret_again", field="credentials")
        path = account_path(visit)
        made = await self.rows.ask(visit, "backoffice.account_provider", path=path, body=body)
        if made.status == _WAITS:
            return Redirect(f"{HOME}/approvals/{made.data['id']}")
        return Redirect(address("/panel/accounts/{account_id}", **path))


def _had_credentials(visit: Visit) -> bool:
    """
    Say whether new credentials were typed before the form was shown again.

    The page does not hold them then, and an empty field would leave the old ones as they are.
    """
    return bool(visit.form["credentials"] or visit.form["had_credentials"])


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages of accounts."""
    made = AccountPages(rows)
    return (
        Page(
            path="/accounts",
            name="accounts",
            summary="List accounts.",
            needs=READ,
            shows=made.list,
        ),
        Page(
            path=ACCOUNT,
            name="account",
            summary="Show an account.",
            needs=READ,
            shows=made.account,
        ),
        *_forms(made),
    )


def _forms(made: AccountPages) -> Sequence[Page]:
    """Return the forms of one account."""
    return (
        Page(
            path=ACCOUNT,
            name="account_switch",
            summary="Activate or verify an account, or take that back.",
            needs=_WRITE,
            shows=made.account,
            does=made.switch,
        ),
        *_bank_forms(made),
    )


def _bank_forms(made: AccountPages) -> Sequence[Page]:
    """Return the forms of the bank behind one account."""
    return (
        Page(
            path=f"{ACCOUNT}/bank",
            name="account_bank",
            summary="Show the bank behind an account.",
            needs=_BANK,
            shows=made.bank,
        ),
        Page(
            path=f"{ACCOUNT}/bank",
            name="account_bank_change",
            summary="Move an account to another bank.",
            needs=_BANK,
            shows=made.bank,
            does=made.change_bank,
        ),
        Page(
            path=f"{ACCOUNT}/bank/test",
            name="account_bank_test",
            summary="Ask the bank behind an account whether it accepts us.",
            needs=_BANK,
            shows=made.bank,
            does=made.test_bank,
        ),
    )
