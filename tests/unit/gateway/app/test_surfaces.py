"""The surfaces put together."""

from __future__ import annotations

import msgspec
import pytest

from gateway.app.surfaces import described_surfaces
from gateway.config.settings import Settings, Validation
from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.http.route import Surface
from gateway.http.table import check_surfaces
from policies.validation.parameters import KnownParameters
from tests.surfaces.world import order
from tests.unit.people import posted
from tests.unit.refusals import refusal_of

LETTERS = "12.ABC.345/01DE-35"


def test_every_surface_is_there_and_in_order():
    surfaces = described_surfaces(Settings())

    assert {"banking", "identity", "keys", "panel"} <= {each.name for each in surfaces}
    assert surfaces[0].name == "banking"
    assert check_surfaces(surfaces) == []


@pytest.mark.parametrize(
    ("surface", "refuses"),
    [
        *(("banking", False), ("identity", False), ("panel", False)),
        *(("backoffice", True), ("panel_api", True)),
    ],
)
def test_parameters_that_are_not_there_are_refused_to_operators_alone(surface: str, refuses: bool):
    """Wherever the back office is served; partners and pages may send what they like."""
    (found,) = [each for each in described_surfaces(Settings()) if each.name == surface]

    asking = [
        any(isinstance(policy, KnownParameters) for policy in gate.policies)
        for gate in found.gates
        if gate.scheme
    ]

    assert asking == [refuses] * len(asking)


@pytest.mark.parametrize("surface", described_surfaces(Settings()), ids=lambda each: each.name)
def test_refusals_explain_themselves_to_people_alone(surface: Surface):
    """Contract 2.2 has three fields: partners and banks get these."""
    people = {"identity", "panel", "panel_api", "backoffice"}

    assert surface.explains is (surface.name in people)


@pytest.mark.parametrize(
    ("switched", "refusal"), [(False, errors.PAYLOAD_INVALID), (True, None)], ids=["off", "on"]
)
def test_the_cnpj_with_letters_is_taken_where_it_is_switched_on(
    switched: bool, refusal: ErrorCode | None
):
    """The setting reaches the reader of payouts."""
    validation = Validation(alphanumeric_cnpj=switched)
    settings = msgspec.structs.replace(Settings(), validation=validation)
    rows = {row.name: row for row in described_surfaces(settings)[0].gates[0].rows}
    sent = order("a", "2026-11-20")
    sent["destination"] = {**sent["destination"], "tax_number": LETTERS}  # type: ignore[dict-item]

    found = refusal_of(lambda: rows["banking.payout_create"].takes.read(posted(sent)))

    assert found is refusal


async def test_what_is_only_described_cannot_be_served():
    """Nothing stands behind it."""
    banking, *_ = described_surfaces(Settings())
    row = banking.gates[0].rows[0]

    with pytest.raises((TypeError, AttributeError)):
        await row.serve(None, None)
