"""The receiver in Node of the partners' page, with the library of Standard Webhooks for it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.servers.clients import HOME
from tests.servers.demand import absent
from tests.world.deliveries import judged_receiver

PAGE = Path(__file__).parents[3] / "docs/events.md"
PROGRAM = re.compile(r"^```js\n(// Take deliveries.*?)^```", re.MULTILINE | re.DOTALL)
LIBRARY = HOME / "node_modules" / "standardwebhooks"


async def test_the_receiver_in_node_verifies_what_comes(tmp_path: Path):
    node = shutil.which("node")
    if node is None or not LIBRARY.is_dir():
        absent("clients", "no node, or no library: run `make clients`")
    [program] = PROGRAM.findall(PAGE.read_text(encoding="utf-8"))
    file = tmp_path / "receiver.mjs"
    file.write_text(program, encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(HOME / "node_modules")

    answers, line = await judged_receiver([str(node), str(file)])

    assert answers == [204, 204, 401, 401]
    assert line == 'evt_1 payout.paid {"reference":"order-1"}\n'
