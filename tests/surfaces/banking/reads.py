"""What several tests of reads share."""

from __future__ import annotations

FAILS = {
    "banking.balance": "SVC.ACC.006",
    "banking.pix_keys": "SVC.PIX.002",
    "banking.pix_key": "SVC.PIX.002",
    "banking.qrcode": "SVC.PIX.005",
    "banking.pix_transaction": "SVC.PIX.007",
    "banking.statement": "SVC.ACC.007",
}
"""Contract 4.1, the column of provider failures."""
