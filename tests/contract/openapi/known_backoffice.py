"""What no schema can tell of operators' calls."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import select, update

from gateway.closings.model import Closing
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.rights import Role
from gateway.statements.model import local_day
from gateway.store.kernel.structs import row_of
from gateway.store.tables.backoffice import batches
from gateway.store.tables.core import attempts, day_closings, deliveries
from tests.contract.openapi.known import (
    KEYS,
    TAX_NUMBER,
    Body,
    Knowing,
    Known,
    cents,
    new,
    paged,
    payee,
    payout,
    today,
)
from tests.contract.openapi.known_traces import refused_call
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.operations import generated, own_key, paid
from tests.world.backoffice.watching import held, in_review
from tests.world.gateway import routes
from tests.world.signing import Signer
from tests.world.waiting import until

OFFICE = "/backoffice/v1"
CNPJ = "11.222.333/0001-81"


def main_company(backoffice_client: BackofficeClient) -> str:
    return backoffice_client.world.demo["companies"]["main"]["id"]


async def made(
    backoffice_client: BackofficeClient, path: str, body: Body, by: str = "admin"
) -> Any:
    """Make something; return its document."""
    said = await backoffice_client.ask("POST", f"{OFFICE}{path}", body, by=by)
    assert said.status < 300, said.body
    return said.document


# --- registers ------------------------------------------------------------------------------------


async def _of_company(backoffice_client: BackofficeClient) -> Known:
    return Known(query={"company_id": main_company(backoffice_client)})


async def _company(backoffice_client: BackofficeClient) -> Known:
    return Known(path={"company_id": main_company(backoffice_client)})


async def _provider(_desk: BackofficeClient) -> Known:
    return Known(path={"provider": "sandbox"})


CONTACT = {"contact": "ti@loja.example.com"}
"""A contact of a company: what is an address no schema can tell."""


async def _new_company(_desk: BackofficeClient) -> Known:
    def change(body: Body) -> Body:
        own = {"id": str(uuid.uuid4())} if "id" in body else {}
        return {**body, **own, **(CONTACT if body.get("contact") else {})}

    return Known(body=change)


async def _contact(backoffice_client: BackofficeClient) -> Known:
    one = await _company(backoffice_client)
    return replace(one, body=lambda _body: CONTACT)


def _account_body(backoffice_client: BackofficeClient) -> Callable[[Body], Body]:
    def change(body: Body) -> Body:
        named = {"id": str(uuid.uuid4())} if "id" in body else {}
        return {**body, **named, "company_id": main_company(backoffice_client), "tax_number": CNPJ}

    return change


async def new_account(backoffice_client: BackofficeClient) -> str:
    """Make an account that no other test looks at."""
    order = {"company_id": main_company(backoffice_client), "name": "Conta", "tax_number": CNPJ}
    return str((await made(backoffice_client, "/accounts", order))["id"])


async def _new_account(backoffice_client: BackofficeClient) -> Known:
    return Known(body=_account_body(backoffice_client))


async def _account_change(backoffice_client: BackofficeClient) -> Known:
    def change(body: Body) -> Body:
        return {**body, "tax_number": CNPJ} if body.get("tax_number") else body

    return Known(path={"account_id": await new_account(backoffice_client)}, body=change)


async def _account_provider(backoffice_client: BackofficeClient) -> Known:
    account = await new_account(backoffice_client)
    bank = {"provider": "sandbox", "provider_account": account}
    bank["credentials"] = "token"
    return Known(path={"account_id": account}, body=lambda body: {**body, **bank})


async def _credential(backoffice_client: BackofficeClient) -> Known:
    return Known(path={"client_id": (await backoffice_client.world.issue()).credential.client_id})


RULE = {"networks": ["203.0.113.0/24"], "certificates": [], "anywhere": False}
"""A rule of use: what is a network or a fingerprint no schema can tell."""


def _limited(body: Body) -> Body:
    """Leave out the word for no limit: no schema can tell that it does not go with limits."""
    return {name: each for name, each in body.items() if name != "unlimited"}


async def _limits(backoffice_client: BackofficeClient) -> Known:
    return replace(await _credential(backoffice_client), body=_limited)


async def _callers(backoffice_client: BackofficeClient) -> Known:
    one = await _credential(backoffice_client)
    return replace(one, body=lambda _body: RULE)


async def _new_public_key(backoffice_client: BackofficeClient) -> Known:
    one = await _credential(backoffice_client)
    return replace(one, body=lambda _body: {"public_key": Signer().pem})


async def _public_key(backoffice_client: BackofficeClient) -> Known:
    one = await _credential(backoffice_client)
    path = f"/credentials/{one.path['client_id']}/public-keys"
    waiting = await made(backoffice_client, path, {"public_key": Signer().pem}, "security")
    await made(backoffice_client, f"/approvals/{waiting['id']}/approve", {}, "approver")
    return replace(one, path={**one.path, "public_key_id": Signer().public.key_id})


async def _secret(backoffice_client: BackofficeClient) -> Known:
    order = {
        "name": "of two people",
        "company_id": main_company(backoffice_client),
        "permissions": ["withdraw:write"],
    }
    waiting = await made(backoffice_client, "/credentials", order, "security")
    await made(backoffice_client, f"/approvals/{waiting['id']}/approve", {}, "approver")
    return Known(path={"approval_id": waiting["id"]}, by="security")


async def _new_credential(backoffice_client: BackofficeClient) -> Known:
    def change(body: Body) -> Body:
        owner = {"company_id": main_company(backoffice_client), "account_id": None}
        ends = {"expires_at": "2099-01-01T00:00:00Z"} if body.get("expires_at") else {}
        rule = {"callers": RULE} if body.get("callers") else {}
        return {**_limited(body), **owner, **ends, **rule}

    return Known(body=change)


# --- endpoints ------------------------------------------------------------------------------------


def _heard(body: Body) -> Body:
    """Give an endpoint an address that is allowed, and all accounts."""
    return {**body, "url": "https://events.loja.example/pix", "account_ids": []}


async def _collected(backoffice_client: BackofficeClient, path: str, body: Body) -> Known:
    """Order a secret of an endpoint, which can then be collected."""
    waiting = await made(backoffice_client, path, body, "security")
    await made(backoffice_client, f"/approvals/{waiting['id']}/approve", {}, "approver")
    return Known(path={"approval_id": waiting["id"]}, by="security")


async def _endpoint(backoffice_client: BackofficeClient) -> Known:
    """An endpoint of a company of its own: one has ten at most."""
    company = await made(backoffice_client, "/companies", {"name": "Loja"})
    order = _heard({"company_id": company["id"]})
    ordered = await _collected(backoffice_client, "/endpoints", order)
    path = f"/approvals/{ordered.path['approval_id']}/endpoint-secret"
    secret = await made(backoffice_client, path, {}, "security")
    return Known(path={"endpoint_id": secret["endpoint_id"]})


async def _endpoint_secret(backoffice_client: BackofficeClient) -> Known:
    """Another secret, so that there is a former one."""
    one = await _endpoint(backoffice_client)
    return await _collected(backoffice_client, f"/endpoints/{one.path['endpoint_id']}/rotate", {})


async def _new_endpoint(backoffice_client: BackofficeClient) -> Known:
    company = main_company(backoffice_client)
    return Known(body=lambda body: {**_heard(body), "company_id": company})


async def _endpoint_change(backoffice_client: BackofficeClient) -> Known:
    return replace(await _endpoint(backoffice_client), body=_heard)


def _provider_of(name: str) -> Body:
    """Describe an identity provider: what is an address or a domain no schema can tell."""
    return {
        "short_name": name,
        "domains": [f"{name}.example.com"],
        "issuer": "https://sso.example.com",
        "client_id": "pixgate",
        "client_secret": "a-secret-of-the-client",
        "claim": "groups",
        "mapping": [{"value": "pix-viewers", "role": "viewer"}],
    }


async def _new_single_sign_on(backoffice_client: BackofficeClient) -> Known:
    """A company of its own: people of one with a provider do not sign in here."""
    company = await made(backoffice_client, "/companies", {"name": "Loja"})
    name = f"loja-{company['id'][:8]}"
    return Known(path={"company_id": company["id"]}, body=lambda _body: _provider_of(name))


async def _single_sign_on(backoffice_client: BackofficeClient) -> Known:
    one = await _new_single_sign_on(backoffice_client)
    company_id = one.path["company_id"]
    wanted = _provider_of(f"loja-{company_id[:8]}")
    path = f"{OFFICE}/companies/{company_id}/single-sign-on"
    waiting = await backoffice_client.ask("PUT", path, wanted, by="security")
    approve = f"/approvals/{waiting.document['id']}/approve"
    await made(backoffice_client, approve, {}, "approver")
    return Known(path=one.path)


async def _paused_endpoint(backoffice_client: BackofficeClient) -> Known:
    one = await _endpoint(backoffice_client)
    await made(backoffice_client, f"/endpoints/{one.path['endpoint_id']}/pause", {})
    return one


async def _delivery(backoffice_client: BackofficeClient) -> Known:
    """A ping of an endpoint that was paused since, so that nothing is sending it."""
    one = await _endpoint(backoffice_client)
    ping = await made(backoffice_client, f"/endpoints/{one.path['endpoint_id']}/ping", {})
    await made(backoffice_client, f"/endpoints/{one.path['endpoint_id']}/pause", {})
    claimed = select(deliveries.c.claimed_by).where(deliveries.c.id == ping["id"])

    async def is_free() -> bool:
        row = await backoffice_client.world.gateway.kernel.store.database.first(claimed)
        return row is not None and row.claimed_by is None

    await until(is_free)
    return Known(path={"delivery_id": ping["id"]})


async def _chat(backoffice_client: BackofficeClient) -> Known:
    """A chat of a company of its own, where nothing answers."""
    company = await made(backoffice_client, "/companies", {"name": "Loja"})
    order = _room({"name": "Financeiro", "company_id": company["id"]})
    return Known(path={"chat_id": (await made(backoffice_client, "/chats", order))["id"]})


async def _new_chat(backoffice_client: BackofficeClient) -> Known:
    company = await made(backoffice_client, "/companies", {"name": "Loja"})
    return Known(body=lambda body: {**_room(body), "company_id": company["id"]})


def _room(body: Body) -> Body:
    """Give a chat an address that is allowed, and what a chat is told of."""
    changed = {"webhook": "https://hooks.chat.example/T0", "kinds": ["order"], "language": "en"}
    return {**body, **changed}


async def _deliveries_again(backoffice_client: BackofficeClient) -> Known:
    window = {"since": "2026-11-20T00:00:00Z", "until": "2026-11-21T00:00:00Z"}
    return replace(await _endpoint(backoffice_client), body=lambda body: {**body, **window})


# --- people ---------------------------------------------------------------------------------------


async def somebody(backoffice_client: BackofficeClient) -> str:
    """Make a person; return their id."""
    who = f"{uuid.uuid4().hex}@example.com"
    await backoffice_client.plain(who, Role.VIEWER)
    return (await backoffice_client.world.gateway.services.identity.users.find(who)).id


async def _user(backoffice_client: BackofficeClient) -> Known:
    return Known(path={"user_id": await somebody(backoffice_client)})


async def _new_user(backoffice_client: BackofficeClient) -> Known:
    def change(body: Body) -> Body:
        named = {"email": f"{uuid.uuid4().hex}@example.com", "roles": ["viewer"]}
        return {**body, **named, **_companies(backoffice_client, body)}

    return Known(body=change)


async def _invited(backoffice_client: BackofficeClient) -> Known:
    order = {"email": f"{uuid.uuid4().hex}@example.com", "name": "Nova", "roles": ["viewer"]}
    return Known(path={"user_id": (await made(backoffice_client, "/users", order))["id"]})


def _companies(backoffice_client: BackofficeClient, body: Body) -> Body:
    return {"companies": [main_company(backoffice_client)]} if body.get("companies") else {}


async def _user_companies(backoffice_client: BackofficeClient) -> Known:
    user = await somebody(backoffice_client)
    return Known(
        path={"user_id": user}, body=lambda body: {**body, **_companies(backoffice_client, body)}
    )


async def _user_roles(backoffice_client: BackofficeClient) -> Known:
    user = await somebody(backoffice_client)
    # Nobody gives a right that they lack; rights over money are given by two.
    given = {"viewer", "operator", "approver"}

    def change(body: Body) -> Body:
        return {**body, "roles": sorted(given & {*body["roles"]}) or ["viewer"]}

    return Known(path={"user_id": user}, body=change)


async def _disabled(backoffice_client: BackofficeClient) -> Known:
    user = await somebody(backoffice_client)
    await made(backoffice_client, f"/users/{user}/disable", {"reason": "left"})
    return Known(path={"user_id": user})


async def _sign_in(backoffice_client: BackofficeClient) -> Known:
    user = await somebody(backoffice_client)
    said = await backoffice_client.ask("GET", f"{OFFICE}/users/{user}/sessions", by="security")
    return Known(path={"user_id": user, "session_id": said.document["data"][0]["id"]})


# --- watching and deciding ------------------------------------------------------------------------


async def _stop(backoffice_client: BackofficeClient) -> Known:
    account = backoffice_client.world.demo["accounts"]["read_only"]["id"]
    order = {"scope": "account", "subject": account, "reason": "a test", "minutes": 5}
    return Known(
        path={"stop_id": (await made(backoffice_client, "/stops", order, "operator"))["id"]}
    )


async def _outflow(backoffice_client: BackofficeClient) -> Known:
    company = main_company(backoffice_client)
    return Known(path={"scope": "company", "subject": company})


def _rows(reference: str) -> str:
    """A file of one payout, in Base64."""
    head = "referencia;valor;cpf_cnpj;tipo_chave;chave"
    row = f"{reference};1,00;529.982.247-25;email;maria@example.com"
    return base64.b64encode(f"{head}\n{row}".encode()).decode()


async def _new_batch(_desk: BackofficeClient) -> Known:
    """A file that nobody has uploaded before."""
    content = _rows(f"file-{uuid.uuid4()}")
    return Known(body=lambda body: {**body, "name": "folha.csv", "content": content})


async def _batch(backoffice_client: BackofficeClient) -> Known:
    account = backoffice_client.world.demo["accounts"]["main"]["id"]
    body = {"name": "folha.csv", "content": _rows(f"file-{uuid.uuid4()}")}
    made_of = await made(backoffice_client, f"/accounts/{account}/batches", body, "operator")
    return Known(path={"batch_id": made_of["batch"]["id"]})


async def _held_batch(backoffice_client: BackofficeClient) -> Known:
    """A file that is held, as a stop of its account would hold it."""
    known = await _batch(backoffice_client)
    kernel = backoffice_client.world.gateway.kernel
    held = {"state": "held", "held_for": "stopped", "day": kernel.now().date()}
    one = update(batches).where(batches.c.id == known.path["batch_id"])
    await kernel.store.database.write(one.values(held))
    return known


async def _new_stop(backoffice_client: BackofficeClient) -> Known:
    demo = backoffice_client.world.demo
    subjects = {
        "provider": "sandbox-read-only",
        "account": demo["accounts"]["read_only"]["id"],
        "company": demo["companies"]["other"]["id"],
        "credential": demo["credentials"]["none"]["client_id"],
    }

    def known(body: dict[str, Any]) -> dict[str, Any]:
        """Name existing records; a stop of everything would stop payouts of other tests."""
        scope = "credential" if body["scope"] == "everything" else body["scope"]
        return {**body, "scope": scope, "subject": subjects[scope]}

    return Known(body=known)


async def _review(backoffice_client: BackofficeClient) -> Known:
    of: dict[str, Any] = {
        "account_id": backoffice_client.world.demo["accounts"]["main"]["id"],
        "reference": await in_review(backoffice_client.world),
    }
    # The bank shows what moved: nothing else can be said of it.
    of |= {"verdict": "paid", "value": 777.11}
    return Known(body=lambda made: {**made, **of})


async def _own_opinion(backoffice_client: BackofficeClient) -> Known:
    of = {
        "account_id": backoffice_client.world.demo["accounts"]["main"]["id"],
        "reference": await in_review(backoffice_client.world),
    }
    said = {**of, "verdict": "paid", "value": 777.11, "reason": "extrato"}
    await made(backoffice_client, "/reviews", said, by="approver")
    return Known(body=lambda made: {**made, **of}, by="approver")


async def _approval(backoffice_client: BackofficeClient) -> Known:
    order = {
        "reference": f"office-{uuid.uuid4()}",
        "value": 10.5,
        "date": backoffice_client.world.today(),
        "destination": payee({"key_type": "email"}),
    }
    said = await backoffice_client.post("/withdraw/pix", order)
    assert said.status == 202, said.body
    return Known(path={"approval_id": said.document["id"]}, by="approver")


async def _own_approval(backoffice_client: BackofficeClient) -> Known:
    return replace(await _approval(backoffice_client), by="operator")


# --- an account's banking -------------------------------------------------------------------------


async def _window(backoffice_client: BackofficeClient) -> Known:
    return Known(query=today(backoffice_client))


async def _search(backoffice_client: BackofficeClient) -> Known:
    return Known(body=lambda body: paged({**body, **today(backoffice_client)}))


async def _unsettled(backoffice_client: BackofficeClient) -> Known:
    """A payout awaiting review, whose bank was not queried for a while."""
    world = backoffice_client.world
    reference = await in_review(world)
    async with world.gateway.kernel.store.database.writing() as connection:
        await connection.execute(update(attempts).values(last_probe_at=None))
    return Known(path={"reference": reference})


async def _held(backoffice_client: BackofficeClient) -> Known:
    return Known(path={"reference": await held(backoffice_client.world)}, by="approver")


async def _key(backoffice_client: BackofficeClient) -> Known:
    said = await backoffice_client.post("/pix/keys", {"type": "evp"})
    assert said.status == 201, said.body
    return Known(path={"key_id": said.document["id"]})


async def _new_key(_desk: BackofficeClient) -> Known:
    """A tax number that is a key is the owner's own, so one there is; others are many."""

    def change(body: Body) -> Body:
        if body["type"] == "evp":
            return {"type": "evp"}
        return {"type": "email", "key": f"{uuid.uuid4().hex}@example.com"}

    return Known(body=change)


