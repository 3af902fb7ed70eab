"""Identifiers in the path."""

import pytest

from gateway.core import errors
from gateway.core.calls import RawRequest
from policies.validation import parameters
from policies.validation.parameters import Identifiers
from tests.unit.refusals import refused
from tests.world.people import ACCOUNT, SISTER, call


def at(**path: str) -> RawRequest:
    return RawRequest(path=path)


@pytest.mark.parametrize(
    "path",
    [
        {},
        {"reference": "no uuid"},
        {"account_id": ACCOUNT},
        {"account_id": ACCOUNT.upper()},
        {"account_id": ACCOUNT, "key_id": SISTER},
        {"account_id": ACCOUNT, "reference": "../x"},
    ],
)
def test_uuids_are_accepted_in_any_letter_case(path: dict[str, str]):
    Identifiers()(call(at(**path)))


BAD = ["", "1", ACCOUNT[:-1], f"{{{ACCOUNT}}}", ACCOUNT.replace("-", ""), ACCOUNT + "\n"]
BAD += [f"urn:uuid:{ACCOUNT}", ACCOUNT.replace("0", "\u0660"), "\udcff" + ACCOUNT[1:]]


@pytest.mark.parametrize("bad", BAD, ids=ascii)
@pytest.mark.parametrize("name", ["account_id", "key_id"])
def test_a_malformed_uuid_in_a_path_is_refused(name: str, bad: str):
    """Contract part 7."""
    path = {"account_id": ACCOUNT, "key_id": SISTER, name: bad}

    with refused(errors.IDENTIFIER_INVALID):
        Identifiers()(call(at(**path)))


def test_a_key_id_is_read_in_lower_case():
    assert parameters.key_id(at(key_id=SISTER.upper())) == SISTER


@pytest.mark.parametrize("bad", BAD, ids=ascii)
def test_a_malformed_key_id_is_refused(bad: str):
    with refused(errors.IDENTIFIER_INVALID):
        parameters.key_id(at(key_id=bad))


@pytest.mark.parametrize("text", ["order-1", "a/b", " x ", "Ação", "🜁" * 1024, "..."])
def test_a_reference_is_read_unchanged(text: str):
    assert parameters.reference(at(reference=text)) == text


@pytest.mark.parametrize("text", ["", ".", "..", "a\0b", "a\r\nb", "a" * 1025, "\udcff"], ids=ascii)
def test_a_reference_that_cannot_be_stored_is_refused(text: str):
    """Undecodable bytes of the path arrive as lone surrogates."""
    with refused(errors.PAYLOAD_INVALID) as refusal:
        parameters.reference(at(reference=text))
    assert refusal.value.field == "reference"
