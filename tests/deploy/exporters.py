"""
Series of others that rules and dashboards rest on, each with the labels of its own.

HAProxy's are scraped in ``test_scraping.py``. Those of the exporters are as their sources of the
versions in compose.yaml have them; redis_exporter, node_exporter and blackbox_exporter of Debian
show the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

_TABLE = frozenset({"datname", "schemaname", "relname"})
_FILES = frozenset({"device", "fstype", "mountpoint"})
_SLOT = frozenset({"slot_name", "slot_type"})
_SERVER = frozenset({"proxy", "server"})
_STANDBY = frozenset({"application_name", "client_addr", "slot_name", "state"})
_NONE: AbstractSet[str] = frozenset()

FOREIGN: Mapping[str, AbstractSet[str]] = {
    # Prometheus itself, for every scrape; its client library, for every process
    "up": _NONE,
    "scrape_samples_scraped": _NONE,
    "process_open_fds": _NONE,
    "process_max_fds": _NONE,
    # HAProxy
    "haproxy_backend_active_servers": frozenset({"proxy"}),
    "haproxy_backend_http_responses_total": frozenset({"proxy", "code"}),
    "haproxy_frontend_http_responses_total": frozenset({"proxy", "code"}),
    "haproxy_frontend_current_sessions": frozenset({"proxy"}),
    "haproxy_server_http_responses_total": _SERVER | {"code"},
    "haproxy_server_connection_errors_total": _SERVER,
    "haproxy_server_status": _SERVER | {"state"},
    # blackbox_exporter
    "probe_success": _NONE,
    "probe_duration_seconds": _NONE,
    "probe_ssl_earliest_cert_expiry": _NONE,
    # postgres_exporter
    "pg_up": _NONE,
    "pg_database_size_bytes": frozenset({"datname"}),
    "pg_replication_lag_seconds": _NONE,
    "pg_replication_slot_slot_is_active": _SLOT,
    "pg_stat_replication_pg_wal_lsn_diff": _STANDBY,
    "pg_stat_user_tables_n_dead_tup": _TABLE,
    "pg_stat_user_tables_n_live_tup": _TABLE,
    # node_exporter
    "node_filesystem_avail_bytes": _FILES,
    "node_filesystem_size_bytes": _FILES,
    # redis_exporter
    "redis_up": _NONE,
    "redis_memory_used_bytes": _NONE,
    "redis_memory_max_bytes": _NONE,
    "redis_commands_duration_seconds_total": frozenset({"cmd"}),
    "redis_commands_total": frozenset({"cmd"}),
}
