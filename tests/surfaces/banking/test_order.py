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
async def test_the_first_failed_check_determines_the_answer(world: World, case: str):
    """The message distinguishes two meanings of one code."""
    pair = PAIRS[case]

    answer = await pair.ask(world)

    assert answer.verdict == (pair.first.status, pair.first.code)
    assert means(answer.document["message"], pair.first)


async def test_content_is_compared_before_the_date_is_checked(world: World):
    """A known reference with other content is refused as such, whatever its date."""
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


async def test_cancelling_answers_alike_for_known_and_unknown_references(world: World):
    """Byte for byte."""
    stored = await world.ask("DELETE", world.at(f"/withdraw/{routes.PAID}"))
    unknown = await world.ask("DELETE", world.at("/withdraw/nobody-knows"))

    assert stored.verdict == (501, "SVC.PIX.018")
    assert stored.without_trace == unknown.without_trace


async def test_a_body_on_a_read_is_ignored(world: World):
    answer = await world.ask("GET", world.at("/balance"), data=json.dumps({"a": 1}).encode())

    assert answer.status == 200
