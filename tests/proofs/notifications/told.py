"""
Print the seconds from an order to its mail at the mail server, and to its push message.

    .venv/bin/python -m tests.proofs.notifications.told [ORDERS]

First with the worker in the process that takes the order, then as if it were another process, which
is woken by nothing and looks every two seconds.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import msgspec

from gateway.approvals.service import Approvals
from gateway.config.identity import Identity, Mail
from gateway.config.settings import Events, Notifications, Settings
from gateway.core.approvals import ApprovalKind, NewOrder
from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from gateway.notifications.model import Choice, NewSubscription
from gateway.notifications.store import NotificationRecords
from tests.world.deliveries import Receiver, receiving, with_status
from tests.world.gateway.world import World, opened, sandbox
from tests.world.notifications import PUSH_KEY, a_browser, encoded
from tests.world.people import CLI, somebody

EMAIL = "told@example.com"
PASSWORD = "uma frase bem comprida"
ORDERS = 20
_GOES_ON = b"354 go on\r\n"
_WELL = b"250 yes\r\n"


@dataclass(slots=True)
class Post:
    """A mail server that notes when it took a mail."""

    port: int = 0
    mails: list[str] = field(default_factory=list)
    arrival: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 post\r\n")
        while line := await reader.readline():
            if line.upper().startswith(b"DATA"):
                writer.write(_GOES_ON)
                mail = (await reader.readuntil(b"\r\n.\r\n")).decode()
                if f"To: {EMAIL}" in mail:  # the demo's people are told, too
                    self.mails.append(mail)
                    self.arrival.set()
            writer.write(b"221 bye\r\n" if line.upper().startswith(b"QUIT") else _WELL)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def posting() -> AsyncIterator[Post]:
    post = Post()
    server = await asyncio.start_server(post.serve, "127.0.0.1", 0)
    post.port = server.sockets[0].getsockname()[1]
    async with server:
        yield post


def settings(folder: Path, post: Post) -> Settings:
    mail = Mail(host="127.0.0.1", port=post.port, encryption="none")
    return msgspec.structs.replace(
        sandbox(folder),
        identity=Identity(mail=mail),
        events=Events(allow_local=True),
        notifications=Notifications(push_key=PUSH_KEY),
    )


async def told(world: World, post: Post, receiver: Receiver, orders: int) -> list[list[float]]:
    """Order, and return the seconds to each mail and to each push message."""
    approvals, seconds = world.gateway.services.approvals, []
    for number in range(orders):
        post.arrival.clear()
        receiver.arrival.clear()
        began = time.monotonic()
        await _order(approvals, number)
        waits = [_until(post.arrival, began), _until(receiver.arrival, began)]
        seconds.append(list(await asyncio.gather(*waits)))
        await forget(world)
        await asyncio.sleep(0.37)  # not in step with what looks every two seconds
    return seconds


async def forget(world: World) -> None:
    """Let the next order be the first one of its minute, which is told at once."""
    database = world.gateway.kernel.store.database
    await NotificationRecords(database).forget(world.gateway.kernel.now() + timedelta(days=1))


async def _order(approvals: Approvals, number: int) -> None:
    wanted = NewOrder(kind=ApprovalKind.INVITATION, text="{}", reference=f"told-{number}")
    await approvals.wait(somebody(Role.SECURITY, user_id="somebody else"), wanted)


async def _until(arrival: asyncio.Event, began: float) -> float:
    await arrival.wait()
    return time.monotonic() - began


async def measure(orders: int, *, is_woken: bool) -> None:
    browser = a_browser()
    folder = Path(tempfile.mkdtemp())
    async with (
        posting() as post,
        receiving(with_status(201)) as receiver,
        opened(settings(folder, post)) as world,
    ):
        services = world.gateway.services
        order = InvitationBody(email=EMAIL, name="Told", roles=[Role.APPROVER])
        user = await services.identity.users.create(CLI, order, PASSWORD)
        who = replace(CLI, person=somebody(Role.APPROVER, user_id=user.id))
        await services.notifications.choose(who, Choice(quiet_from="", quiet_until=""))
        wanted = NewSubscription(
            endpoint=receiver.url, public=encoded(browser.public), auth=encoded(browser.auth)
        )
        await services.notifications.subscribe(who, wanted, "told")
        if not is_woken:
            config = replace(services.approvals.config, stored=lambda: None)
            object.__setattr__(services.approvals, "config", config)
        await world.run_task("mail")
        await asyncio.sleep(3)
        seconds = await told(world, post, receiver, orders)
    counts = len(post.mails), len(receiver.came)
    for name, each, count in zip(("mail", "push"), zip(*seconds, strict=True), counts, strict=True):
        middle, most = sorted(each)[len(each) // 2], max(each)
        where = "same process" if is_woken else "another process"
        sys.stdout.write(f"{where}: {orders} orders, {count} by {name},")
        sys.stdout.write(f" after {middle:.2f} s, at most {most:.2f} s\n")


async def main(orders: int) -> None:
    for is_woken in (True, False):
        await measure(orders, is_woken=is_woken)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else ORDERS))
