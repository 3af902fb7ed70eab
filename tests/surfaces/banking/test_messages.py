"""A refusal names the field by its path and says what is wanted; nothing sent comes back."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.world.gateway.world import World, order

pytestmark = pytest.mark.asyncio(loop_scope="module")

SENT = "s3nt"
WHOM: Mapping[str, object] = {
    "name": "Maria",
    "tax_number": "52998224725",
    "key_type": "email",
    "key": "maria@example.com",
}


@pytest.mark.parametrize(
    ("changed", "code", "begins"),
    [
        ({"value": SENT}, "SVC.VAL.011", "value must be a JSON number"),
        ({"value": -1}, "SVC.VAL.009", "value must be above zero"),
        ({"date": SENT}, "SVC.VAL.007", "date must be a calendar date"),
        ({"date": "2020-01-01"}, "SVC.VAL.008", "date must be today"),
        ({"reference": f"{SENT}\n"}, "SVC.VAL.011", "reference must be a text"),
        ({"method": SENT}, "SVC.PIX.012", "method must be pix or bank_account"),
        ({"destination": {**WHOM, "tax_number": SENT}}, "SVC.VAL.011", "destination.tax_number "),
        ({"destination": {**WHOM, "key": SENT}}, "SVC.VAL.011", "destination.key must be"),
        ({"destination": {**WHOM, "key": None}}, "SVC.PIX.014", "destination.key is missing"),
        (
            {"method": "bank_account", "destination": {**WHOM, "bank_number": "341"}},
            "SVC.PIX.013",
            "destination.branch is missing",
        ),
    ],
)
async def test_a_payout_is_refused_by_the_path_of_its_field(
    world: World, changed: Mapping[str, object], code: str, begins: str
):
    document = {**order("said", world.today()), **changed}

    answer = await world.pay(document)

    assert answer.code == code
    assert answer.document["message"].startswith(begins)
    assert SENT not in answer.document["message"]
    assert list(answer.document) == ["code", "message", "trace_id"]


@pytest.mark.parametrize(
    ("path", "begins"),
    [
        ("/transactions?ends=2026-01-01", "init is missing"),
        (f"/withdraws?init=2026-01-01&ends={SENT}", "ends must be a calendar date"),
        ("/withdraws?init=2026-01-02&ends=2026-01-01", "ends must not be before init"),
        (f"/withdraws?init=2026-01-01&ends=2026-01-01&limit={SENT}", "limit must be an integer"),
        (f"/pix/keys/{SENT}", "key_id must be a UUID"),
    ],
)
async def test_a_read_is_refused_by_the_name_of_its_parameter(world: World, path: str, begins: str):
    answer = await world.ask("GET", world.at(path))

    assert answer.status == 400
    assert answer.document["message"].startswith(begins)
    assert SENT not in answer.document["message"]
