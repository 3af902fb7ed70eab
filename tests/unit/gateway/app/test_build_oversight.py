"""What operators watch, assembled."""

import msgspec

from gateway.app.rooms import described_surfaces
from gateway.config.settings import Settings
from gateway.core.account import Environment


def test_production_shows_no_mail():
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
