"""
PgBouncer for tests, in front of a PostgreSQL: few sessions for many connections.

Found as ``pgbouncer`` in the path or in ``/usr/sbin``; else the tests skip.
"""

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from sqlalchemy import URL

from tests.servers.peer import found, listens
from tests.servers.process import free_port, serving, unprivileged

# As Debian ships it, but for where it listens, whom it lets in, and how many sessions it has.
CONFIG = """
[databases]
* = host=$host port=$port user=$user
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $listen
unix_socket_dir =
auth_type = any
pool_mode = $mode
default_pool_size = $sessions
max_client_conn = 200
"""


@contextmanager
def running(server: URL, mode: str, sessions: int) -> Iterator[URL]:
    """
    Keep PgBouncer running; give the server's address by way of it. Skips where there is none.

    Args:
        server: Of PostgreSQL; its user is let in without a password.
        mode: ``session`` or ``transaction``.
        sessions: How many it opens for each database.
    """
    program, port = found("pgbouncer"), free_port()
    account = unprivileged("postgres", "nobody")
    with tempfile.TemporaryDirectory(prefix="pixgate-pgbouncer-") as name:
        folder = Path(name)
        account.owns(folder)
        config = folder / "pgbouncer.ini"
        config.write_text(
            Template(CONFIG).substitute(
                host=server.host,
                port=server.port,
                user=server.username,
                listen=port,
                mode=mode,
                sessions=sessions,
            )
        )
        account.owns(config)
        with serving(
            [program, config],
            log=folder / "log",
            ready=lambda: listens(port),
            account=account,
            stop=signal.SIGINT,
        ):
            yield server.set(host="127.0.0.1", port=port)
