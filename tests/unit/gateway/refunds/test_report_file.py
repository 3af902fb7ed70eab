"""Payments received as a table."""

from __future__ import annotations

from gateway.banks.port.charges import Payer
from gateway.banks.port.refunds import IncomingPayment
from gateway.core.money import Money
from gateway.refunds.report_file import HEAD, lines
from tests.world.standing import NOON


def test_every_line_has_every_column_and_hides_the_tax_number():
    found = IncomingPayment(
        reference="",
        e2e_id="E1",
        provider_id="1",
        value=Money(1000),
        refunded=Money(400),
        paid_at=NOON,
        payer=Payer(name="Maria", tax_number="52998224725"),
    )

    head, line = HEAD.decode("utf-8-sig").strip(), lines([found]).decode().strip()

    assert len(head.split(";")) == len(line.split(";"))
    assert line.endswith("devolvido em parte;10,00;4,00;6,00")
    assert ";***.982.247-**;" in line
