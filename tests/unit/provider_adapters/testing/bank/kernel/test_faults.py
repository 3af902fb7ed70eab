"""Faults wait in order, hit their operation and are counted."""

from __future__ import annotations

from provider_adapters.testing.bank.kernel.faults import Fault, FaultKind, Faults
from tests.world.tables import cases


def fault(operation="*", count=1, kind=FaultKind.HANG):
    return Fault(fault=kind, operation=operation, count=count)


def test_a_fault_hits_as_often_as_it_says():
    faults = Faults()
    faults.append(fault("payout", 2))

    taken = [faults.take(name) for name in ("balance", "payout", "payout", "payout")]

    assert [bool(one) for one in taken] == [False, True, True, False]
    assert faults == []


def test_without_count_it_hits_until_cleared():
    faults = Faults()
    faults.append(fault(count=None))
    hit = [faults.take("keys") for _ in range(5)]

    assert all(hit)


def test_the_first_that_fits_is_taken():
    faults = Faults()
    first, second = fault("payout"), fault("*", 5)
    faults.append(first)
    faults.append(second)

    assert faults.take("balance") == second
    assert faults.take("payout") == first


NOT_EXECUTING = {"refuse", "reject", "hang", "reset_before", "status"}


@cases("kind", FaultKind)
def test_a_fault_executes_or_not(kind):
    """As the README says; a status only when told to."""
    assert fault(kind=kind).executes == (kind not in NOT_EXECUTING)
    assert Fault(fault=FaultKind.STATUS, executed=True).executes
