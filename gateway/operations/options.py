"""What a bank offers beyond the nine calls, as it declares it."""

from __future__ import annotations

from gateway.domain.provider_options import (
    ChargeCalls,
    IncomingCalls,
    KeyCalls,
    Option,
    RefundCalls,
)
from gateway.domain.providers import Bank, NotSupported

_LACKS = "not_supported"


def key_calls(bank: Bank, option: Option) -> KeyCalls:
    """Return the bank's calls about keys; raises ``NotSupported`` when it lacks this one."""
    if _offers(bank, option) and isinstance(bank.adapter, KeyCalls):
        return bank.adapter
    raise NotSupported(_LACKS)


def charge_calls(bank: Bank, option: Option) -> ChargeCalls:
    """Return the bank's calls that change charges; raises ``NotSupported`` likewise."""
    if _offers(bank, option) and isinstance(bank.adapter, ChargeCalls):
        return bank.adapter
    raise NotSupported(_LACKS)


def incoming_calls(bank: Bank, option: Option) -> IncomingCalls:
    """Return the bank's calls about what came in; raises ``NotSupported`` likewise."""
    if _offers(bank, option) and isinstance(bank.adapter, IncomingCalls):
        return bank.adapter
    raise NotSupported(_LACKS)


def refund_calls(bank: Bank, option: Option) -> RefundCalls:
    """Return the bank's calls about refunds; raises ``NotSupported`` likewise."""
    if _offers(bank, option) and isinstance(bank.adapter, RefundCalls):
        return bank.adapter
    raise NotSupported(_LACKS)


def _offers(bank: Bank, option: Option) -> bool:
    return option.value in bank.adapter.capabilities.operations
