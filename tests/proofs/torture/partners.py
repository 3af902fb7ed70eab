"""Partners: they pay, and when something fails they do what the contract says."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from random import Random

import aiohttp
import msgspec

from tests.proofs.torture.sites import Account, Site

LOST = 0
"""The status of an answer that never came."""

_TRIES = 14
# For a gateway that serves: twenty times, a fifth of a second apart.
_LOOKS, _LOOK_S = 20, 0.2
_FINAL = ("paid", "failed")
_AGAIN = (LOST, 429, 502, 503)


@dataclass(slots=True, kw_only=True)
class Life:
    """
    One payout as its partner knows it.

    Attributes:
        taken: Answered 200 at least once, on creation.
        refused: Answered 400 or 403 ``SVC.PIX.010`` on creation.
        seen: The last status read that is not ``processing``.
        odd: What no partner should ever be answered.
    """

    site: Site
    account: Account
    reference: str
    centavos: int
    taken: bool = False
    refused: bool = False
    seen: str = ""
    odd: list[str] = field(default_factory=list)

    def order(self, day: date, more: int = 0) -> bytes:
        """Write the request; ``more`` centavos make another content of it."""
        centavos = self.centavos + more
        return msgspec.json.encode(
            {
                "method": "pix",
                "reference": self.reference,
                "value": centavos / 100,
                "date": day.isoformat(),
                "destination": {
                    "name": "Maria Silva",
                    "tax_number": "52998224725",
                    "key_type": "email",
                    # Nearly everybody is paid once: what goes to one new payee is held in sum.
                    "key": f"maria{centavos}@example.com",
                },
            }
        )


@dataclass(slots=True, kw_only=True)
class Partners:
    """
    What all partners share.

    Attributes:
        today: The day it is for gateways and bank.
        answers: Counts every answer.
        go_on: Whether it is still worth trying again.
    """

    session: aiohttp.ClientSession
    chance: Random
    today: Callable[[], date]
    answers: Counter[str]
    go_on: Callable[[], bool] = lambda: True

    async def live(self, life: Life) -> None:
        """Pay once, however often it has to be asked; some give up, some ask twice at once."""
        for attempt in range(_TRIES):
            twice = attempt == 0 and self.chance.random() < 0.08
            posts = [self._post(life) for _ in range(2 if twice else 1)]
            done = await asyncio.gather(*posts)
            if all(done) or self.chance.random() < 0.02 or not self.go_on():
                break
            await asyncio.sleep(min(3.0, 0.1 * 2**attempt) * (0.5 + self.chance.random()))
        if life.taken and self.chance.random() < 0.05:
            await self._contradict(life)
        if self.chance.random() < 0.4:
            await self.read(life)

    async def read(self, life: Life) -> int:
        """
        Read a payout by its reference, and check it against what was known before it was asked.

        Two may read at once, and the slower one may bring the older answer: that is no step back.
        """
        path = f"/baas/v1/account/{life.account.id}/withdraw/{life.reference}"
        seen, taken = life.seen, life.taken
        status, document = await self._call(life, "GET", path, None)
        shown = str(document.get("status", ""))
        if status == 200 and seen and shown != seen:
            life.odd.append(f"was {seen}, is {shown}")
        elif status == 404 and taken:
            life.odd.append("was answered 200 and is not found")
        elif status not in (200, 404, 500, 503, 429, LOST):
            life.odd.append(f"read: {status} {document.get('code')}")
        if status == 200 and shown in _FINAL:
            if life.seen not in ("", seen, shown):
                life.odd.append(f"is {life.seen} and {shown} at once")
            life.seen = shown
        return status

    async def _post(self, life: Life) -> bool:
        """Ask once; True when there is nothing more to ask."""
        path = f"/baas/v1/account/{life.account.id}/withdraw"
        day = self.today()
        status, document = await self._call(life, "POST", path, life.order(day))
        if status == 500:
            return await self._after_failure(life)
        return self._judge(life, status, document, turned=day != self.today())

    def _judge(self, life: Life, status: int, document: dict[str, object], *, turned: bool) -> bool:
        code = document.get("code")
        if status == 200:
            life.taken = True
            if document.get("status") != "processing":
                life.odd.append(f"created as {document.get('status')}")
            return True
        if status in (400, 403) and code == "SVC.PIX.010":
            life.refused = True
            return True
        if status not in _AGAIN and not (turned and code == "SVC.VAL.008"):
            life.odd.append(f"created: {status} {code}")
        return False

    async def _after_failure(self, life: Life) -> bool:
        """Look the reference up first, as the contract says after a 500."""
        for pause in (0.1, 0.3, 0.6, 1.2):
            status = await self.read(life)
            if status in (200, 404):
                return status == 200
            await asyncio.sleep(pause)
        return False

    async def _contradict(self, life: Life) -> None:
        """Ask for something else under a reference that is taken: never accepted."""
        path = f"/baas/v1/account/{life.account.id}/withdraw"
        status, document = await self._call(life, "POST", path, life.order(self.today(), more=1))
        refused = status == 400 and document.get("code") == "SVC.PIX.010"
        if not refused and status not in (*_AGAIN, 500):
            life.odd.append(f"other content: {status} {document.get('code')}")

    async def _call(
        self, life: Life, method: str, path: str, body: bytes | None
    ) -> tuple[int, dict[str, object]]:
        """Call a gateway of the site, and hang up when it takes too long."""
        base = await self._gateway(life)
        patience = aiohttp.ClientTimeout(total=self.chance.choice((0.4, 3.0, 8.0, 8.0)))
        headers = {"Authorization": life.account.authorization, "Content-Type": "application/json"}
        try:
            async with self.session.request(
                method, base + path, data=body, headers=headers, timeout=patience
            ) as said:
                raw, status = await said.read(), said.status
        except (aiohttp.ClientError, TimeoutError, OSError):
            self.answers[f"{method} lost"] += 1
            return LOST, {}
        document: dict[str, object] = msgspec.json.decode(raw)
        self.answers[f"{method} {status} {document.get('code', '')}".strip()] += 1
        return status, document

    async def _gateway(self, life: Life) -> str:
        """Choose a gateway that serves; while none does, calls would only cost time."""
        commands = life.site.commands
        for _ in range(_LOOKS):
            if up := [base for base, command in commands.items() if command.serves]:
                return self.chance.choice(up)
            if not self.go_on():
                break
            await asyncio.sleep(_LOOK_S)
        return self.chance.choice(list(commands))
