"""Reads files of archives without the database: their faults, and the payouts in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gateway.archive import lines
from gateway.archive.folder import ArchiveFolder, Damaged
from gateway.archive.model import ArchiveFile, month_of
from gateway.payouts.model import hidden_destination


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is not as its manifest, or the database, says."""

    file: str
    fault: str


def faults(folder: ArchiveFolder) -> Iterator[Fault]:
    """Compare every file with its manifest: digest, number of payouts, sum, account and month."""
    for name in folder.names():
        manifest = folder.manifest(name)
        if manifest is None or manifest.name != name:
            yield Fault(name, "has no manifest of its own")
            continue
        try:
            if fault := _fault(folder, manifest):
                yield Fault(name, fault)
        except Damaged as problem:
            yield Fault(name, str(problem))


def unlike(folder: ArchiveFolder, noted: ArchiveFile) -> Fault | None:
    """Compare a file's manifest with what the database has noted of it."""
    manifest = folder.manifest(noted.name)
    if manifest is None:
        return Fault(noted.name, "is in the database's list, and not in the folder")
    same = ("sha256", "payouts", "centavos")
    if any(getattr(manifest, each) != getattr(noted, each) for each in same):
        return Fault(noted.name, "is not the one in the database's list")
    return None


def find(folder: ArchiveFolder, name: str, account_id: str = "") -> Iterator[Mapping[str, Any]]:
    """
    Return each payout of this reference, end-to-end id or provider key, with the name of its file.

    A person's tax number and key are masked. Raises ``Damaged`` for a file that cannot be read.
    """
    for file in folder.names():
        if account_id and not file.startswith(f"{account_id}/"):
            continue
        for written in folder.lines(file):
            payout = _read(file, written)
            if name in {payout["reference"], payout["e2e_id"], payout["provider_key"]}:
                sent = hidden_destination(payout["destination_sent"])
                shown = {key: value for key, value in payout.items() if key != "destination"}
                yield {"file": file, **shown, "destination_sent": sent}


def _fault(folder: ArchiveFolder, manifest: ArchiveFile) -> str:
    if folder.sha256(manifest.name) != manifest.sha256:
        return "has another digest than its manifest"
    payouts = centavos = 0
    for written in folder.lines(manifest.name):
        payout = _read(manifest.name, written)
        created = datetime.fromisoformat(payout["created_at"])
        if (payout["account_id"], month_of(created)) != (manifest.account_id, manifest.month):
            return "has a payout of another account or month"
        payouts += 1
        centavos += payout["centavos"]
    if (payouts, centavos) != (manifest.payouts, manifest.centavos):
        return f"has {payouts} payouts of {centavos} centavos, and not as many as its manifest"
    return ""


def _read(name: str, written: bytes) -> Mapping[str, Any]:
    try:
        return lines.read(written)
    except ValueError as problem:
        message = f"{name}: {problem}"
        raise Damaged(message) from problem
