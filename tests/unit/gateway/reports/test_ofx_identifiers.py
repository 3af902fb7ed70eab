"""An importer knows a movement again by its identifier."""

from datetime import timedelta

import pytest

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Direction, MovementKind
from gateway.core.money import Money
from gateway.reports.ofx import StableIds
from tests.unit.reporting import ENTRY, FEE, MARIA, entry
from tests.world.people import ACCOUNT, SISTER
from tests.world.standing import NOON

NAMELESS = entry(provider_id="", e2e_id="")


def ids_of(*entries, account: str = ACCOUNT) -> list[str]:
    ids = StableIds(account)
    return [ids.of(each) for each in entries]


def id_of(each, account: str = ACCOUNT) -> str:
    return ids_of(each, account=account)[0]


def test_an_identifier_is_the_same_in_every_report():
    """Whatever surrounds it; the value is fixed, or an upgrade would import everything twice."""
    alone, among = id_of(ENTRY), ids_of(FEE, ENTRY)[1]

    assert alone == among == "1e2bf4405f94ed073b88b5b1a59ae506"


def test_an_identifier_does_not_depend_on_wording():
    cases = [
        {"description": "Pix de Maria"},
        {"counterparty": Party(name="MARIA")},
        {"kind": MovementKind.OTHER},
        {"e2e_id": ""},
    ]

    wrong = [changed for changed in cases if id_of(entry(**changed)) != id_of(ENTRY)]

    assert wrong == []


def test_an_identifier_depends_on_more_than_the_bank_s_id():
    """A fee has the payment's id, and a return the payout's."""
    cases = [
        {"provider_id": "mov-9"},
        {"direction": Direction.DEBIT},
        {"value": Money(1)},
        {"created_at": NOON + timedelta(microseconds=1)},
    ]

    wrong = [changed for changed in cases if id_of(entry(**changed)) == id_of(ENTRY)]

    assert wrong == []


@pytest.mark.parametrize(
    "changed",
    [{"description": "other"}, {"counterparty": Party(name="João")}, {"e2e_id": "E1"}],
    ids=str,
)
def test_without_a_bank_id_the_texts_determine_the_identifier(changed: dict[str, object]):
    assert id_of(entry(**{"provider_id": "", "e2e_id": "", **changed})) != id_of(NAMELESS)


def test_an_identifier_depends_on_the_account():
    assert id_of(ENTRY, SISTER) != id_of(ENTRY)


def test_identical_movements_get_numbered_identifiers():
    ids = ids_of(NAMELESS, NAMELESS, ENTRY, NAMELESS)

    assert ids[1:] == [f"{ids[0]}-2", id_of(ENTRY), f"{ids[0]}-3"]


def test_an_identifier_exists_for_any_text():
    assert (
        len(id_of(entry(provider_id="", e2e_id="", counterparty=MARIA, description="\ud800"))) == 32
    )