async def _key_owner(_desk: BackofficeClient) -> Known:
    return Known(body=lambda body: {**body, "key": KEYS[body.get("type", "email")]})


async def _charge(backoffice_client: BackofficeClient) -> Known:
    return Known(path={"reference": (await generated(backoffice_client))["reference"]})


async def _new_charge(backoffice_client: BackofficeClient) -> Known:
    key = await own_key(backoffice_client)

    def change(body: Body) -> Body:
        payer = body.get("payer")
        who = {"payer": {**payer, "tax_number": TAX_NUMBER}} if payer else {}
        return {**body, **who, "key": key, "reference": new(body["reference"])}

    return Known(body=change)


async def _payment(backoffice_client: BackofficeClient) -> Known:
    charge = await paid(backoffice_client)
    return Known(
        path={"reference": charge["reference"]},
        body=lambda body: {
            **body,
            "reference": new(body["reference"]),
            "value": cents(body["value"]),
        },
    )


async def _refund(backoffice_client: BackofficeClient) -> Known:
    charge, reference = await paid(backoffice_client), uuid.uuid4().hex
    path = f"/pix/transactions/{charge['reference']}/refunds"
    waiting = await backoffice_client.post(path, {"reference": reference, "value": 1.25})
    await made(backoffice_client, f"/approvals/{waiting.document['id']}/approve", {}, "approver")
    return Known(path={"reference": reference})


