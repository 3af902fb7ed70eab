"""The demo, made once and found again: in a file, in the store and at the bank."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.cli.context import AdminContext
from gateway.operations.identity.ports import IdentityContext
from provider_adapters.testing.bank.control.client import BankControl
from provider_adapters.testing.demo import bank_side, contents, people_side, store_side
from provider_adapters.testing.demo.document import Demo, DemoFile, DemoUrls, Identified


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoParts:
    """What the demo is made with."""

    office: AdminContext
    people: IdentityContext
    bank: BankControl
    kept: DemoFile
    urls: DemoUrls


async def ensure_demo(parts: DemoParts) -> Demo:
    """
    Return the demo, making whatever of it is missing; the same ids and secrets every time.

    The file comes first: after a crash the next run finishes what is named there.

    Raises:
        RuleViolation: when what is kept cannot be read, or the bank refuses.
        StoreUnavailable: as every store does.
    """
    demo = parts.kept.read() or parts.kept.begin(_fresh(parts))
    current = await _current(parts, demo)
    if current != demo:
        parts.kept.replace(current)
    await bank_side.ensure(parts.bank, current, parts.office.acting.now)
    await store_side.ensure(parts.office, current)
    await people_side.ensure(parts.people, current)
    return current


async def _current(parts: DemoParts, demo: Demo) -> Demo:
    """Bring a kept demo up to today's addresses, credentials that work, and all people."""
    new = await store_side.replacements(parts.office, demo)
    return {
        **demo,
        **parts.urls,
        "credentials": {**demo["credentials"], **new},
        "users": people_side.new_people(parts.people, demo["users"]),
    }


def _fresh(parts: DemoParts) -> Demo:
    """Choose ids and secrets; nothing exists yet."""
    new_id = parts.office.kernel.new_id
    accounts = {each.role: Identified(id=new_id()) for each in contents.ACCOUNTS}
    return Demo(
        **parts.urls,
        companies={each.role: Identified(id=new_id()) for each in contents.COMPANIES},
        accounts=accounts,
        credentials={each.role: store_side.new_pair(parts.office) for each in contents.CREDENTIALS},
        pix_keys={
            role: [key.public_id(account_id) for key in contents.pix_keys(account_id)]
            for role in ("main", "other_company")
            for account_id in (accounts[role]["id"],)
        },
        charges={
            each.role: contents.reference(each, accounts[each.account]["id"])
            for each in contents.CHARGES
        },
        users=people_side.new_people(parts.people, {}),
    )
