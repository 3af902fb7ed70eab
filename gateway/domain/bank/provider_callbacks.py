"""What a bank tells us unasked, and how that is proven."""

from __future__ import annotations


class ProofRefused(Exception):
    """No callback could be proven as configured; the text is for operators and has no values."""