async def _payout(backoffice_client: BackofficeClient) -> Known:
    await routes.prepared(backoffice_client.world)
    return Known(path={"reference": routes.PAID})


def _new_payout(backoffice_client: BackofficeClient) -> Awaitable[Known]:
    async def known() -> Known:
        return Known(body=payout(backoffice_client))

    return known()


async def _sandbox_charge(backoffice_client: BackofficeClient) -> Known:
    """A charge of the account that is named; a value is for charges of an open amount alone."""
    account = backoffice_client.world.demo["accounts"]["main"]["id"]
    reference = (await generated(backoffice_client))["reference"]
    return Known(body=lambda _body: {"account_id": account, "reference": reference})


async def _sandbox_account(backoffice_client: BackofficeClient) -> Known:
    account = backoffice_client.world.demo["accounts"]["main"]["id"]
    return Known(body=lambda _body: {"account_id": account, "value": 10.5})


async def _quiet_fault(_desk: BackofficeClient) -> Known:
    """A fault that other tests do not meet, once."""
    return Known(body=lambda body: {**body, "operation": "access", "fault": "status", "count": 1})


async def _same_clock(_desk: BackofficeClient) -> Known:
    """The clock stays where it is: the bank is everybody's."""
    return Known(body=lambda _body: {"offset_s": 0})


