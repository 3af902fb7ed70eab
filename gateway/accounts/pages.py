"""Pages of accounts: the list, one account, a new one, switching it on and off, and its bank."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from gateway.accounts.model import AccountChange, AccountRequest, Connection, ProviderRequest
from gateway.accounts.searches import ACCOUNTS
from gateway.accounts.service import AccountBanks, Accounts
from gateway.banks.failures import bank_fails
from gateway.banks.port.statements import Balance
from gateway.banks.readings import Readings
from gateway.banks.service import BankReports
from gateway.companies.service import Companies
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.errors import ServiceError
from gateway.core.versions import ANY_VERSION
from gateway.http.panel.pages.kit import CHOICES, PageContext, Pages, go_on, part
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit, address
from policies.validation.backoffice.inputs import of_path
from policies.validation.bodies import of_form
from policies.validation.forms import Form

_BALANCE_FAILS: Final = bank_fails(errors.BALANCE_UNAVAILABLE)
_LIMIT: Final = "25"
_SWITCHES: Final = ("active", "verified")
_ONE: Final = "/{account_id}"
_COMPANY: Final = of_path("company_id")


def pages(  # noqa: PLR0913, PLR0917 - what pages call
    accounts: Accounts,
    banks: AccountBanks,
    companies: Companies,
    balance_of: Callable[[Staff, Account], Awaitable[Balance]],
    reports: BankReports,
    readings: Readings,
    context: PageContext,
) -> Sequence[Page]:
    """Return the pages; their forms call the same services as the API."""
    panel = Pages("/accounts", context)

    @panel.list(
        "", "accounts", accounts.page, takes=ACCOUNTS, asks=_asks, template="accounts/list.html"
    )
    async def listed(visit: Visit) -> Mapping[str, object]:
        """List accounts."""
        return {
            "companies": await part(companies.page(panel.staff(visit), CHOICES)),
            "company_id": visit.query("company_id"),
            "stops": await panel.stops(visit),
            "may_add": panel.may(visit, accounts.create),
        }

    @panel.view(_ONE, "account", accounts.get)
    async def shown(visit: Visit) -> Result:
        """Show an account; its balance is read from the bank after the page."""
        data, balance, last = await panel.account_data(visit), None, None
        if visit.reads_bank:
            account = await panel.account(visit)
            balance = await part(balance_of(panel.staff(visit), account), _BALANCE_FAILS)
            if balance.problem:
                last = (await part(readings.last(panel.staff(visit), account))).data
        data = {
            **data,
            "balance": balance,
            "last": last,
            "may_write": panel.may(visit, accounts.change),
            "may_bank": panel.may(visit, banks.attach),
        }
        return Shown(template="accounts/account.html", part="accounts/_balance.html", data=data)

    @panel.form(_ONE, "account_switch", accounts.change, shows=shown)
    async def switch(visit: Visit) -> Result:
        """Activate, verify, deactivate or unverify an account, as the form states."""
        account, field = await panel.account(visit), visit.form["field"]
        if field not in _SWITCHES:
            error = errors.PAYLOAD_INVALID
            raise ServiceError(error, "not_one_of", field="field", words=_SWITCHES)
        _check_name(visit, account.name)
        wanted = AccountChange()
        setattr(wanted, field, visit.form["to"] == "yes")
        await accounts.change(panel.staff(visit), account, wanted)
        return Redirect(_account(visit))

    return (
        *panel.pages,
        *_new_pages(accounts, banks, companies, reports, context),
        *_bank_pages(banks, reports, context),
    )


def _new_pages(
    accounts: Accounts,
    banks: AccountBanks,
    companies: Companies,
    reports: BankReports,
    context: PageContext,
) -> Sequence[Page]:
    """Return the form that adds an account to a company, with the bank behind it."""
    panel = Pages("/companies/{company_id}/new-account", context)

    @panel.view("", "account_new", accounts.create)
    async def new(visit: Visit) -> Result:
        """Show the form of a new account."""
        who = panel.staff(visit)
        data = {
            "company": await companies.get(who, _COMPANY.read(visit.call.asked)),
            "providers": await part(reports.providers(who)),
            "may_bank": panel.may(visit, banks.attach),
            "banks": await panel.banks(visit),
            "again": _had_credentials(visit),
        }
        return Shown(template="accounts/new.html", data=data)

    @panel.form("", "account_create", accounts.create, shows=new)
    async def create(visit: Visit) -> Result:
        """Add an account; as on the command line it is inactive by default."""
        form = visit.form
        if not form["credentials"] and _had_credentials(visit):
            raise ServiceError(errors.PAYLOAD_INVALID, "secret_again", field="credentials")
        named = {"company_id": (_COMPANY.read(visit.call.asked),)}
        known = await panel.bank(visit, form["bank_number"])
        if known is not None:
            named |= {"bank_number": (known.compe,), "ispb": (known.ispb,)}
        wanted = of_form(Form({**form.values, **named}), AccountRequest)
        bank = of_form(form, ProviderRequest) if form["provider"] else None
        made = await accounts.create(panel.staff(visit), wanted, bank)
        return Redirect(address(f"{HOME}/accounts{_ONE}", account_id=made.id))

    return panel.pages


def _bank_pages(banks: AccountBanks, reports: BankReports, context: PageContext) -> Sequence[Page]:
    panel = Pages(f"/accounts{_ONE}/bank", context)

    async def with_test(visit: Visit, tested: Connection | None) -> Result:
        data = {
            **await panel.account_data(visit),
            "providers": await part(reports.providers(panel.staff(visit))),
            "tested": tested,
            "again": _had_credentials(visit),
        }
        return Shown(template="accounts/bank.html", data=data)

    @panel.view("", "account_bank", banks.attach)
    async def shown(visit: Visit) -> Result:
        """Show the bank behind an account, the form that changes it, and one that tests it."""
        return await with_test(visit, None)

    @panel.form("", "account_bank_change", banks.attach, shows=shown)
    async def change(visit: Visit) -> Result:
        """Move an account to another bank, or order the move; its name must be typed again."""
        account, form = await panel.account(visit), visit.form
        _check_name(visit, account.name)
        if not form["credentials"] and _had_credentials(visit):
            raise ServiceError(errors.PAYLOAD_INVALID, "secret_again", field="credentials")
        wanted = of_form(form, ProviderRequest)
        made = await banks.attach(panel.staff(visit), account, wanted, ANY_VERSION)
        return go_on(made, _account(visit))

    @panel.form("/test", "account_bank_test", banks.test, shows=shown)
    async def test(visit: Visit) -> Result:
        """Test the connection to the account's bank, and show the result."""
        tested = await banks.test(panel.staff(visit), await panel.account(visit))
        return await with_test(visit, tested)

    return panel.pages


def _asks(visit: Visit) -> Mapping[str, str]:
    asked = {name: visit.query(name) for name in ("company_id", "page")}
    return {**asked, "limit": _LIMIT}


def _check_name(visit: Visit, name: str) -> None:
    """Require that the account's name was typed."""
    if visit.form["words"] != name.strip():
        raise ServiceError(errors.PAYLOAD_INVALID, "not_the_name", field="words")


def _account(visit: Visit) -> str:
    return address(f"{HOME}/accounts{_ONE}", account_id=visit.parameter("account_id"))


def _had_credentials(visit: Visit) -> bool:
    """
    Return whether credentials were typed before the form was shown again.

    The page does not contain the credentials then, and an empty field would keep the old ones.
    """
    return bool(visit.form["credentials"] or visit.form["had_credentials"])
