"""Two releases of pixgate: this tree, and a copy of it whose schema is one migration ahead."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from gateway.store import schema
from tests.proofs.torture.processes import ROOT

_PARTS = ("gateway", "policies", "provider_adapters", "config.yaml")
_NEXT = f"{int(schema.REVISIONS[-1]) + 1:04}"
_MIGRATION = f'''
"""A column, a table and an index that the release before does not know."""

import sqlalchemy as sa
from alembic import op

revision = "{_NEXT}"
down_revision = "{schema.REVISIONS[-1]}"
compatible_with = "{schema.COMPATIBLE_WITH}"
branch_labels = None
depends_on = None


def upgrade():
    op.add_column("payouts", sa.Column("channel", sa.Text(), server_default="api", nullable=False))
    op.create_table("channels", sa.Column("name", sa.Text(), primary_key=True))
    op.create_index("ix_payouts_channel", "payouts", ["channel"])


def downgrade():
    op.drop_index("ix_payouts_channel", "payouts")
    op.drop_table("channels")
    op.drop_column("payouts", "channel")
'''


@dataclass(frozen=True, slots=True)
class Release:
    """
    A tree of code.

    Attributes:
        schema: What its processes were written for.
    """

    root: Path
    schema: str

    async def does(self, config: Path, *arguments: str) -> str:
        """Run ``pixgate`` of this release to its end; return what it said. It must succeed."""
        done = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", *arguments, "--config", config),
            cwd=self.root,
            env={**os.environ},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await done.communicate()
        assert done.returncode == 0, said.decode()
        return said.decode()


OLD = Release(ROOT, schema.REVISIONS[-1])


def newer_release(folder: Path) -> Release:
    """Copy this tree, and give the copy a migration of its own and a column that it uses."""
    for each in _PARTS:
        copy = shutil.copytree if (ROOT / each).is_dir() else shutil.copy
        copy(ROOT / each, folder / each)
    versions = folder / "gateway/store/migrations/versions"
    (versions / f"{_NEXT}_channels.py").write_text(_MIGRATION)
    declared = ", ".join(f'"{each}"' for each in schema.REVISIONS)
    _changed(
        folder / "gateway/store/schema.py",
        f"REVISIONS = ({declared},)",
        f'REVISIONS = ({declared}, "{_NEXT}")',
    )
    _changed(
        folder / "gateway/store/tables/core.py",
        '    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),\n'
        '    Column("reference_sha256", LargeBinary, primary_key=True),\n'
        '    Column("reference", BY_CODE_POINT',
        '    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),\n'
        '    Column("channel", Text, server_default="api", nullable=False),\n'
        '    Column("reference_sha256", LargeBinary, primary_key=True),\n'
        '    Column("reference", BY_CODE_POINT',
    )
    return Release(folder, _NEXT)


def _changed(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1, f"{file} has changed"
    file.write_text(text.replace(old, new))
