"""What no schema can tell of operators' calls."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from gateway.domain.identity.rights import Role
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
from tests.surfaces import rows
from tests.surfaces.backoffice.desk import Desk
from tests.surfaces.backoffice.test_operations import generated, own_key, paid
from tests.surfaces.backoffice.test_watching import in_review

OFFICE = "/backoffice/v1"
CNPJ = "11.222.333/0001-81"


def main_company(desk: Desk) -> str:
    return desk.world.demo["companies"]["main"]["id"]


async def made(desk: Desk, path: str, body: Body, by: str = "admin") -> Any:
    """Make something; return its document."""
    said = await desk.ask("POST", f"{OFFICE}{path}", body, by=by)
    assert said.status < 300, said.body
    return said.document


# --- registers ------------------------------------------------------------------------------------


async def _of_company(desk: Desk) -> Known:
    return Known(query={"company_id": main_company(desk)})


async def _company(desk: Desk) -> Known:
    return Known(path={"company_id": main_company(desk)})


async def _new_company(_desk: Desk) -> Known:
    return Known(body=lambda body: {**body, "id": str(uuid.uuid4())} if "id" in body else body)


def _account_body(desk: Desk) -> Callable[[Body], Body]:
    def change(body: Body) -> Body:
        named = {"id": str(uuid.uuid4())} if "id" in body else {}
        return {**body, **named, "company_id": main_company(desk), "tax_number": CNPJ}

    return change


async def new_account(desk: Desk) -> str:
    """Make an account that no other test looks at."""
    order = {"company_id": main_company(desk), "name": "Conta", "tax_number": CNPJ}
    return str((await made(desk, "/accounts", order))["id"])


async def _new_account(desk: Desk) -> Known:
    return Known(body=_account_body(desk))


async def _account_change(desk: Desk) -> Known:
    def change(body: Body) -> Body:
        return {**body, "tax_number": CNPJ} if body.get("tax_number") else body

    return Known(path={"account_id": await new_account(desk)}, body=change)


async def _account_provider(desk: Desk) -> Known:
    account = await new_account(desk)
    bank = {"provider": "sandbox", "provider_account": account}
    bank["credentials"] = "token"
    return Known(path={"account_id": account}, body=lambda body: {**body, **bank})


async def _credential(desk: Desk) -> Known:
    return Known(path={"client_id": (await desk.world.issue()).credential.client_id})


async def _secret(desk: Desk) -> Known:
    order = {
        "name": "of two people",
        "company_id": main_company(desk),
        "permissions": ["withdraw:write"],
    }
    waiting = await made(desk, "/credentials", order, "security")
    await made(desk, f"/approvals/{waiting['id']}/approve", {}, "approver")
    return Known(path={"approval_id": waiting["id"]}, by="security")


async def _new_credential(desk: Desk) -> Known:
    def change(body: Body) -> Body:
        owner = {"company_id": main_company(desk), "account_id": None}
        ends = {"expires_at": "2099-01-01T00:00:00Z"} if body.get("expires_at") else {}
        return {**body, **owner, **ends}

    return Known(body=change)


# --- people ---------------------------------------------------------------------------------------


async def somebody(desk: Desk) -> str:
    """Make a person; return their id."""
    who = f"{uuid.uuid4().hex}@example.com"
    await desk.plain(who, Role.VIEWER)
    return (await desk.world.gateway.people.services.users.find(who)).id


async def _user(desk: Desk) -> Known:
    return Known(path={"user_id": await somebody(desk)})


async def _new_user(desk: Desk) -> Known:
    def change(body: Body) -> Body:
        named = {"email": f"{uuid.uuid4().hex}@example.com", "roles": ["viewer"]}
        return {**body, **named, **_companies(desk, body)}

    return Known(body=change)


async def _invited(desk: Desk) -> Known:
    order = {"email": f"{uuid.uuid4().hex}@example.com", "name": "Nova", "roles": ["viewer"]}
    return Known(path={"user_id": (await made(desk, "/users", order))["id"]})


def _companies(desk: Desk, body: Body) -> Body:
    return {"companies": [main_company(desk)]} if body.get("companies") else {}


async def _user_companies(desk: Desk) -> Known:
    user = await somebody(desk)
    return Known(path={"user_id": user}, body=lambda body: {**body, **_companies(desk, body)})


async def _user_roles(desk: Desk) -> Known:
    user = await somebody(desk)
    # Nobody gives a right that they lack; rights over money are given by two.
    given = {"viewer", "operator", "approver"}

    def change(body: Body) -> Body:
        return {**body, "roles": sorted(given & {*body["roles"]}) or ["viewer"]}

    return Known(path={"user_id": user}, body=change)


async def _disabled(desk: Desk) -> Known:
    user = await somebody(desk)
    await made(desk, f"/users/{user}/disable", {"reason": "left"})
    return Known(path={"user_id": user})


async def _sign_in(desk: Desk) -> Known:
    user = await somebody(desk)
    said = await desk.ask("GET", f"{OFFICE}/users/{user}/sessions", by="security")
    return Known(path={"user_id": user, "session_id": said.document["data"][0]["id"]})


# --- watching and deciding ------------------------------------------------------------------------


async def _stop(desk: Desk) -> Known:
    account = desk.world.demo["accounts"]["read_only"]["id"]
    order = {"scope": "account", "subject": account, "reason": "a test", "minutes": 5}
    return Known(path={"stop_id": (await made(desk, "/stops", order, "operator"))["id"]})


async def _new_stop(desk: Desk) -> Known:
    demo = desk.world.demo
    subjects = {
        "provider": "sandbox-read-only",
        "account": demo["accounts"]["read_only"]["id"],
        "company": demo["companies"]["other"]["id"],
        "credential": demo["credentials"]["none"]["client_id"],
    }
    return Known(body=lambda body: {**body, "subject": subjects[body["scope"]]})


async def _review(desk: Desk) -> Known:
    of = {
        "account_id": desk.world.demo["accounts"]["main"]["id"],
        "reference": await in_review(desk.world),
    }
    return Known(body=lambda body: {**body, **of})


async def _approval(desk: Desk) -> Known:
    order = {
        "reference": f"office-{uuid.uuid4()}",
        "value": 10.5,
        "date": desk.world.today(),
        "destination": payee({"key_type": "email"}),
    }
    said = await desk.post("/withdraw/pix", order)
    assert said.status == 202, said.body
    return Known(path={"approval_id": said.document["id"]}, by="approver")


# --- an account's banking -------------------------------------------------------------------------


async def _window(desk: Desk) -> Known:
    return Known(query=today(desk))


async def _search(desk: Desk) -> Known:
    return Known(body=lambda body: paged({**body, **today(desk)}))


async def _key(desk: Desk) -> Known:
    said = await desk.post("/pix/keys", {"type": "evp"})
    assert said.status == 201, said.body
    return Known(path={"key_id": said.document["id"]})


async def _new_key(_desk: Desk) -> Known:
    """A tax number that is a key is the owner's own, so one there is; others are many."""

    def change(body: Body) -> Body:
        if body["type"] == "evp":
            return {"type": "evp"}
        return {"type": "email", "key": f"{uuid.uuid4().hex}@example.com"}

    return Known(body=change)


