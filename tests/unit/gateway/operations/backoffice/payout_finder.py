"""What several tests of payout finder share."""

from __future__ import annotations

from gateway.operations.backoffice.payout_finder import PayoutFinder
from gateway.security.tax_numbers import TaxNumberDigests
from tests.world.registers import Registers

DIGESTS = TaxNumberDigests({"key": b"k" * 32})


def finder_of(office: Registers) -> PayoutFinder:
    store = office.store.office
    return PayoutFinder(
        directory=store.payouts, records=store.scoped, now=office.clock, digests=DIGESTS.every
    )
