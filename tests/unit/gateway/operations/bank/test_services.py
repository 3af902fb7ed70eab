"""Every operation on an account at its bank."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace

from gateway.app.build_bank import build_bank
from gateway.operations.bank.services import BankServices
from gateway.runtime.caches.cache import MemoryCache
from tests.world.kernel import kernel_on
from tests.world.payouts import OneBank, ScriptedBank, no_stops
from tests.world.standing import Clock


def test_every_operation_finds_banks_in_the_same_place():
    banks = OneBank(ScriptedBank())

    kernel = kernel_on(SimpleNamespace(audit=None, charges=None), Clock())

    made = build_bank(kernel, banks, no_stops, MemoryCache(0))

    asks_none = {"banks", "kept_charges", "charge_list"}
    operations = [each.name for each in fields(BankServices) if each.name not in asks_none]
    assert made.banks is banks
    assert {id(getattr(made, name).banks) for name in operations} == {id(banks)}
