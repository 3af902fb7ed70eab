"""Changes of a store by an attacker with the database's own rights."""

from sqlalchemy import Delete, Update, text

from gateway.app.store import Store

_UNGUARDED = {
    "sqlite": [
        *("DROP TRIGGER IF EXISTS audit_no_update", "DROP TRIGGER IF EXISTS audit_no_delete"),
        "DROP TRIGGER IF EXISTS audit_head_sealed",
    ],
    "postgresql": [
        "ALTER TABLE audit DISABLE TRIGGER USER",
        "ALTER TABLE audit_head DISABLE TRIGGER USER",
    ],
}


async def tampered(store: Store, *statements: str | Update | Delete) -> None:
    """Remove what guards the audit log, and execute statements."""
    async with store.database.writing() as connection:
        for statement in (*_UNGUARDED[connection.dialect.name], *statements):
            await connection.execute(text(statement) if isinstance(statement, str) else statement)
