"""Files of payouts over a store, a bank that answers as a test sets it, and two people."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from gateway.app.store import Store
from gateway.approvals.execution import Decided
from gateway.approvals.service import Approvals
from gateway.batches.model import (
    Batch,
    BatchDetail,
    BatchFile,
    BatchRowDocument,
    BatchStopBody,
    Progress,
    RowSearch,
)
from gateway.batches.oddities import Oddities
from gateway.batches.order import BatchOrders
from gateway.batches.service import Batches
from gateway.batches.store import BatchRecords
from gateway.batches.worker import BatchWorker
from gateway.core.access import Staff
from gateway.core.approvals import Approval, ApprovalKind
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import EVERY_COMPANY, StopScope
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.core.windows import Paging
from gateway.payouts.holds import Payers
from gateway.security.tax_numbers import LABEL, TaxNumberDigests
from gateway.stops.model import Stop
from tests.world.approvals import approval_config, approvals_on
from tests.world.exports import exports
from tests.world.kernel import KEYS
from tests.world.payouts import PayoutWorld, ScriptedBank
from tests.world.standing import Clock
from tests.world.stores.samples import ACCOUNT, NOW, account, event

HEAD = "referencia;valor;nome;cpf_cnpj;tipo_chave;chave"
CPF = "529.982.247-25"


def person(name: str, *roles: Role) -> SignedInUser:
    return SignedInUser(
        user_id=name,
        email=f"{name}@example.com",
        name=name,
        roles=frozenset(roles),
        companies=frozenset(),
        session_id="s",
        factor_at=NOW,
        has_factor=True,
    )


MARIA = person("maria", Role.OPERATOR)
OLGA = person("olga", Role.OPERATOR)
JOAO = person("joao", Role.APPROVER)
EVA = person("eva", Role.APPROVER)
VERA = person("vera", Role.VIEWER)
BOTH = person("both", Role.OPERATOR, Role.APPROVER)


def row(reference: str, value: str = "10,50", key: str = "maria@example.com") -> str:
    return f"{reference};{value};Maria;{CPF};email;{key}"


def file(*rows: str, name: str = "folha.csv") -> BatchFile:
    content = "\n".join([HEAD, *rows]).encode()
    return BatchFile(name=name, content=base64.b64encode(content).decode())


@dataclass
class BatchWorld:
    """
    Files of payouts of one account.

    Attributes:
        stops: Those in force; a lifted one has ``lifted_at``.
    """

    store: Store
    node: PayoutWorld
    clock: Clock
    approvals: Approvals
    batches: Batches
    worker: BatchWorker
    stops: list[Stop] = field(default_factory=list)

    def staff(self, who: SignedInUser) -> Staff:
        """Let a person act with a fresh second factor."""
        fresh = replace(who, factor_at=self.clock.now())
        return Staff(AuditContext(fresh.actor, self.clock.now), EVERY_COMPANY, fresh)

    async def uploaded(self, *rows: str, who: SignedInUser = MARIA) -> BatchDetail:
        return await self.batches.upload(self.staff(who), account(), file(*rows))

    async def ordered(self, *rows: str, who: SignedInUser = MARIA) -> tuple[str, Approval]:
        """Upload and order a file; return its id and the order that waits."""
        made = await self.uploaded(*rows, who=who)
        waits = await self.batches.order(self.staff(who), made.batch.id)
        assert isinstance(waits, Approval)
        return made.batch.id, waits

    async def approve(self, waits: Approval, who: SignedInUser = JOAO) -> Decided:
        return await self.approvals.approve(self.staff(who), waits.id)

    async def approved(self, *rows: str) -> str:
        """Upload, order and approve a file; nothing is carried out yet."""
        batch_id, waits = await self.ordered(*rows)
        await self.approve(waits)
        return batch_id

    async def get(self, batch_id: str) -> BatchDetail:
        return await self.batches.get(self.staff(JOAO), batch_id)

    async def rows(
        self, batch_id: str, who: SignedInUser = MARIA, *, is_odd: bool = False
    ) -> Sequence[BatchRowDocument]:
        wanted = RowSearch(paging=Paging(1, 100), is_odd=is_odd)
        return (await self.batches.rows(self.staff(who), batch_id, wanted)).items

    async def stands(self, batch_id: str) -> dict[Progress, int]:
        """Return how many rows stand where."""
        return {each.status: each.payouts for each in (await self.get(batch_id)).progress}

    async def stop(self, batch_id: str, who: SignedInUser = MARIA) -> BatchDetail:
        return await self.batches.stop(self.staff(who), batch_id, BatchStopBody(reason="errado"))

    def halt(self) -> None:
        """Stop the payouts of the account."""
        now = self.clock.now()
        stop = Stop(
            id="stop-1",
            scope=StopScope.ACCOUNT,
            subject=ACCOUNT,
            reason="checking",
            created_by="ana",
            created_at=now,
            ends_at=now + timedelta(hours=1),
        )
        self.stops.append(stop)

    @property
    def paid(self) -> list[str]:
        """The keys under which the bank was sent payouts."""
        return [each.provider_key for each in self.node.bank.orders]


async def opened(store: Store) -> BatchWorld:
    """Open a world over a store that has the account and none of these people."""
    clock, stops = Clock(at=NOW), list[Stop]()
    ids = iter(f"00000000-0000-4000-8000-{number:012}" for number in range(1000))
    for each in (MARIA, OLGA, JOAO, EVA, BOTH):
        user = User(
            id=each.user_id,
            email=each.email,
            name=each.name,
            password="",
            roles=each.roles,
            companies=each.companies,
            created_at=NOW,
            updated_at=NOW,
        )
        await store.identity.users.add(user, event())

    async def in_force() -> list[Stop]:
        return [each for each in stops if each.ends_at > clock.now()]

    async def since(_at: datetime) -> list[Stop]:
        return [each for each in stops if each.ends_at > _at]

    node = PayoutWorld(store.payouts, ScriptedBank(), clock)
    node.build(stops=in_force)
    config = approval_config(clock.now, lambda: next(ids))
    approvals = approvals_on(store, config)
    batches = Batches(
        records=BatchRecords(store.database),
        accounts=store.accounts,
        payouts=node.payouts,
        oddities=Oddities(
            database=store.database,
            digests=TaxNumberDigests(KEYS.derivation.keys(LABEL)).every,
            hold_above=Money(100_000),
        ),
        audit=store.audit,
        exports=exports(),
        new_id=lambda: next(ids),
        seal=config.seal,
        open=config.open,
        wait=approvals.wait,
    )

    async def find(batch_id: str) -> Batch | None:
        found = await batches.records.find(batch_id, EVERY_COMPANY)
        return None if found is None else found.batch

    approvals.executors[ApprovalKind.BATCH] = BatchOrders(
        find=find, paying_account=batches.paying_account, begin=batches.begin, now=clock.now
    )
    payers = Payers(
        accounts=store.accounts,
        credentials=store.credentials,
        users=store.identity.users,
        stops_since=since,
        now=clock.now,
    )
    worker = BatchWorker(
        records=batches.records,
        payouts=node.payouts,
        payers=payers,
        payout=batches.payout,
        now=clock.now,
    )
    return BatchWorld(store, node, clock, approvals, batches, worker, stops)
