"""What a person is told outside the panel: chosen on a page, mailed by the running gateway."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio

from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from gateway.identity.model import Mail
from gateway.notifications.model import Choice, Kind
from tests.surfaces.panel.pages.payouts import ordered
from tests.surfaces.panel.pages.person import Person, age_factors, signed_in
from tests.world.gateway.identity_api import ORIGIN
from tests.world.gateway.world import World
from tests.world.notifications import SIGNER, a_browser, encoded
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWN = "/panel/me/notifications"
CHATS = "/panel/chats"
WEBHOOK = "https://hooks.example.com/services/T0/B0/geheim"
_HOUR = timedelta(hours=1)
NOTHING = {kind.value: "never" for kind in Kind}
CHAT = {"name": "Financeiro", "webhook": WEBHOOK, "kinds": "order", "format": "teams"}


async def email_of(person: Person) -> str:
    seen = await person.open("/panel/me")
    return re.search(r"[\w-]+@panel\.example", seen.text)[0]


async def test_a_choice_is_stored_and_shown_again(viewer: Person, world: World):
    await viewer.open(OWN)

    sent = await viewer.send(
        OWN,
        NOTHING
        | {"order": "digest", "bank": "at_once", "push": "outflow"}
        | {"quiet": "1", "quiet_from": "22:00", "quiet_until": "06:30"},
    )
    seen = await viewer.open(sent.location)

    assert (sent.status, sent.location) == (303, f"{OWN}?saved=1")
    assert re.search(r'id="order".*?value="digest" selected', seen.text, re.DOTALL)
    assert 'value="22:00"' in seen.text
    choices = await world.gateway.services.notifications.choices.every()
    assert [*choices.values()] == [
        Choice(
            at_once=(Kind.BANK,),
            digest=(Kind.ORDER,),
            push=(Kind.OUTFLOW,),
            quiet_from="22:00",
            quiet_until="06:30",
        )
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": "daily"},
        {"secret": "digest"},
        {"quiet": "1", "quiet_from": "25:00", "quiet_until": "06:00"},
        {"quiet": "1", "quiet_from": "06:00", "quiet_until": "06:00"},
        {"quiet": "1", "quiet_from": "", "quiet_until": "06:00"},
    ],
)
async def test_an_impossible_choice_is_refused(viewer: Person, wrong: dict[str, str]):
    await viewer.open(OWN)

    refused = await viewer.send(OWN, NOTHING | wrong)

    assert refused.status in {400, 422}


async def test_an_order_in_the_panel_wakes_the_worker_that_mails_who_decides(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """The task would look again after an hour."""
    operator = await signed_in(world, Role.OPERATOR)
    address = await email_of(await signed_in(world, Role.APPROVER))
    [task] = [each for each in world.gateway.tasks if each.name == "notifications"]
    monkeypatch.setattr(task, "_schedule", replace(task._schedule, every_s=3_600))
    wake = world.gateway.services.notification_wake
    wake.set()
    await until(lambda: not wake.is_set())
    form = ordered(world, owner_name="Maria", owner_tax_number="***", step="send")
    await operator.open("/panel/payouts/new")

    sent = await operator.send("/panel/payouts/new", form)

    assert sent.location.startswith("/panel/approvals/"), sent.text
    mail = await until(lambda: mail_to(world, address))
    assert mail.text.endswith(f"{ORIGIN}{sent.location}\n")
    assert mail.text.count("http") == 1
    for hidden in (form["reference"], "10,50", "529.982.247-25", "maria@example.com"):
        assert hidden not in mail.subject + mail.text


async def mail_to(world: World, address: str) -> Mail | None:
    box = world.gateway.services.identity.context.stores.mailbox
    found = await box.latest(50, EVERY_COMPANY)
    told = (each for each in found if each.to == address and "/panel/approvals/" in each.text)
    return next(told, None)


async def test_a_browser_is_subscribed_listed_and_removed(viewer: Person):
    browser = a_browser()
    address = "https://push.example.com/send/geheim"
    keys = {"public": encoded(browser.public), "auth": encoded(browser.auth)}
    shown = await viewer.open(OWN)

    subscribed = await viewer.send("/panel/me/push", {"endpoint": address, **keys})
    listed = await viewer.open(OWN)
    [remove] = re.findall(r"/panel/me/push/[0-9a-f-]{36}/remove", listed.text)
    refused = await viewer.send("/panel/me/push", {"endpoint": "https://10.0.0.1/", **keys})
    removed = await viewer.send(remove)
    again = await viewer.send(remove)

    assert f'data-key="{SIGNER.public}"' in shown.text
    assert (subscribed.status, removed.status, again.status) == (303, 303, 404)
    assert "geheim" not in listed.text
    assert refused.status == 400
    assert keys["auth"] not in refused.text


@pytest_asyncio.fixture(loop_scope="module")
async def keeping(admin: Person) -> Person:
    await admin.open(CHATS)
    return admin


async def test_a_chat_is_added_and_removed_and_its_address_is_never_shown(keeping: Person):
    added = await keeping.send(CHATS, CHAT)
    listed = await keeping.open(added.location)
    [remove] = re.findall(r"/panel/chats/[0-9a-f-]{36}/remove", listed.text)
    tried = await keeping.send(remove.replace("/remove", "/try"))
    said = await keeping.open(tried.location)
    forged = await keeping.open(f"{CHATS}?tried=x")
    removed = await keeping.send(remove)
    after = await keeping.open(CHATS)

    assert (added.status, added.location) == (303, CHATS)
    assert "hooks.example.com" in listed.text
    assert "geheim" not in listed.text
    assert tried.location.startswith(f"{CHATS}?tried=")
    assert "O chat não recebeu a mensagem de teste:" in said.text
    assert "mensagem de teste:" not in forged.text
    assert removed.status == 303
    assert "hooks.example.com" not in after.text


async def test_a_refused_or_interrupted_form_does_not_show_the_address_again(
    keeping: Person, world: World
):
    refused = await keeping.send(CHATS, CHAT | {"name": ""})
    await age_factors(world, _HOUR)
    asked = await keeping.send(CHATS, CHAT)

    assert refused.status == 400
    assert 'name="code"' in asked.text
    assert 'value="Financeiro"' in asked.text
    assert "geheim" not in refused.text + asked.text


async def test_chats_are_for_administrators(operator: Person):
    assert (await operator.open(CHATS)).status == 403
