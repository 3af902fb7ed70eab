"""
The examples of the partners' operations, against what the sandbox answers now.

`KEEP=1` records them anew. What differs from run to run, such as ids and times, is not compared.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import pytest_asyncio

from gateway.core.fields import TRACE_ID
from gateway.http.openapi.recorded import FILE
from provider_adapters.kit.brcode import checksum
from tests.contract.openapi.described import DOCUMENT
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, order

pytestmark = pytest.mark.asyncio(loop_scope="module")

CHECKSUM_LENGTH = 4
VARYING = (
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID"),
    (r"\b[ED]\d{20}[0-9A-Za-z]{11}", "END-TO-END ID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d{4}-\d\d-\d\d \d\d:\d\d", "TIME"),
    (r"\b(demo-[a-z]+|loja)-[0-9a-f]{8}", r"\1"),
    (r"\+55\d{11}", "PHONE"),
    (r"\b5\d{15}", "0"),
    (r"\b(dev|trf)_[0-9a-f]+", r"\1"),
    (r'"account": "\d+-\d"', '"account": ""'),
    (r'"hash": "\w[^"]*"', '"hash": ""'),
)
BANK_ACCOUNT = {
    "method": "bank_account",
    "destination": {
        "name": "Maria Silva",
        "tax_number": "529.982.247-25",
        "bank_number": "341",
        "branch": "0001",
        "account": "123456-7",
        "account_type": "checking",
    },
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def answered(world: World) -> Mapping[str, Any]:
    """Every example by operation, status and word; written down on demand."""
    found = Recording(world)
    await payouts(found)
    await reads(found)
    await refusals(found)
    if os.environ.get("KEEP"):
        FILE.write_text(json.dumps(found.answers, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return found.answers


class Recording:
    def __init__(self, world: World) -> None:
        self.world = world
        self.answers: dict[str, dict[str, dict[str, Any]]] = {}

    async def get(self, route: str, word: str, path: str, **how: Any) -> None:
        """Read something below account main."""
        self._keep(route, word, await self.world.ask("GET", self.world.at(path), **how))

    async def pay(self, word: str, reference: str, **changed: object) -> None:
        document = order(reference, self.world.today(), **changed)
        self._keep("banking.payout_create", word, await self.world.pay(document))

    async def cancel(self, word: str, reference: str) -> None:
        """Ask for what is always refused."""
        path = self.world.at(f"/withdraw/{reference}")
        self._keep("banking.payout_cancel", word, await self.world.ask("DELETE", path))

    def _keep(self, route: str, word: str, answer: Answer) -> None:
        shown = dict(answer.document)
        if "trace_id" in shown:
            shown["trace_id"] = TRACE_ID
        self.answers.setdefault(route, {}).setdefault(str(answer.status), {})[word] = shown


async def payouts(found: Recording) -> None:
    """Pay by key and to a bank account, repeat one, and see them settle, fail and wait."""
    await found.pay("pix", "order-1042")
    await found.world.settled("order-1042")
    await found.pay("replay", "order-1042")
    await found.pay("bank_account", "order-1043", **BANK_ACCOUNT)
    await found.world.settled("order-1043")
    await found.world.pay(order("order-1044", found.world.today(), value=777.02))
    await found.world.settled("order-1044")
    await found.world.pay(order("order-1045", found.world.today(), value=777.01))
    await found.get("banking.payout", "paid", "/withdraw/order-1042")
    await found.get("banking.payout", "paid_to_bank_account", "/withdraw/order-1043")
    await found.get("banking.payout", "failed", "/withdraw/order-1044")
    await found.get("banking.payout", "processing", "/withdraw/order-1045")
    await found.get("banking.payouts", "today", f"/withdraws{window(found)}")


async def reads(found: Recording) -> None:
    charges = found.world.demo["charges"]
    await found.get("banking.balance", "now", "/balance")
    await found.get("banking.pix_keys", "all", "/pix/keys")
    key = found.world.demo["pix_keys"]["main"][0]
    await found.get("banking.pix_key", "email", f"/pix/keys/{key}")
    for word, role in (
        ("active", "pending"),
        *(("paid", "paid"), ("canceled", "canceled")),
        *(("anonymous", "anonymous"), ("reusable", "reusable")),
    ):
        await found.get("banking.qrcode", word, f"/pix/qrcode/{charges[role]}")
    for word in ("paid", "pending", "anonymous"):
        path = f"/pix/transactions/{charges[word]}"
        await found.get("banking.pix_transaction", word, path)
    await found.get("banking.statement", "today", f"/transactions{window(found)}")


async def refusals(found: Recording) -> None:
    """Be refused, by the gateway and by the bank."""
    await found.pay("missing_field", "order-1046", value=None)
    await found.pay("other_content", "order-1042", value=11.5)
    await found.pay("refused_by_the_bank", "order-1047", value=777.03)
    await found.pay("not_allowed", "order-1048", value=777.04)
    await found.pay("not_known", "order-1049", value=777.05)
    await found.pay("not_sent", "order-1050", value=777.11)
    await found.get("banking.payout", "unknown_reference", "/withdraw/order-1051")
    expired = found.world.demo["charges"]["expired"]
    await found.get("banking.qrcode", "expired", f"/pix/qrcode/{expired}")
    await found.get("banking.pix_transaction", "unknown_reference", "/pix/transactions/order-1051")
    await found.cancel("always", "order-1042")


def window(found: Recording) -> str:
    return f"?init={found.world.today()}&ends={found.world.today()}"


def comparable(answers: Mapping[str, Any]) -> Any:
    """Leave out what differs from run to run."""
    text = json.dumps(answers, ensure_ascii=False)
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return json.loads(text)


def documented(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the examples that the document shows, in the shape of what was recorded."""
    operations = {
        each["operationId"]: each["responses"]
        for methods in DOCUMENT["paths"].values()
        for each in methods.values()
    }
    return {
        route: {
            status: {
                word: example["value"]
                for word, example in operations[route.replace(".", "_")][status]["content"][
                    "application/json"
                ]["examples"].items()
            }
            for status in statuses
        }
        for route, statuses in answers.items()
    }


