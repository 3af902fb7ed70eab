"""
A bank that lacks a call: every route that needs it answers 422, and payouts 403.

Source: decisions on order, rule 20; the routes that show our own records go on.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from gateway.banks.checked_adapter import CheckedAdapter
from gateway.banks.port.capabilities import CONTRACT_CALLS, Capabilities, Lookup, PortCall
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core import errors
from tests.world.backoffice import matrix
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.operations import BANK_PAYEE, PAYEE, withdrawing
from tests.world.gateway import routes
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, order

pytestmark = pytest.mark.asyncio(loop_scope="module")

LACKS, READ_ONLY = (422, "SVC.ACC.005"), (403, "SVC.ACC.005")
C = PortCall
BANKING, BACK_OFFICE = "banking", "back office"


@dataclass(frozen=True)
class RouteOf:
    """
    A route that needs calls of the bank.

    Attributes:
        name: Of the route.
        needs: Without any of these it answers ``verdict``.
    """

    name: str
    method: str
    path: str
    needs: frozenset[PortCall]
    body: Callable[[World], object] | None = None
    verdict: tuple[int, str] = LACKS


def days(world: World) -> object:
    return {"init": world.today(), "ends": world.today()}


def charge(_world: World) -> object:
    return {"reference": uuid.uuid4().hex, "type": "Dynamic", "key": "loja@example.com", "value": 1}


def key(_world: World) -> object:
    return {"type": "email", "key": f"{uuid.uuid4().hex}@example.com"}


def owner(_world: World) -> object:
    return {"key": "maria@example.com"}


def refund(_world: World) -> object:
    return {"reference": uuid.uuid4().hex, "value": 1, "description": ""}


def to_a_key(world: World) -> object:
    return withdrawing(BackofficeClient(world), uuid.uuid4().hex, destination=PAYEE)


def to_an_account(world: World) -> object:
    return withdrawing(BackofficeClient(world), uuid.uuid4().hex, destination=BANK_PAYEE)


def a_payout(world: World) -> object:
    return order(uuid.uuid4().hex, world.today())


def _route(name: str, place: str, *needs: PortCall, body: object = None, **more: object) -> RouteOf:
    method, _, path = place.partition(" ")
    return RouteOf(name, method, path, frozenset(needs), body, **more)  # type: ignore[arg-type]


ROUTES = {
    BANKING: [
        _route("banking.balance", "GET /balance", C.GET_BALANCE),
        _route("banking.pix_keys", "GET /pix/keys", C.LIST_KEYS),
        _route("banking.pix_key", "GET /pix/keys/{key}", C.GET_KEY),
        _route("banking.qrcode", "GET /pix/qrcode/{paid}", C.GET_CHARGE),
        _route("banking.pix_transaction", "GET /pix/transactions/{paid}", C.GET_CHARGE_PAYMENT),
        _route("banking.statement", "GET /transactions?{days}", C.LIST_STATEMENT, C.GET_BALANCE),
        _route("banking.payout_create", "POST /withdraw", C.CREATE_PAYOUT, body=a_payout,
             verdict=READ_ONLY),
    ],
    BACK_OFFICE: [
        _route("backoffice.balance", "GET /balance", C.GET_BALANCE),
        _route("backoffice.blocks", "GET /blocks", C.LIST_BLOCKS),
        _route("backoffice.statement", "GET /transactions?{days}", C.LIST_STATEMENT, C.GET_BALANCE),
        _route("backoffice.linked_statement", "GET /statement?{days}", C.LIST_STATEMENT),
        _route("backoffice.report", "GET /report?{days}&format=json", C.LIST_STATEMENT,
             C.GET_BALANCE),
        _route("backoffice.pix_keys", "GET /pix/keys", C.LIST_KEYS),
        _route("backoffice.pix_key", "GET /pix/keys/{key}", C.GET_KEY),
        _route("backoffice.pix_key_create", "POST /pix/keys", C.CREATE_KEY, body=key),
        _route("backoffice.pix_key_cancel", "DELETE /pix/keys/{key}", C.CANCEL_KEY, C.GET_KEY),
        _route("backoffice.pix_key_owner", "POST /pix/keys/lookup", C.LOOK_UP_KEY, body=owner),
        _route("backoffice.qrcode", "GET /pix/qrcode/{paid}", C.GET_CHARGE),
        _route("backoffice.qrcode_generate", "POST /pix/qrcode", C.CREATE_CHARGE, body=charge),
        _route("backoffice.qrcode_cancel", "DELETE /pix/qrcode/{pending}", C.CANCEL_CHARGE),
        _route("backoffice.pix_transactions", "POST /pix/transactions/search", C.LIST_RECEIVED,
             body=days),
        _route("backoffice.pix_refunds", "POST /pix/refunds/search", C.LIST_REFUNDS, body=days),
        _route("backoffice.pix_refund", "GET /pix/refunds/any", C.FIND_REFUND),
        _route("backoffice.pix_refund_create", "POST /pix/transactions/{paid}/refunds",
             C.CREATE_REFUND, body=refund),
        _route("backoffice.withdraw_pix", "POST /withdraw/pix", C.CREATE_PAYOUT, body=to_a_key,
             verdict=READ_ONLY),
        _route("backoffice.withdraw_bank", "POST /withdraw/bank-account", C.CREATE_PAYOUT,
             body=to_an_account, verdict=READ_ONLY),
    ],
}  # fmt: skip
EVERY = [(surface, each) for surface, found in ROUTES.items() for each in found]
NEEDING = [(surface, each, call) for surface, each in EVERY for call in sorted(each.needs)]
OWN_RECORDS = [
    _route("banking.payouts", "GET /withdraws?{days}"),
    _route("banking.payout", "GET /withdraw/unknown", verdict=(404, "SVC.PIX.011")),
    _route("banking.payout_cancel", "DELETE /withdraw/unknown", verdict=(501, "SVC.PIX.018")),
]


@contextmanager
def declaring(world: World, capabilities: Capabilities) -> Iterator[None]:
    adapter = world.gateway.connections["sandbox"].adapter
    assert isinstance(adapter, CheckedAdapter)
    before, adapter.capabilities = adapter.capabilities, capabilities
    try:
        yield
    finally:
        adapter.capabilities = before


def declared(world: World) -> Capabilities:
    return world.gateway.connections["sandbox"].adapter.capabilities


async def ask(client: BackofficeClient, surface: str, route: RouteOf) -> Answer:
    world = client.world
    path = route.path.format(
        days="init={init}&ends={ends}".format(**days(world)),  # type: ignore[arg-type]
        key=world.demo["pix_keys"]["main"][0],
        paid=world.demo["charges"]["paid"],
        pending=world.demo["charges"]["pending"],
    )
    body = route.body(world) if route.body else None
    if surface == BACK_OFFICE:
        return await client.ask(route.method, client.at(path), body)
    return await world.ask(route.method, world.at(path), document=body)  # type: ignore[arg-type]


async def test_a_route_is_refused_when_its_bank_lacks_the_call(backoffice_client: BackofficeClient):
    can = declared(backoffice_client.world)

    wrong = {}
    for surface, route, call in NEEDING:
        with declaring(backoffice_client.world, replace(can, calls=can.calls - {call})):
            answer = await ask(backoffice_client, surface, route)
        if answer.verdict != route.verdict:
            wrong[route.name, call] = answer.verdict

    assert wrong == {}


async def test_a_bank_without_capabilities_is_not_called(backoffice_client: BackofficeClient):
    wrong = {}
    with declaring(backoffice_client.world, Capabilities()):
        for surface, route in EVERY:
            answer = await ask(backoffice_client, surface, route)
            if answer.verdict != route.verdict:
                wrong[surface, route.name] = answer.verdict

    assert wrong == {}


@pytest.mark.parametrize(
    ("method", "route"),
    [
        (PayoutMethod.PIX, ROUTES[BANKING][-1]),
        (PayoutMethod.PIX, ROUTES[BACK_OFFICE][-2]),
        (PayoutMethod.BANK_ACCOUNT, ROUTES[BACK_OFFICE][-1]),
    ],
    ids=["banking", "backoffice pix", "backoffice bank account"],
)
async def test_a_payout_to_an_unsupported_destination_is_not_sent(
    backoffice_client: BackofficeClient, method: PayoutMethod, route: RouteOf
):
    """The bank does make payouts, so the account is not read-only."""
    can = declared(backoffice_client.world)
    surface = BANKING if route in ROUTES[BANKING] else BACK_OFFICE
    with declaring(backoffice_client.world, replace(can, destinations=can.destinations - {method})):
        answer = await ask(backoffice_client, surface, route)

    assert answer.verdict == LACKS


async def test_our_own_records_are_shown_for_every_bank(
    backoffice_client: BackofficeClient,
):
    with declaring(backoffice_client.world, Capabilities()):
        answers = {
            route.name: (await ask(backoffice_client, BANKING, route)).verdict
            for route in OWN_RECORDS
        }

    assert answers == {
        route.name: (200, "") if route.verdict == LACKS else route.verdict for route in OWN_RECORDS
    }


@pytest.mark.parametrize("lacks", ["everything", "our key"])
async def test_a_payout_is_read_when_its_bank_cannot_look_it_up(
    backoffice_client: BackofficeClient, lacks: str
):
    """The known state is shown; the bank is not asked for what it cannot answer."""
    world = backoffice_client.world
    wanted = order(uuid.uuid4().hex, world.today())
    assert (await world.pay(wanted)).status == 200
    can = declared(world)
    less = {
        "everything": Capabilities(),
        "our key": replace(can, lookup=frozenset({Lookup.BANK_ID})),
    }

    with declaring(world, less[lacks]):
        read = await world.ask("GET", world.at(f"/withdraw/{wanted['reference']}"))

    assert read.status == 200


async def test_a_bank_without_payouts_still_changes_charges(backoffice_client: BackofficeClient):
    """As with plain API Pix: an account without payouts still receives money."""
    can = declared(backoffice_client.world)
    without = can.calls - {C.CREATE_PAYOUT, C.FIND_PAYOUT}
    ours = (await backoffice_client.read("/pix/keys")).document["data"][0]["key"]

    with declaring(backoffice_client.world, replace(can, calls=without, destinations=frozenset())):
        wanted = {**charge(backoffice_client.world), "key": ours}  # type: ignore[dict-item]
        answer = await backoffice_client.post("/pix/qrcode", wanted)

    assert answer.status == 201


async def test_every_route_that_calls_a_bank_is_in_the_table():
    """
    Routes that may answer that a provider lacks something, by their own declaration.

    An order that is carried out, a file of payouts and a package are tested with their nouns.
    """
    told = {
        place.route.name
        for place in (*routes.PLACES, *matrix.TABLE.places())
        if errors.PROVIDER_NOT_CONFIGURED in (*place.route.raises, *place.route.fails.values())
    }

    elsewhere = {"approval_approve", "batch_upload", "batch_order", "closing_package"}
    assert told - {each.name for _, each in EVERY} == {f"backoffice.{each}" for each in elsewhere}


async def test_every_call_of_the_contract_is_needed_by_a_route():
    """``probe`` and ``find_payout`` are called by ourselves."""
    needed = {call for _, _, call in NEEDING}

    assert frozenset(CONTRACT_CALLS) - needed == {C.PROBE, C.FIND_PAYOUT}
