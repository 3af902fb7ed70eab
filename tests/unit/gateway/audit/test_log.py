"""The keys of the audit log come from the sealing keys, each for one purpose."""

from __future__ import annotations

import base64
from pathlib import Path

import msgspec

from gateway.audit.log import audit_keys
from gateway.config.settings import Sealing, Settings
from gateway.config.values import Secret
from gateway.security.keys import load_keys

OLD, NEW = (Secret(base64.b64encode(each * 32).decode()) for each in (b"o", b"n"))


def settings(folder: Path, sealing: Sealing) -> Settings:
    return msgspec.structs.replace(Settings(), var=str(folder), sealing=sealing)


def test_a_retired_sealing_key_still_proves_and_the_new_one_seals(tmp_path: Path):
    before = audit_keys(load_keys(settings(tmp_path, Sealing(key=OLD))))
    after = audit_keys(load_keys(settings(tmp_path, Sealing(key=NEW, retired_keys={"old": OLD}))))

    assert after.current != before.current
    assert after.events[before.current] == before.events[before.current]
    assert after.heads[before.current] == before.heads[before.current]
    made = [*after.events.values(), *after.heads.values()]
    assert len(set(made)) == len(made) == 4
