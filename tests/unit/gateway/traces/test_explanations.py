"""What is said of a refusal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.core.permissions import Action, Permission, Resource
from gateway.traces.explanations import Circumstances, explain
from gateway.traces.model import Refusal
from tests.world.stores.samples import CLIENT, account, credential

SCOPE = Refusal(
    surface="banking",
    route="banking.payout_create",
    method="POST",
    status=403,
    code="SVC.AUT.010",
    reason="scope",
)
OWN = replace(account(), id="own", name="Filial")
KNOWN = Circumstances(
    credential=credential(),
    account=account(),
    own_account=OWN,
    company="Loja",
    needed="withdraw:write",
)


def test_an_explanation_of_a_refusal_has_rule_facts_and_remedies():
    said = explain(SCOPE, KNOWN)

    assert said.rule.text == "The credential is for another account."
    assert [each.text for each in said.facts] == [
        f"{credential().name} ({CLIENT}) called.",
        f"It was issued for the account Filial alone; the call was about {account().name}.",
        "Both are of the same company, so the answer is 403 and not 404.",
        "Nothing was stored, and no bank was asked.",
    ]
    assert [each.text for each in said.remedies] == [
        "Call about the credential's own account, Filial (own).",
        "Or issue a credential for the whole company with withdraw:write.",
    ]


def test_an_explanation_leaves_out_unknown_values():
    """Another company's records are not known: nothing of them is said."""
    said = explain(SCOPE, Circumstances())

    assert [each.text for each in said.facts] == [
        "Both are of the same company, so the answer is 403 and not 404.",
        "Nothing was stored, and no bank was asked.",
    ]
    assert said.remedies == []


@pytest.mark.parametrize("held", [(), (Permission(Resource.BALANCE, Action.READ),)])
def test_a_missing_permission_is_explained_with_those_the_credential_has(
    held: tuple[Permission, ...],
):
    found = replace(SCOPE, reason="permission")
    known = replace(KNOWN, credential=replace(credential(), permissions=frozenset(held)))

    said = " ".join(map(str, explain(found, known).facts))

    has = "balance:read" if held else "no permission at all"
    assert f"The call needs withdraw:write; the credential has {has}." in said


def test_a_reason_without_a_remedy_uses_the_remedy_of_its_code():
    found = replace(SCOPE, status=400, code="SVC.VAL.011", reason="json")

    said = explain(found, Circumstances())

    assert [each.text for each in said.remedies] == [
        "Check the types, the tax number and the length of each field."
    ]


def test_a_call_without_a_refusal_is_explained_as_accepted():
    said = explain(replace(SCOPE, status=200, code="", reason=""), KNOWN)

    assert (said.step, said.rule.text, list(said.remedies)) == (0, "Nothing refuses this call.", [])
