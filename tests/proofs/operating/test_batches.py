"""A file of payouts whose gateway is killed twice on the way: the bank's book has each row once."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from gateway.app.commands.context import connected
from gateway.app.commands.store import opened_store
from gateway.app.kernel import Kernel
from gateway.app.services import Services
from gateway.batches.model import BatchFile, Progress
from gateway.batches.reading import MOST_ROWS
from gateway.batches.store import BatchRecords
from gateway.cli.configuration import settings_of
from gateway.core.access import Staff
from gateway.core.account import Environment
from gateway.core.approvals import Approval
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.payouts.model import provider_key
from gateway.security.keys import load_keys
from tests.proofs.torture.gateway_client import GatewayClient, torture_world_in
from tests.world.extent import WHOLE
from tests.world.waiting import until

ROWS = MOST_ROWS if WHOLE else 60
KILLS = 2
HEAD = "referencia;valor;cpf_cnpj;tipo_chave;chave"


async def test_a_file_is_paid_once_though_its_gateway_is_killed_twice(tmp_path: Path):
    references = [f"folha-{number:04}" for number in range(ROWS)]
    async with torture_world_in(tmp_path) as world:
        client = await world.gateway_client("files")
        batch_id = await ordered(client, references)
        for kill in range(KILLS):
            await client.start()
            await has_ordered(client, batch_id, ROWS * (kill + 1) // (KILLS + 1))
            client.command.kill()
        await client.start()
        await is_done(client, batch_id)
        executed = Counter(
            (row["key"] or "").replace("-", "").lower()
            for row in (await client.control.get("executions"))["data"]
        )
        ledger = await client.control.get("ledger")

    account = client.account.id
    keys = {provider_key(Environment.SANDBOX, account, each) for each in references}
    assert executed == dict.fromkeys(keys, 1)
    assert ledger["balanced"]


async def ordered(client: GatewayClient, references: list[str]) -> str:
    """Upload, order and approve a file of payouts before the gateway is started."""
    rows = [f"{each};1,00;529.982.247-25;email;maria@example.com" for each in references]
    content = base64.b64encode("\n".join([HEAD, *rows]).encode()).decode()
    async with services(client) as opened:
        maker, approver = [
            await someone(opened, name, role)
            for name, role in (("maria", Role.OPERATOR), ("joao", Role.APPROVER))
        ]
        account = await opened.kernel.store.accounts.find(client.account.id)
        assert account is not None
        file = BatchFile(name="folha.csv", content=content)
        made = await opened.batches.upload(maker, account, file)
        assert made.batch.payouts == ROWS
        waits = await opened.batches.order(maker, made.batch.id)
        if isinstance(waits, Approval):
            await opened.approvals.approve(approver, waits.id)
        return made.batch.id


@asynccontextmanager
async def services(client: GatewayClient) -> AsyncIterator[Services]:
    """Open what the panel calls, over the gateway's store and with its clock."""
    settings = settings_of(client.config)
    keys = load_keys(settings)
    async with opened_store(settings, migrate=False, keys=keys) as store:
        kernel = Kernel(settings=settings, store=store, keys=keys, now=client.now)
        yield Services(kernel, connected(settings))


async def someone(opened: Services, name: str, role: Role) -> Staff:
    """Add a person of a role, who has just given the second factor."""
    now: datetime = opened.kernel.now()
    user = User(
        id=f"00000000-0000-4000-8000-{name:0>12}",
        email=f"{name}@example.com",
        name=name,
        password="",
        roles=frozenset({role}),
        companies=frozenset(),
        created_at=now,
        updated_at=now,
    )
    act = AuditEvent(at=now, actor="test", action="tested", subject=f"user:{user.id}")
    await opened.kernel.store.identity.users.add(user, act)
    person = SignedInUser(
        user_id=user.id,
        email=user.email,
        name=user.name,
        roles=user.roles,
        companies=user.companies,
        session_id="s",
        factor_at=now,
        has_factor=True,
    )
    return Staff(AuditContext(person.actor, opened.kernel.now), person=person)


async def progress(client: GatewayClient, batch_id: str) -> tuple[str, dict[Progress, int]]:
    """Read how far a file is, beside the gateway."""
    async with opened_store(settings_of(client.config), migrate=False) as store:
        records = BatchRecords(store.database)
        found = await records.find(batch_id, EVERY_COMPANY)
        assert found is not None
        rows = await records.progress(batch_id)
        return found.batch.state, {each.status: each.payouts for each in rows}


async def has_ordered(client: GatewayClient, batch_id: str, number: int) -> None:
    """Wait until so many payouts of a file have been ordered."""

    async def have() -> bool:
        _, rows = await progress(client, batch_id)
        return ROWS - rows.get(Progress.WAITING, 0) >= number

    await until(have)


async def is_done(client: GatewayClient, batch_id: str) -> None:
    """Wait until every payout of a file is paid."""

    async def paid() -> bool:
        return await progress(client, batch_id) == ("done", {Progress.PAID: ROWS})

    await until(paid)