async def _key_owner(_desk: Desk) -> Known:
    return Known(body=lambda body: {**body, "key": KEYS[body.get("type", "email")]})


async def _charge(desk: Desk) -> Known:
    return Known(path={"reference": (await generated(desk))["reference"]})


async def _new_charge(desk: Desk) -> Known:
    key = await own_key(desk)

    def change(body: Body) -> Body:
        payer = body.get("payer")
        who = {"payer": {**payer, "tax_number": TAX_NUMBER}} if payer else {}
        return {**body, **who, "key": key, "reference": new(body["reference"])}

    return Known(body=change)


async def _payment(desk: Desk) -> Known:
    charge = await paid(desk)
    return Known(
        path={"reference": charge["reference"]},
        body=lambda body: {
            **body,
            "reference": new(body["reference"]),
            "value": cents(body["value"]),
        },
    )


async def _refund(desk: Desk) -> Known:
    charge, reference = await paid(desk), uuid.uuid4().hex
    path = f"/pix/transactions/{charge['reference']}/refunds"
    waiting = await desk.post(path, {"reference": reference, "value": 1.25})
    await made(desk, f"/approvals/{waiting.document['id']}/approve", {}, "approver")
    return Known(path={"reference": reference})


async def _payout(desk: Desk) -> Known:
    await rows.prepared(desk.world)
    return Known(path={"reference": rows.PAID})


def _new_payout(desk: Desk) -> Awaitable[Known]:
    async def known() -> Known:
        return Known(body=payout(desk))

    return known()


KNOWN: Mapping[str, Knowing] = {
    "backoffice.account_change": _account_change,
    "backoffice.account_create": _new_account,
    "backoffice.account_provider": _account_provider,
    "backoffice.accounts": _of_company,
    "backoffice.approval": _approval,
    "backoffice.approval_approve": _approval,
    "backoffice.approval_reject": _approval,
    "backoffice.approval_secret": _secret,
    "backoffice.company": _company,
    "backoffice.company_create": _new_company,
    "backoffice.credential": _credential,
    "backoffice.credential_issue": _new_credential,
    "backoffice.credential_limits": _credential,
    "backoffice.credential_revoke": _credential,
    "backoffice.credential_rotate": _credential,
    "backoffice.credentials": _of_company,
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
    "backoffice.report": _window,
    "backoffice.review_judge": _review,
    "backoffice.statement": _window,
    "backoffice.stop_lift": _stop,
    "backoffice.stop_pull": _new_stop,
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
    "backoffice.user_unlock": _user,
    "backoffice.withdraw": _payout,
    "backoffice.withdraw_bank": _new_payout,
    "backoffice.withdraw_cancel": _payout,
    "backoffice.withdraw_pix": _new_payout,
    "backoffice.withdraws": _search,
}
