"""Another company's accounts are hidden from a limited user, as if they did not exist."""

from __future__ import annotations

import uuid

import pytest
import pytest_asyncio

from gateway.core.rights import Role
from tests.world.backoffice import matrix
from tests.world.backoffice.client import BackofficeClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

FOREIGN = "other_company"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def limited(backoffice_client: BackofficeClient) -> str:
    """A user with every right, for the main company alone."""
    return await backoffice_client.limited("main", *Role)


async def test_an_account_of_another_company_is_not_found(
    backoffice_client: BackofficeClient, limited: str
):
    """Every route answers as for an unknown account; the own account is found."""
    demo = backoffice_client.world.demo["accounts"]
    accounts = (demo[FOREIGN]["id"], str(uuid.uuid4()), demo["main"]["id"].upper())

    wrong = {}
    for place in matrix.OF_AN_ACCOUNT:
        theirs, absent, own = [
            await backoffice_client.ask(
                place.route.method,
                matrix.path(place, account_id=each),
                {} if place.route.takes.body else None,
                by=limited,
            )
            for each in accounts
        ]
        same = (theirs.status, theirs.without_trace) == (404, absent.without_trace)
        if not same or theirs.verdict != absent.verdict:
            wrong[place.route.name] = theirs.body, absent.body
        if own.code in {"SVC.ACC.001", "FORBIDDEN", "STEP_UP_REQUIRED"}:
            wrong[place.route.name] = own.body

    assert wrong == {}


async def test_only_accounts_in_scope_are_listed(backoffice_client: BackofficeClient, limited: str):
    main = backoffice_client.world.demo["companies"]["main"]["id"]
    other = backoffice_client.world.demo["companies"]["other"]["id"]
    path = "/backoffice/v1/accounts"

    listed = (await backoffice_client.ask("GET", f"{path}?limit=100", by=limited)).document
    foreign = (
        await backoffice_client.ask("GET", f"{path}?company_id={other}", by=limited)
    ).document

    assert {each["company"]["id"] for each in listed["data"]} == {main}
    assert listed["meta"]["total"] == len(listed["data"])
    assert (foreign["data"], foreign["meta"]["total"]) == ([], 0)


async def test_the_key_of_another_account_is_not_found(backoffice_client: BackofficeClient):
    """By its id under another account, with every right."""
    key_id = backoffice_client.world.demo["pix_keys"][FOREIGN][0]

    read = await backoffice_client.read(f"/pix/keys/{key_id}")
    gone = await backoffice_client.ask("DELETE", backoffice_client.at(f"/pix/keys/{key_id}"))

    assert read.verdict == gone.verdict == (404, "SVC.PIX.002")


async def test_the_charge_of_another_account_is_not_found(backoffice_client: BackofficeClient):
    reference = backoffice_client.world.demo["charges"][FOREIGN]

    read = await backoffice_client.read(f"/pix/qrcode/{reference}")
    gone = await backoffice_client.ask("DELETE", backoffice_client.at(f"/pix/qrcode/{reference}"))

    assert read.verdict == gone.verdict == (404, "SVC.PIX.005")


CHANGES = (
    *("POST /pix/keys", "POST /pix/keys/lookup", "POST /pix/qrcode", "DELETE /pix/qrcode/any"),
    *("POST /pix/transactions/any/refunds", "POST /withdraw/pix", "POST /withdraw/bank-account"),
    "DELETE /withdraw/any",
)


@pytest.mark.parametrize(
    ("account", "code"),
    [
        ("inactive", "SVC.ACC.002"),
        ("unverified", "SVC.ACC.003"),
        ("inactive_unverified", "SVC.ACC.002"),
    ],
)
async def test_an_account_that_cannot_bank_is_readable_and_not_changeable(
    backoffice_client: BackofficeClient, account: str, code: str
):
    """Contract 5.1: refused before the body is read."""
    answers = {}
    for change in CHANGES if account == "inactive" else CHANGES[:1]:
        method, _, path = change.partition(" ")
        answers[change] = await backoffice_client.ask(
            method, backoffice_client.at(path, account), data=b"no JSON"
        )
    read = await backoffice_client.read("/balance", account)

    assert {each.verdict for each in answers.values()} == {(400, code)}, answers
    assert read.status == 200


async def test_an_account_must_be_named_by_a_uuid(backoffice_client: BackofficeClient):
    answer = await backoffice_client.ask("GET", "/backoffice/v1/accounts/1/balance")

    assert answer.verdict == (400, "SVC.VAL.006")


IN_SCOPE = (
    *("companies", "accounts", "credentials", "users", "stops", "reviews", "unresolved"),
    *("approvals", "audit", "webhooks", "requests"),
)


async def test_a_list_shows_and_counts_only_rows_in_scope(
    backoffice_client: BackofficeClient, limited: str
):
    """Without ids of the other company, and the total has only visible rows."""
    other = backoffice_client.world.demo["companies"]["other"]["id"]

    wrong = {}
    for noun in IN_SCOPE:
        path = f"/backoffice/v1/{noun}?limit=100"
        mine = await backoffice_client.ask("GET", path, by=limited)
        everything = await backoffice_client.ask("GET", path, by="admin")
        shown, total = len(mine.document["data"]), mine.document["meta"]["total"]
        if (
            other.encode() in mine.body
            or total > everything.document["meta"]["total"]
            or shown != min(total, 100)
        ):
            wrong[noun] = mine.document

    assert wrong == {}


@pytest.mark.parametrize("noun", ["companies", "accounts"])
async def test_a_record_of_another_company_is_not_found(
    backoffice_client: BackofficeClient, limited: str, noun: str
):
    known = {"companies": backoffice_client.world.demo["companies"]["other"]["id"]}
    known["accounts"] = backoffice_client.world.demo["accounts"][FOREIGN]["id"]

    foreign = await backoffice_client.ask("GET", f"/backoffice/v1/{noun}/{known[noun]}", by=limited)
    absent = await backoffice_client.ask("GET", f"/backoffice/v1/{noun}/{uuid.uuid4()}", by=limited)

    assert foreign.status == absent.status == 404
    assert foreign.without_trace == absent.without_trace


@pytest.mark.parametrize("noun", ["readings", "overview?period=30d"])
async def test_figures_cover_only_rows_in_scope(
    backoffice_client: BackofficeClient, limited: str, noun: str
):
    """For figures without pages: nothing of another company's accounts is included."""
    other = backoffice_client.world.demo["companies"]["other"]["id"]
    theirs = backoffice_client.world.demo["accounts"][FOREIGN]["id"]

    mine = await backoffice_client.ask("GET", f"/backoffice/v1/{noun}", by=limited)

    assert mine.status == 200
    assert other.encode() not in mine.body
    assert theirs.encode() not in mine.body