async def test_sandbox_answers_match_the_document(answered: Mapping[str, Any]):
    """Except ids, times and BR Codes; record again after a change of an answer."""
    assert comparable(documented(answered)) == comparable(answered)


def texts(part: Any, name: str = "") -> list[tuple[str, Any]]:
    """Return every field of an example with its name."""
    if isinstance(part, Mapping):
        return [found for word, each in part.items() for found in texts(each, word)]
    if isinstance(part, list):
        return [found for each in part for found in texts(each, name)]
    return [(name, part)]


IMPOSSIBLE: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "failed without a reason": lambda each: (each["status"] == "failed") != ("failure" in each),
    "not settled and has a time": lambda each: (
        (each["status"] == "paid") != bool(each["settled_at"])
    ),
}


async def test_no_example_of_a_payout_is_implausible():
    """A mock server answers each payout with one of them."""
    answers = json.loads(FILE.read_text("utf-8"))
    shown = [
        each
        for route in ("banking.payout_create", "banking.payout")
        for each in answers[route]["200"].values()
    ] + answers["banking.payouts"]["200"]["today"]["data"]

    wrong = [(word, each) for each in shown for word, finds in IMPOSSIBLE.items() if finds(each)]

    assert wrong == []
    assert {each["status"] for each in answers["banking.payout_create"]["200"].values()} == {
        "processing"
    }
    assert {each["status"] for each in shown} == {"processing", "paid", "failed"}


async def test_every_example_br_code_has_a_valid_checksum():
    """Including the example of the schema, which the other documents show."""
    codes = [each for name, each in texts(DOCUMENT) if name == "hash" and isinstance(each, str)]
    schema = DOCUMENT["components"]["schemas"]["QrCode"]["properties"]["hash"]["examples"]

    assert len(codes) > len(schema)
    for each in (*codes, *schema):
        payload, given = each[:-CHECKSUM_LENGTH], each[-CHECKSUM_LENGTH:]
        assert given == checksum(payload), each
