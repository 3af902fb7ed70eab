"""Accounts are opened, changed, and listed without their secrets."""

from __future__ import annotations


async def test_an_account_as_wanted(caller):
    wanted = {
        "id": "cc_demo",
        "token": "sbx_demo",
        "name": "Demo",
        "tax_number": "52998224725",
        "branch": "0042",
        "account": "77-7",
        "city": "Recife",
        "zip_code": "50000-000",
        "payout_kind": "dup",
    }

    status, made = await caller.control("POST", "/accounts", json=wanted)

    assert status == 201
    assert {name: made[name] for name in wanted} == wanted
    assert made["ispb"] == "99999999"
    again, said = await caller.control("POST", "/accounts", json=wanted)
    assert (again, said["error"]["code"]) == (409, "ALREADY_EXISTS")


async def test_what_is_absent_is_chosen(caller):
    body = {"name": "A", "tax_number": "52998224725", "balance": 0.01}

    _, made = await caller.control("POST", "/accounts", json=body)

    assert made["token"].startswith("sbx_")
    assert len({made["account"], caller.account["account"]}) == 2
    _, said = await caller.control("GET", f"/accounts/{made['id']}")
    secret = {"token", "credentials"}
    assert said == {name: value for name, value in made.items() if name not in secret}


async def test_accounts_are_listed_without_their_tokens(caller):
    _, said = await caller.control("GET", "/accounts")

    assert said["meta"]["total"] == 1
    assert caller.account["token"] not in str(said)


async def test_an_unknown_account_is_not_found(caller):
    status, said = await caller.control("POST", "/accounts/none/top-up", json={"value": 1})

    assert (status, said["error"]["code"]) == (404, "NOT_FOUND")
