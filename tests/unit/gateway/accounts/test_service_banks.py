"""Banks of accounts: the first at once, every other by two people."""

from typing import Any

import pytest
from msgspec.structs import replace

from gateway.accounts.model import NO_BANK, ProviderRequest
from gateway.accounts.service import AccountBanks, BankChanges
from gateway.core.access import Staff, StaffOf
from gateway.core.account import Account
from gateway.core.approvals import Approval, ApprovalKind, NewOrder, Outcome
from gateway.core.audit_context import RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from gateway.core.versions import ANY_VERSION, Expected
from tests.world.people import somebody
from tests.world.registers import NOON, Registers

AT = ProviderRequest(provider="sandbox", provider_account="1", credentials="secret")


def admin(office: Registers) -> Staff:
    person = somebody(Role.ADMIN, email="maria@example.com", has_factor=True, factor_at=NOON)
    return StaffOf(office.clock, ())(person)


async def wait(_person: SignedInUser, wanted: NewOrder) -> Any:
    return wanted


async def attach(
    office: Registers,
    account: Account,
    wanted: ProviderRequest,
    *,
    takes_two: bool = True,
    expected: Expected = ANY_VERSION,
) -> Any:
    nothing: Any = None
    banks = AccountBanks(
        accounts=office.accounts, wait=wait, takes_two=takes_two, banks=nothing, audit=nothing
    )
    return await banks.attach(admin(office), account, wanted, expected)


async def agreed(office: Registers, order: NewOrder) -> str:
    """Carry an order out, unless it is void; return why it is."""
    approval = Approval(
        id="1",
        kind=order.kind,
        account_id=order.account_id,
        company_id=order.company_id,
        subject=order.subject or "",
        sealed_order=b"",
        ordered_by="1",
        orderer="user:maria@example.com",
        ordered_at=NOON,
        ends_at=NOON,
    )
    changes = BankChanges(office.accounts, office.clock)
    void = await changes.check_again(approval, order.text)
    if not void:
        assert await changes.carry_out(approval, order.text) is Outcome.DONE
    return void


async def test_changing_the_bank_needs_approval_and_the_first_bank_does_not(
    office: Registers, company_id: str
):
    """Otherwise one person could redirect incoming money to themselves."""
    cases = (
        ("first", NO_BANK, AT, True, False),
        ("no change", AT, replace(AT, credentials=None), True, False),
        ("other account", AT, replace(AT, provider_account="2"), True, True),
        ("other bank", AT, replace(AT, provider="other-bank"), True, True),
        ("other credentials", AT, replace(AT, credentials="other"), True, True),
        ("no bank any more", AT, NO_BANK, True, True),
        ("rule off", AT, NO_BANK, False, False),
    )
    wrong = []
    for case, before, after, takes_two, waits in cases:
        account = await office.account(company_id, before)
        done = await attach(office, account, after, takes_two=takes_two)
        stands = await office.found(account.id)
        if isinstance(done, NewOrder) is not waits or (waits and stands != account):
            wrong.append(case)

    assert wrong == []


async def test_a_new_bank_after_a_removed_one_needs_approval(office: Registers, company_id: str):
    """Otherwise one person could redirect the account: remove with approval, and set alone."""
    account = await office.account(company_id, AT)
    await agreed(office, await attach(office, account, NO_BANK))
    stands = await office.found(account.id)

    again = await attach(office, stands, replace(AT, provider_account="2"))

    assert (stands.provider, stands.sealed_credentials) == ("", b"")
    assert isinstance(again, NewOrder)


async def test_a_bank_account_of_another_company_cannot_be_ordered(
    office: Registers, company_id: str
):
    await office.account((await office.company("Outra")).id, AT)
    account = await office.account(company_id, replace(AT, provider_account="2"))

    with pytest.raises(RuleViolation) as refused:
        await attach(office, account, AT)

    assert refused.value.reason == "bank_account_taken"


async def test_ordering_a_bank_for_another_version_is_refused(office: Registers, company_id: str):
    account = await office.account(company_id, AT)

    with pytest.raises(ServiceError) as refused:
        await attach(office, account, NO_BANK, expected=Expected(frozenset({"older"})))

    assert refused.value.error.code == "SVC.GTW.011"


async def test_the_bank_of_an_account_changes_after_approval(office: Registers, company_id: str):
    """The order has no secret in clear; secrets sealed for the account are stored unchanged."""
    account = await office.account(company_id, AT)
    moved = ProviderRequest(provider="other-bank", provider_account="7", credentials="canary")
    order = await attach(office, account, moved)

    assert await agreed(office, order) == ""

    stands = await office.found(account.id)
    assert (stands.provider, stands.provider_account) == ("other-bank", "7")
    assert stands.sealed_credentials not in {b"", account.sealed_credentials}
    assert (order.company_id, order.account_id) == (company_id, account.id)
    assert (order.kind, order.subject) == (ApprovalKind.ACCOUNT_BANK, account.id)
    shown = BankChanges(office.accounts, office.clock).order_document(order.text)
    assert "canary" not in f"{order} {shown}"
    assert (shown["provider_before"], shown["provider"]) == ("sandbox", "other-bank")
    assert shown["with_credentials"] is True
    assert not any("sealed" in name for name in shown)
    assert [each.actor for each in await office.acts()][-1] == "user:maria@example.com"


async def test_an_order_is_void_when_the_bank_was_changed_meanwhile(
    office: Registers, company_id: str
):
    """Also when only the credentials were: newer ones are not overwritten by older ones."""
    cases = (
        ("another account", NO_BANK, replace(AT, provider_account="9")),
        ("newer credentials", replace(AT, credentials="stale"), replace(AT, credentials="newer")),
    )
    wrong = []
    for case, ordered_bank, meanwhile in cases:
        account = await office.account(company_id, AT)
        order = await attach(office, account, ordered_bank)
        newer = await office.change(account.id, meanwhile)

        void = await agreed(office, order)

        if not void.endswith("changed since.") or await office.found(account.id) != newer:
            wrong.append((case, void))

    assert wrong == []
