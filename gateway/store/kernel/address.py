"""The store's database URL, and its accepted forms."""

from __future__ import annotations

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}
_PARAMETERS = frozenset(
    {"host", "pooler", "port", "ssl", "sslmode", "sslrootcert", "target_session_attrs"}
)
# The gateway writes: a standby is of no use to it.
_SESSIONS = frozenset({"any", "primary", "read-write"})
_CHECKS_CERTIFICATE = frozenset({"require", "verify-ca", "verify-full"})


def address(url: str) -> URL:
    """
    Parse a store's URL, and add our driver.

    ``sqlite:///var/pixgate.db`` (three slashes and a path; four for an absolute
    one) or ``postgresql://user:password@host:5432/name``, where ``host`` (several
    times, each with its port), ``port``, ``ssl``, libpq's ``sslmode``,
    ``sslrootcert`` and ``target_session_attrs``, and ``pooler`` (see ``poolers``)
    may follow as parameters.

    Raises:
        ValueError: for any other form; the URL is not repeated, it may hold a
            password.
    """
    try:
        given = make_url(url)
    except (ArgumentError, ValueError):
        problem = "the store's URL cannot be read"
        raise ValueError(problem) from None
    driver = _DRIVERS.get(given.drivername)
    if driver is None:
        problem = "a store's URL begins with sqlite:/// or postgresql://"
        raise ValueError(problem)
    known = given.set(drivername=driver)
    return _sqlite(known) if is_sqlite(known) else _postgres(known)


def is_sqlite(url: URL) -> bool:
    """Return whether the store is an SQLite file."""
    return url.get_backend_name() == "sqlite"


def _sqlite(url: URL) -> URL:
    if url.host or url.query or url.database in {None, "", ":memory:"}:
        problem = "an SQLite store is a file: sqlite:/// and its path, nothing else"
        raise ValueError(problem)
    return url


def _postgres(url: URL) -> URL:
    if not url.database:
        problem = "a PostgreSQL store's URL ends in a database's name"
        raise ValueError(problem)
    if not url.query.keys() <= _PARAMETERS:
        problem = f"a PostgreSQL store's URL takes {', '.join(sorted(_PARAMETERS))} only"
        raise ValueError(problem)
    repeated = {name for name, given in url.query.items() if not isinstance(given, str)} - {"host"}
    if repeated:
        problem = f"a PostgreSQL store's URL takes {', '.join(sorted(repeated))} once"
        raise ValueError(problem)
    hosts = url.query.get("host", "")
    if not isinstance(hosts, str) and not all(":" in each for each in hosts):
        problem = "a PostgreSQL store's URL gives each of several hosts its port: host=a:5432"
        raise ValueError(problem)
    if url.query.get("target_session_attrs", "any") not in _SESSIONS:
        problem = f"a PostgreSQL store's URL has target_session_attrs of {_either(_SESSIONS)}"
        raise ValueError(problem)
    mode = url.query.get("sslmode")
    bare = url.difference_update_query(["sslmode"])
    named = bare if mode is None else bare.update_query_dict({"ssl": mode})
    if "sslrootcert" in named.query and named.query.get("ssl") not in _CHECKS_CERTIFICATE:
        problem = f"a store's URL with sslrootcert has sslmode {_either(_CHECKS_CERTIFICATE)}"
        raise ValueError(problem)
    return named


def _either(words: frozenset[str]) -> str:
    return " or ".join(sorted(words))
