"""Which check answers first when several would refuse."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field

import pytest

from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from tests.world.gateway import routes
from tests.world.gateway.answers import Answer
from tests.world.gateway.sayings import means
from tests.world.gateway.world import NOBODY, World, order

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("prepared")]

ABSENT = "00000000-0000-4000-8000-000000000000"
YESTERDAY = "2020-01-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """
    A call with two mistakes, and the one that is answered.

    Attributes:
        path: Below the account; with a leading ``=`` the whole path.
    """

    first: ErrorCode
    by: str = "full"
    method: str = "GET"
    path: str = "/balance"
    account: str = "main"
    headers: dict[str, str] = field(default_factory=dict)
    data: bytes | None = None

    async def ask(self, world: World) -> Answer:
        path = self.path.removeprefix("=")
        where = path if self.path.startswith("=") else world.at(path, self.account)
        return await world.ask(self.method, where, by=self.by, headers=self.headers, data=self.data)


def shown(text: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


BALANCE_OF = "=/baas/v1/account/{}/balance"
TOO_LARGE = b"x" * (64 * 1024 + 1)

PAIRS: dict[str, Pair] = {
    "no route before no credential": Pair(first=errors.ROUTE_UNKNOWN, by=NOBODY, path="/elsewhere"),
    "no route whatever the credential": Pair(first=errors.ROUTE_UNKNOWN, path="/elsewhere"),
    "no route before an unknown account": Pair(
        first=errors.ROUTE_UNKNOWN, path=f"=/baas/v1/account/{ABSENT}/elsewhere"
    ),
    "method before no credential": Pair(first=errors.METHOD_NOT_ALLOWED, by=NOBODY, method="PUT"),
    "method before size": Pair(
        first=errors.METHOD_NOT_ALLOWED, by=NOBODY, method="PUT", data=TOO_LARGE
    ),
    "size before no credential": Pair(
        first=errors.BODY_TOO_LARGE, by=NOBODY, method="POST", path="/withdraw", data=TOO_LARGE
    ),
    "no credential before the identifier": Pair(
        first=errors.CREDENTIALS_MISSING, by=NOBODY, path=BALANCE_OF.format("42")
    ),
    "no credential before cancelling": Pair(
        first=errors.CREDENTIALS_MISSING, by=NOBODY, method="DELETE", path="/withdraw/a"
    ),
    "the scheme word before its syntax": Pair(
        first=errors.BASIC_REQUIRED, by=NOBODY, headers={"Authorization": "Bearer"}
    ),
    "a scheme run together is malformed": Pair(
        first=errors.CREDENTIALS_MALFORMED, by=NOBODY, headers={"Authorization": "Basicabc"}
    ),
    "an empty header is not a missing one": Pair(
        first=errors.CREDENTIALS_MALFORMED, by=NOBODY, headers={"Authorization": ""}
    ),
    "nobody and no secret are well formed": Pair(
        first=errors.CREDENTIALS_INVALID, by=NOBODY, headers=shown(":")
    ),
    "no secret is well formed": Pair(
        first=errors.CREDENTIALS_INVALID, by=NOBODY, headers=shown("cli_a:")
    ),
    "revoked before no permission": Pair(
        first=errors.CREDENTIALS_INVALID, by="revoked", path=BALANCE_OF.format("42")
    ),
    "permission before the identifier": Pair(
        first=errors.PERMISSION_DENIED, by="none", path=BALANCE_OF.format("42")
    ),
    "permission before an absent account": Pair(
        first=errors.PERMISSION_DENIED, by="none", path=BALANCE_OF.format(ABSENT)
    ),
    "permission before the scope": Pair(
        first=errors.PERMISSION_DENIED, by="none", account="sister"
    ),
    "permission before an inactive account": Pair(
        first=errors.PERMISSION_DENIED, by="none", account="inactive"
    ),
    "permission before the body": Pair(
        first=errors.PERMISSION_DENIED, by="balance:read", method="POST", path="/withdraw"
    ),
    "the account's identifier before the key's": Pair(
        first=errors.IDENTIFIER_INVALID, path=f"=/baas/v1/account/{ABSENT}/pix/keys/42"
    ),
    "the key's identifier before an inactive account": Pair(
        first=errors.IDENTIFIER_INVALID, by="company", path="/pix/keys/42", account="inactive"
    ),
    "visible before scope": Pair(first=errors.ACCOUNT_NOT_FOUND, account="other_company"),
    "scope before inactive": Pair(first=errors.SCOPE_DENIED, account="inactive"),
    "inactive before unverified": Pair(
        first=errors.ACCOUNT_INACTIVE, by="company", account="inactive_unverified"
    ),
    "inactive before the query": Pair(
        first=errors.ACCOUNT_INACTIVE, by="company", path="/transactions", account="inactive"
    ),
    "inactive before the body": Pair(
        first=errors.ACCOUNT_INACTIVE,
        by="company",
        method="POST",
        path="/withdraw",
        account="inactive",
    ),
    "unverified before cancelling": Pair(
        first=errors.ACCOUNT_UNVERIFIED,
        by="company",
        method="DELETE",
        path="/withdraw/a",
        account="unverified",
    ),
    "the query before the provider": Pair(
        first=errors.FIELD_MISSING, by="company", path="/transactions", account="no_provider"
    ),
    "the body before the provider": Pair(
        first=errors.PAYLOAD_INVALID,
        by="company",
        method="POST",
        path="/withdraw",
        account="no_provider",
    ),
}


@pytest.mark.parametrize("case", list(PAIRS))
async def test_the_first_failure_answers(world: World, case: str):
    """The message tells two meanings of one code apart."""
    pair = PAIRS[case]

    answer = await pair.ask(world)

    assert answer.verdict == (pair.first.status, pair.first.code)
    assert means(answer.document["message"], pair.first)


QUERIES: dict[str, tuple[str, ErrorCode]] = {
    "nothing": ("", errors.FIELD_MISSING),
    "one missing, one wrong": ("?ends=never", errors.FIELD_MISSING),
    "empty is missing": ("?init=&ends=2026-01-01", errors.FIELD_MISSING),
    "form before range": ("?init=2026-1-01&ends=2020-01-01", errors.DATE_INVALID),
    "a day that does not exist": ("?init=2026-02-30&ends=2026-03-01", errors.DATE_INVALID),
    "repeated": ("?init=2026-01-01&init=2026-01-01&ends=2026-01-01", errors.DATE_INVALID),
    "range before page": ("?init=2026-01-02&ends=2026-01-01&page=0", errors.WINDOW_INVALID),
    "91 days": ("?init=2026-01-01&ends=2026-04-01", errors.WINDOW_INVALID),
    "page": ("?init=2026-01-01&ends=2026-01-01&page=0&limit=0", errors.NUMBER_INVALID),
    "page twice": ("?init=2026-01-01&ends=2026-01-01&page=1&page=2", errors.NUMBER_INVALID),
    "page empty": ("?init=2026-01-01&ends=2026-01-01&page=", errors.NUMBER_INVALID),
    "page of Arabic digits": (
        "?init=2026-01-01&ends=2026-01-01&page=%D9%A1",
        errors.NUMBER_INVALID,
    ),
    "limit": ("?init=2026-01-01&ends=2026-01-01&limit=-1", errors.NUMBER_INVALID),
    "no UTF-8": ("?init=%FF&ends=2026-01-01", errors.DATE_INVALID),
}


@pytest.mark.parametrize("path", ["/transactions", "/withdraws"])
async def test_a_query_is_checked_in_its_order(world: World, path: str):
    """Contract part 8: required, form, range, page, limit."""
    wrong = {}
    for case, (query, first) in QUERIES.items():
        answer = await world.ask("GET", world.at(path + query))
        is_first = answer.verdict == (first.status, first.code)
        if not is_first or not means(answer.document["message"], first):
            wrong[case] = answer.document

    assert wrong == {}


LONGEST = "?init=2026-01-01&ends=2026-03-31"


WINDOWS = [
    (LONGEST, 1, 25),
    (f"{LONGEST}&limit=100", 1, 100),
    (f"{LONGEST}&limit=101", 1, 100),
    (f"{LONGEST}&limit=999999999999999999&page=999999999999999999", 10**18 - 1, 100),
    (f"{LONGEST}&page=3&limit=1", 3, 1),
    (f"{LONGEST}&tracking=yes&page=1", 1, 25),
]


@pytest.mark.parametrize("path", ["/transactions", "/withdraws"])
async def test_a_window_and_a_page_are_taken(world: World, path: str):
    """Contract part 8: 90 days, the clamp, and what is not ours is ignored."""
    for query, page, limit in WINDOWS:
        meta = (await world.ask("GET", world.at(path + query))).document["meta"]

        assert (meta["page"], meta["limit"]) == (page, limit), query


async def test_content_is_compared_before_the_date(world: World):
    """A known reference with other content is refused as that, whatever day it says."""
    other = order(routes.PAID, YESTERDAY, value=99.0)

    answer = await world.pay(other)

    assert answer.document["message"] == errors.PAYOUT_REFERENCE_IN_USE.message


async def test_a_known_reference_is_answered_on_any_day(world: World):
    answer = await world.pay(order(routes.PAID, YESTERDAY))

    assert (answer.status, answer.document["status"]) == (200, "processing")


async def test_the_date_is_checked_before_the_provider(world: World):
    document = order("never-stored", YESTERDAY)

    answer = await world.ask(
        "POST", world.at("/withdraw", "no_provider"), by="company", document=document
    )

    assert means(answer.document["message"], errors.PAYOUT_DATE_NOT_TODAY)


@pytest.mark.parametrize(
    ("account", "verdict"),
    [("no_provider", (422, "SVC.ACC.005")), ("read_only", (403, "SVC.ACC.005"))],
)
async def test_a_payout_needs_a_provider_that_pays(
    world: World, account: str, verdict: tuple[int, str]
):
    document = order("no-provider", world.today())
    path = world.at("/withdraw", account)

    answer = await world.ask("POST", path, by="company", document=document)
    again = await world.ask("GET", f"{path}/no-provider", by="company")

    assert answer.verdict == verdict
    assert again.verdict == (404, "SVC.PIX.011")


async def test_what_is_cancelled_is_not_looked_up(world: World):
    """A stored reference and one nobody knows get the same answer, byte by byte."""
    stored = await world.ask("DELETE", world.at(f"/withdraw/{routes.PAID}"))
    unknown = await world.ask("DELETE", world.at("/withdraw/nobody-knows"))

    assert stored.verdict == (501, "SVC.PIX.018")
    assert stored.without_trace == unknown.without_trace


async def test_a_body_on_a_read_is_not_looked_at(world: World):
    answer = await world.ask("GET", world.at("/balance"), data=json.dumps({"a": 1}).encode())

    assert answer.status == 200
