"""Back-office routes of accounts and their banks."""

from __future__ import annotations

from gateway.accounts.model import OwnedAccount, registered
from gateway.accounts.searches import ACCOUNTS
from gateway.accounts.service import AccountBanks, Accounts
from gateway.core import errors
from gateway.core.versions import version_of_account
from gateway.http.route import OK
from gateway.http.routing import REFUSED, TAKEN, Routes


def routes(accounts: Accounts, banks: AccountBanks) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/accounts", "accounts", accounts.page, takes={"wanted": ACCOUNTS})
    office.post("/accounts", "account_create", accounts.create, shows=registered, raises=TAKEN)
    office.post("/names/lookup", "names", accounts.names, status=OK)
    office.get("/bank-numbers", "bank_numbers", accounts.bank_numbers)
    one = "/accounts/{account_id}"
    office.get(one, "account", accounts.get, version=OwnedAccount.version)
    office.patch(
        one,
        "account_change",
        accounts.change,
        shows=registered,
        version=version_of_account,
        raises=(*REFUSED, errors.VERSION_CHANGED),
    )
    office.put(
        f"{one}/provider",
        "account_provider",
        banks.attach,
        shows=registered,
        version=version_of_account,
        raises=(*TAKEN, errors.VERSION_CHANGED),
    )
    office.post(f"{one}/provider/test", "account_provider_test", banks.test, status=OK)
    return office
