"""The work that is done for an answer: digests of passwords and statements to the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from sqlalchemy import event

from gateway.app.store import Store
from gateway.identity import passwords
from gateway.store.kernel.batching import BatchQueue

Work = list[str]
"""Digests with their cost, and statements, in order."""


@contextmanager
def recording(store: Store) -> Iterator[Work]:
    """Record all work of this process for identity; clear the list between two requests."""
    done: Work = []
    ask = BatchQueue[Any, Any].ask

    async def asked(queue: BatchQueue[Any, Any], item: object) -> object:
        done.append("a look-up in a batch")
        return await ask(queue, item)

    class Digests:
        def __new__(cls, **cost: Any) -> Any:
            done.append("a digest m={memory_cost},t={iterations},p={lanes}".format(**cost))
            return Argon2id(**cost)

        @staticmethod
        def verify_phc_encoded(secret: bytes, phc: str) -> None:
            done.append(f"a digest {phc.split('$')[3]}")
            Argon2id.verify_phc_encoded(secret, phc)

    def sent(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        done.append(statement)

    with ExitStack() as ending:
        ending.enter_context(patch.object(BatchQueue, "ask", asked))
        ending.enter_context(patch.object(passwords, "Argon2id", Digests))
        databases = (store.database.reader, store.database.writer)
        for engine in {each.pool: each.sync_engine for each in databases}.values():
            event.listen(engine, "before_cursor_execute", sent)
            ending.callback(event.remove, engine, "before_cursor_execute", sent)
        yield done
