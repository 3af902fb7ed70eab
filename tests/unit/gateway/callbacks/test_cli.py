"""``pixgate callbacks``, and the callback address of the embedded sandbox bank."""

import json
import sqlite3
from contextlib import closing


def test_an_address_is_registered_at_the_bank_and_removed(shell, bank):
    """The sandbox bank's answer is shown, and the acts are audited without the address."""
    shell.says("demo")
    account = json.loads((shell.folder / "demo.json").read_text())["accounts"]["main"]["id"]
    (ours, _) = shell.reads("callbacks")

    (made,) = shell.reads("callbacks", "register", "--account", account)
    listed = shell.reads("callbacks", "list", "--account", account)
    left = shell.reads("callbacks", "remove", made["id"], "--account", account)

    assert (listed, made["url"], left) == ([made], ours["url"], [])
    with closing(sqlite3.connect(shell.folder / "pixgate.db")) as store:
        acts = store.execute("SELECT * FROM audit WHERE action LIKE 'callback.%'").fetchall()
    assert len(acts) == 2
    assert ours["url"].rpartition("/")[2] not in repr(acts)


def test_an_unknown_account_is_reported_in_one_line(shell, bank):
    unknown = "5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f"

    assert "no account" in shell.fails("callbacks", "list", "--account", unknown)