async def _package(backoffice_client: BackofficeClient) -> Known:
    """A locked day."""
    world = backoffice_client.world
    account_id = world.demo["accounts"]["main"]["id"]
    now, database = world.gateway.kernel.now(), world.gateway.kernel.store.database
    day = local_day(now) - timedelta(days=1)
    account = await world.gateway.kernel.store.accounts.find(account_id)
    assert account
    who = Staff(AuditContext("test", world.gateway.kernel.now))
    (shown,) = await world.gateway.services.closings.days(who, account, [day])
    figures = dict.fromkeys(("opening", "credits", "debits", "fees", "returns", "closing"), 0)
    signed = Closing(
        **figures,
        account_id=account_id,
        day=day,
        paid=0,
        differences=0,
        digest="0" * 64,
        movements=shown.movements,
        signed_by="user:maria",
        signed_at=now,
        locked_by="user:joao",
        locked_at=now,
    )
    async with database.writing() as connection:
        await database.add(connection, day_closings, row_of(signed))
    return Known(query={"period": day.isoformat(), "account_id": account_id})


KNOWN: Mapping[str, Knowing] = {
    "backoffice.account_change": _account_change,
    "backoffice.account_create": _new_account,
    "backoffice.account_provider": _account_provider,
    "backoffice.accounts": _of_company,
    "backoffice.approval": _approval,
    "backoffice.approval_approve": _approval,
    "backoffice.approval_facts": _approval,
    "backoffice.approval_reject": _approval,
    "backoffice.approval_endpoint_secret": _endpoint_secret,
    "backoffice.approval_secret": _secret,
    "backoffice.approval_withdraw": _own_approval,
    "backoffice.batch": _batch,
    "backoffice.batch_order": _batch,
    "backoffice.batch_problems": _batch,
    "backoffice.batch_result": _batch,
    "backoffice.batch_resume": _held_batch,
    "backoffice.batch_rows": _batch,
    "backoffice.batch_stop": _batch,
    "backoffice.batch_upload": _new_batch,
    "backoffice.chat_add": _new_chat,
    "backoffice.chat_remove": _chat,
    "backoffice.chat_try": _chat,
    "backoffice.chats": _of_company,
    "backoffice.closing_package": _package,
    "backoffice.company": _company,
    "backoffice.company_contact": _contact,
    "backoffice.company_create": _new_company,
    "backoffice.credential": _credential,
    "backoffice.credential_addresses": _credential,
    "backoffice.credential_callers": _callers,
    "backoffice.credential_key_add": _new_public_key,
    "backoffice.credential_key_remove": _public_key,
    "backoffice.credential_issue": _new_credential,
    "backoffice.credential_limit_proposal": _credential,
    "backoffice.credential_limits": _limits,
    "backoffice.credential_revoke": _credential,
    "backoffice.credential_rotate": _credential,
    "backoffice.credentials": _of_company,
    "backoffice.deliveries": _of_company,
    "backoffice.deliveries_again": _deliveries_again,
    "backoffice.delivery": _delivery,
    "backoffice.delivery_again": _delivery,
    "backoffice.endpoint": _endpoint,
    "backoffice.endpoint_add": _new_endpoint,
    "backoffice.endpoint_change": _endpoint_change,
    "backoffice.endpoint_pause": _endpoint,
    "backoffice.endpoint_ping": _endpoint,
    "backoffice.endpoint_remove": _endpoint,
    "backoffice.endpoint_resume": _paused_endpoint,
    "backoffice.endpoint_rotate": _endpoint,
    "backoffice.endpoints": _of_company,
    "backoffice.payouts": _search,
    "backoffice.payouts_export": _search,
    "backoffice.pix_key": _key,
    "backoffice.pix_key_cancel": _key,
    "backoffice.pix_key_create": _new_key,
    "backoffice.pix_key_owner": _key_owner,
    "backoffice.pix_refund": _refund,
    "backoffice.pix_refund_create": _payment,
    "backoffice.pix_refunds": _search,
    "backoffice.pix_transactions": _search,
    "backoffice.qrcode": _charge,
    "backoffice.qrcode_cancel": _charge,
    "backoffice.qrcode_generate": _new_charge,
    "backoffice.linked_statement": _window,
    "backoffice.report": _window,
    "backoffice.review_judge": _review,
    "backoffice.review_withdraw": _own_opinion,
    "backoffice.sandbox_clock": _same_clock,
    "backoffice.sandbox_fault": _quiet_fault,
    "backoffice.sandbox_pay": _sandbox_charge,
    "backoffice.sandbox_top_up": _sandbox_account,
    "backoffice.statement": _window,
    "backoffice.single_sign_on": _single_sign_on,
    "backoffice.single_sign_on_remove": _single_sign_on,
    "backoffice.single_sign_on_set": _new_single_sign_on,
    "backoffice.stop_lift": _stop,
    "backoffice.outflow_subject": _outflow,
    "backoffice.stop_create": _new_stop,
    "backoffice.trace": refused_call,
    "backoffice.trace_explanation": refused_call,
    "backoffice.user": _user,
    "backoffice.user_companies": _user_companies,
    "backoffice.user_disable": _user,
    "backoffice.user_enable": _disabled,
    "backoffice.user_invite": _new_user,
    "backoffice.user_invite_again": _invited,
    "backoffice.user_rename": _user,
    "backoffice.user_reset_mfa": _user,
    "backoffice.user_roles": _user_roles,
    "backoffice.user_session_end": _sign_in,
    "backoffice.user_sessions": _user,
    "backoffice.user_sessions_end": _user,
    "backoffice.provider_weather": _provider,
    "backoffice.user_unlock": _user,
    "backoffice.withdraw": _payout,
    "backoffice.withdraw_bank": _new_payout,
    "backoffice.withdraw_dossier": _payout,
    "backoffice.withdraw_cancel": _payout,
    "backoffice.withdraw_pix": _new_payout,
    "backoffice.withdraw_probe": _unsettled,
    "backoffice.withdraw_refuse": _held,
    "backoffice.withdraw_release": _held,
    "backoffice.withdraws": _search,
}
