"""Faults that wait: whose they are, what they cost the requests of others, when they end."""

from __future__ import annotations

from provider_adapters.testing.bank.messages import Fault, FaultKind, Faults

DAY = 86_400_000_000


def fault(account: str = "", operation: str = "balance", count: int | None = 1) -> Fault:
    return Fault(fault=FaultKind.STATUS, operation=operation, account=account, count=count)


def test_faults_of_other_accounts_cost_a_request_one_look_at_its_customer():
    faults, asked = Faults(), list[str]()
    for number in range(300):
        faults.add(fault(f"other-{number % 100}"), 0)

    def customer() -> str:
        asked.append("own")
        return "own"

    assert faults.take("balance", customer, "") is None
    assert asked == ["own"]
    faults.clear()
    assert faults.take("balance", customer, "") is None
    assert asked == ["own"]


def test_everybodys_fault_comes_first_and_each_as_often_as_ordered():
    faults = Faults()
    faults.add(fault("own", count=2), 0)
    faults.add(fault(), 0)
    faults.add(fault("own", "keys"), 0)

    taken = [faults.take("balance", lambda: "own", "") for _ in range(4)]

    assert [each and (each.account, each.count) for each in taken] == [
        ("", 1),
        ("own", 2),
        ("own", 1),
        None,
    ]
    assert [each.operation for each in faults] == ["keys"]


def test_faults_of_an_account_end_a_day_after_its_latest_order():
    faults = Faults()
    faults.add(fault(count=None), 0)
    faults.add(fault("old"), 0)
    faults.add(fault("new"), 0)
    faults.add(fault("new"), DAY // 2)

    faults.add(fault("other"), DAY + 1)

    assert sorted(each.account for each in faults) == ["", "new", "new", "other"]
