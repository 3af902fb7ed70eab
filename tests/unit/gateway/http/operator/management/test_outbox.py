"""The row of the sandbox's mail."""

from __future__ import annotations

import msgspec

from gateway.app.surfaces import described_surfaces
from gateway.config.settings import Settings
from gateway.domain.accounts import Environment
from gateway.domain.identity import Mail
from gateway.http.operator.management.outbox import OutboxActs
from tests.unit.gateway.http.operator.management.stage import Stage, turned_down
from tests.unit.gateway.http.operator.stage import line
from tests.unit.standing import NOON


def test_the_row_is_the_one_decided():
    assert line("outbox") == ("GET", "/outbox", "outbox:read", 200)


def test_production_has_no_such_row():
    """Links in mails open accounts; only who gets the mail reads them."""
    settings = msgspec.structs.replace(Settings(), environment=Environment.PRODUCTION)

    names = {
        row.name
        for surface in described_surfaces(settings)
        for gate in surface.gates
        for row in gate.rows
    }

    assert "backoffice.outbox" not in names
    assert "backoffice.audit" in names


async def test_mail_is_shown_to_people_of_all_companies(stage: Stage):
    outbox = stage.office.store.identity.outbox
    mail = Mail(id="1", to="a@example.com", subject="s", text="t", created_at=NOON)
    await outbox.put(mail)

    assert list(await OutboxActs(outbox).list(stage.staff(), None)) == [mail]
    refused = OutboxActs(outbox).list(stage.staff("c"), None)
    assert await turned_down(refused) == "403 FORBIDDEN"
