"""The process: its log, metrics, audit log, store, configuration, start and stop."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_AUDIT = "tests/contract/stores/test_audit.py"
_PROCESSES = "tests/contract/stores/test_processes.py"
_BREAKS = "tests/contract/stores/test_audit_breaks.py"
_COMMANDS = "tests/surfaces/cli/test_administration.py"
_AUDIT_CHAIN = "tests/unit/gateway/store/kernel/test_chain.py"
_WALK = "tests/unit/gateway/audit/test_walk.py"
_CHANGE_FEED = "tests/unit/gateway/app/test_kept_records_feed.py"
_EFFECTIVE = "tests/unit/gateway/config/test_effective.py"
_FOLLOW_UPS = "tests/contract/stores/test_follow_ups.py"
_IMPORTS = "tests/architecture/test_imports.py"
_METRICS = "tests/unit/gateway/telemetry/metrics/test_series.py"
_PARTITIONS = "tests/contract/stores/test_partitions.py"
_PAYOUT_UPDATES = "tests/contract/stores/test_payout_updates.py"
_PAYOUT_RACES = "tests/contract/stores/test_payout_races.py"
_READING = "tests/unit/gateway/config/test_reading.py"
_ADMISSION = "tests/unit/gateway/http/test_admission.py"
_SHEDDING = "tests/unit/gateway/http/test_server_shedding.py"
_PRIORITIES = "tests/unit/gateway/core/test_priority.py"
_PERSON_QUOTA = "tests/unit/policies/traffic/test_quota_person_quota.py"
_REDACTION = "tests/unit/gateway/telemetry/logs/test_redaction.py"
_REGISTRY = "tests/unit/gateway/telemetry/metrics/test_registry.py"
_RENDERING = "tests/unit/gateway/http/test_rendering.py"
_RUNNING = "tests/unit/gateway/app/test_lifecycle.py"
_SCHEMA = "tests/contract/stores/test_schema.py"
_SQLITE = "tests/unit/gateway/store/kernel/test_sqlite.py"
_WIRE = "tests/surfaces/wire/test_raw_socket_probes.py"

_STORE_CHECK = "tests/unit/gateway/app/test_store_check.py"
_READINESS = "tests/unit/gateway/app/test_readiness.py"
_CLOCK = "tests/unit/gateway/store/kernel/test_clock.py"
_FULL_DISK = "tests/contract/stores/test_full_disk.py"

ROWS = (
    Mistake(
        name="trial-write-without-room",
        promise="A full disk of the server is seen before a payout cannot be stored.",
        source="ADR 0066, docs/database.md",
        file="gateway/store/kernel/postgres.py",
        right="ARRAY[32]))) = 32",
        wrong="ARRAY[1]))) = 1",
        tests=(f"{_FULL_DISK}::test_a_full_tablespace_fails_the_trial_write",),
    ),
    Mistake(
        name="full-store-tried-four-times-a-minute",
        promise="Payouts are taken within a second of there being room again.",
        source="ADR 0066, docs/database.md",
        file="gateway/app/store_check.py",
        right="_WATCHED_S if is_well else _RECENT_S",
        wrong="_WATCHED_S",
        tests=(f"{_STORE_CHECK}::test_a_refusing_store_is_tested_each_second",),
    ),
    Mistake(
        name="store-that-is-away-refuses-payouts-as-full",
        promise="A store that does not answer for a moment refuses no payout.",
        source="ADR 0066",
        file="gateway/app/store_check.py",
        right="isinstance(problem, WritesRefused)",
        wrong="isinstance(problem, StoreUnavailable)",
        tests=(f"{_STORE_CHECK}::test_a_full_or_read_only_store_refuses_payouts",),
    ),
    Mistake(
        name="wrong-clock-is-ready",
        promise="A process whose clock is wrong is not ready.",
        source="ADR 0066, docs/reliability.md",
        file="gateway/app/readiness.py",
        right='"clock": self.check.clock.is_in_step(),',
        wrong='"clock": True,',
        tests=(f"{_READINESS}::test_a_process_with_a_wrong_clock_is_not_ready",),
    ),
    Mistake(
        name="lease-by-the-process-s-own-clock",
        promise="What a payout's instants are written by and compared with is one clock.",
        source="ADR 0066, docs/reliability.md",
        file="gateway/app/build_payouts.py",
        right="environment=settings.environment,\n            now=kernel.shared_now,",
        wrong="environment=settings.environment,\n            now=kernel.now,",
        tests=("tests/proofs/operating/test_clock.py::test_a_clock_change_loses_no_money",),
    ),
    Mistake(
        name="due-by-the-process-s-own-clock",
        promise="What is due is judged by the database's clock, whatever the wall clock does.",
        source="ADR 0066, docs/reliability.md",
        file="gateway/store/kernel/clock.py",
        right="        return self._at_zero + timedelta(seconds=self._monotonic())",
        wrong="        return self._now()",
        tests=(f"{_CLOCK}::test_a_wall_clock_jump_has_no_effect_and_is_noticed_at_once",),
    ),
    Mistake(
        name="whole-request-refused-with-what-is-behind-it",
        promise="A connection's last request is answered, whatever bytes are behind it.",
        source="decisions 2 (step 1)",
        file="gateway/net/server/front.py",
        right="                self._behind_last = behind\n",
        wrong="                pass\n",
        tests=(f"{_WIRE}::test_bytes_after_a_last_request_are_ignored",),
    ),
    Mistake(
        name="two-blanks-read-as-one",
        promise="A request line with two blanks in a row is refused.",
        source="decisions 2 (step 1)",
        file="gateway/net/server/front.py",
        right="if _TWO_BLANKS in line or ",
        wrong="if ",
        tests=(f"{_WIRE}::test_a_malformed_request_gets_our_error_answer",),
    ),
    Mistake(
        name="any-field-in-the-log",
        promise="A log field that nobody allowed is masked.",
        source="decisions 7, docs/operations.md",
        file="gateway/telemetry/logs/redaction.py",
        right="_clean(value, depth) if name in ALLOWED else MASK",
        wrong="_clean(value, depth)",
        tests=(f"{_REDACTION}::test_a_field_not_allowed_is_hidden",),
    ),
    Mistake(
        name="client-secret-in-the-log",
        promise="A client secret in a text is masked.",
        source="decisions 3, docs/operations.md",
        file="gateway/telemetry/logs/redaction.py",
        right='        (r"gws_[\\w-]*", f"gws_{MASK}"),\n',
        wrong="",
        tests=(f"{_REDACTION}::test_a_secret_in_a_text_is_hidden",),
    ),
    Mistake(
        name="exception-text-in-an-answer",
        promise="An answer says our words, never those of a bank or an exception.",
        source="decisions 5",
        file="gateway/http/rendering.py",
        right="    return ServiceError(error, reason, headers)",
        wrong="    return ServiceError(error, reason, headers, detail=str(problem))",
        tests=(f"{_RENDERING}::test_an_exception_is_translated_to_its_route_s_code",),
    ),
    Mistake(
        name="label-from-a-caller",
        promise="A metric's label holds none of a caller's words.",
        source="docs/metrics.md",
        file="gateway/telemetry/metrics/registry.py",
        right="value if allowed is None or value in allowed else OTHER",
        wrong="value if allowed is None or value else OTHER",
        tests=(
            f"{_REGISTRY}::test_a_value_outside_the_allowed_set_adds_no_series",
            f"{_METRICS}::test_no_label_can_contain_a_caller_s_text",
        ),
    ),
    Mistake(
        name="audit-events-not-linked",
        promise="Each event of the audit log is chained to the one before.",
        source="ADR 0015",
        file="gateway/store/kernel/chain.py",
        right="content = previous + json.dumps(",
        wrong="content = json.dumps(",
        tests=(_AUDIT_CHAIN,),
    ),
    Mistake(
        name="command-under-a-typed-name-alone",
        promise="Each act of the command line names the system's user, whatever `--by` says.",
        source="docs/log.md",
        file="gateway/audit/store.py",
        right='{**each.details, "os_user": os_user}) if os_user else each',
        wrong="each.details) if os_user else each",
        tests=(f"{_COMMANDS}::test_every_act_of_a_command_names_the_system_s_user",),
    ),
    Mistake(
        name="unsealed-audit-head-believed",
        promise="A head without a seal is broken, except before the first event.",
        source="ADR 0015",
        file="gateway/audit/walk.py",
        right="if not head.key_id or not hmac.compare_digest(",
        wrong="if head.key_id and not hmac.compare_digest(",
        tests=(
            f"{_AUDIT}::test_tampering_is_found_and_named",
            f"{_WALK}::test_only_an_empty_log_has_a_head_without_a_seal",
        ),
    ),
    Mistake(
        name="audit-log-begun-anew-over-events",
        promise="A head that was reset while there are events is recorded as a break.",
        source="ADR 0015",
        file="gateway/audit/store.py",
        right="is_whole = head != BEGINNING or await _last(connection) == BEGINNING",
        wrong="is_whole = True",
        tests=(f"{_AUDIT}::test_later_events_do_not_repair_a_broken_log",),
    ),
    Mistake(
        name="audit-head-not-locked",
        promise="Writers of the audit log wait for each other on PostgreSQL.",
        source="ADR 0013, ADR 0005",
        file="gateway/audit/store.py",
        right="select(*_HEAD_COLUMNS).with_for_update()",
        wrong="select(*_HEAD_COLUMNS)",
        tests=(f"{_AUDIT}::test_events_of_many_writers_are_one_chain",),
    ),
    Mistake(
        name="accepted-break-of-any-content",
        promise="A verification passes an accepted break exactly as it was accepted.",
        source="decisions 11, ADR 0015",
        file="gateway/audit/walk.py",
        right="if each.found == stretch.until(row.number, each.found.problem):",
        wrong="if each.found.last == row.number:",
        tests=(f"{_BREAKS}::test_only_the_accepted_break_is_allowed",),
    ),
    Mistake(
        name="processes-register-without-turns",
        promise="Of processes with different keys that start at once, one is first.",
        source="decisions 11",
        file="gateway/store/kernel/processes.py",
        right="            await connection.execute(_LOCK)\n",
        wrong="",
        tests=(
            f"{_PROCESSES}::test_of_processes_with_different_keys_starting_at_once_one_registers",
        ),
    ),
    Mistake(
        name="sqlite-takes-its-lock-late",
        promise="A writing transaction on SQLite takes its lock at the beginning.",
        source="ADR 0005",
        file="gateway/store/kernel/sqlite.py",
        right='connection.exec_driver_sql("BEGIN IMMEDIATE")',
        wrong='connection.exec_driver_sql("BEGIN")',
        tests=(
            _SQLITE,
            _PAYOUT_RACES,
        ),
    ),
    Mistake(
        name="column-missing-in-a-migration",
        promise="The migrations make the tables that the code knows.",
        source="docs/operations.md",
        file="gateway/store/migrations/versions/0001_first.py",
        right="limit_payout_at_night limit_night; text? callers public_keys; ",
        wrong="limit_night; text? callers public_keys; ",
        tests=(f"{_SCHEMA}::test_the_migrations_make_the_tables_in_code",),
    ),
    Mistake(
        name="condition-missing-in-a-migration",
        promise="The migrations make the indexes that the code knows, with their conditions.",
        source="ADR 0039",
        file="gateway/store/migrations/versions/0001_first.py",
        right="\"client_id at WHERE client_id <> ''\"",
        wrong='"client_id at"',
        tests=(f"{_SCHEMA}::test_the_migrations_make_the_tables_in_code",),
    ),
    Mistake(
        name="row-without-a-partition-refused",
        promise="An order of a time that no partition is made for is stored.",
        source="ADR 0039",
        file="gateway/store/migrations/versions/0001_first.py",
        right="PARTITION OF {table} DEFAULT",
        wrong="PARTITION OF {table} FOR VALUES FROM (MINVALUE) TO ('2026-11-01')",
        tests=(f"{_PARTITIONS}::test_a_row_without_a_partition_is_stored_and_moved_later",),
    ),
    Mistake(
        name="partition-made-beside-writers",
        promise="An order that comes while its partition is made is stored.",
        source="ADR 0039",
        file="gateway/store/kernel/partitions.py",
        right="IN ACCESS EXCLUSIVE MODE",
        wrong="IN ACCESS SHARE MODE",
        tests=(f"{_PARTITIONS}::test_an_order_stored_while_its_partition_is_created_is_kept",),
    ),
    Mistake(
        name="partition-made-beside-readers",
        promise="A feed that is read while its partition is made misses no event.",
        source="ADR 0039, ADR 0073",
        file="gateway/store/kernel/partitions.py",
        right="IN ACCESS EXCLUSIVE MODE",
        wrong="IN SHARE ROW EXCLUSIVE MODE",
        tests=(
            (f"{_PARTITIONS}::test_a_feed_that_is_read_while_its_partition_is_created_is_complete"),
        ),
    ),
    Mistake(
        name="old-partition-in-use-stops-new-ones",
        promise="Partitions are made while an old one that should be dropped is in use.",
        source="docs/database.md",
        file="gateway/store/kernel/partitions.py",
        right="        now = database.now()\n        wanted = {",
        wrong="        for name in self._older(made, min(before, server_now - _YOUNG)):\n"
        '            await _do(database, _BRIEFLY, f"DROP TABLE {name}")\n'
        "        now = database.now()\n        wanted = {",
        tests=(f"{_PARTITIONS}::test_partitions_are_made_while_an_old_one_is_in_use",),
    ),
    Mistake(
        name="young-partition-dropped",
        promise="A process whose clock is ahead drops no partition that is young.",
        source="ADR 0039",
        file="gateway/store/kernel/partitions.py",
        right="min(before, server_now - _YOUNG)",
        wrong="before",
        tests=(
            f"{_PARTITIONS}::test_partitions_that_are_young_by_the_database_clock_are_not_dropped",
        ),
    ),
    Mistake(
        name="key-of-two-accounts",
        promise="A bank's key that two accounts have names the payout of neither.",
        source="decisions 9, ADR 0039",
        file="gateway/payouts/due.py",
        right="if len(own) == 1 else None",
        wrong="if own else None",
        tests=(f"{_FOLLOW_UPS}::test_a_provider_key_of_two_accounts_finds_neither_payout",),
    ),
    Mistake(
        name="trace-of-another-payout",
        promise="Calls of following up are logged and sent under the payout's own trace.",
        source="decisions 9",
        file="gateway/payouts/due.py",
        right=' AND tried.reference_sha256 = payouts.reference_sha256"',
        wrong='"',
        tests=(f"{_FOLLOW_UPS}::test_payouts_claimed_together_have_their_own_traces",),
    ),
    Mistake(
        name="index-that-every-step-writes",
        promise="No step of an ordinary payout changes a column of an index of payouts.",
        source="ADR 0068",
        file="gateway/store/migrations/versions/0001_first.py",
        right='            "method created_at",',
        wrong='            "method created_at", "next_check_at",',
        tests=(f"{_PAYOUT_UPDATES}::test_an_ordinary_payout_s_changes_touch_no_indexed_column",),
    ),
    Mistake(
        name="planned-at-the-bank-before",
        promise="A payout that is sent again at another bank is planned to be checked there.",
        source="ADR 0068",
        file="gateway/store/migrations/versions/0001_first.py",
        right="SET provider = excluded.provider, next_check_at",
        wrong="SET next_check_at",
        tests=(f"{_PAYOUT_UPDATES}::test_a_payout_sent_again_is_planned_at_its_new_bank",),
    ),
    Mistake(
        name="due-by-the-plan-alone",
        promise="A payout decides whether it is due; its plan may be older.",
        source="ADR 0068",
        file="gateway/payouts/due.py",
        right="return and_(payouts.c.next_check_at <= _at(), _free())",
        wrong="return _free()",
        tests=(f"{_PAYOUT_UPDATES}::test_a_planned_check_older_than_its_payout_is_not_due",),
    ),
    Mistake(
        name="downgrade-forgotten",
        promise="Every migration has a way down, and up again.",
        source="docs/operations.md",
        file="gateway/store/migrations/versions/0001_first.py",
        right="    _tables().drop_all(op.get_bind(), checkfirst=False)",
        wrong="    return",
        tests=(f"{_SCHEMA}::test_a_downgrade_to_base_leaves_no_table",),
    ),
    Mistake(
        name="change-feed-not-heard",
        promise="What another process changed is forgotten here within a second.",
        source="decisions 11 (believed for how long)",
        file="gateway/app/kept_records.py",
        right='                self._kept.forget(act, "feed")',
        wrong="                continue",
        tests=(_CHANGE_FEED,),
    ),
    Mistake(
        name="term-stops-at-once",
        promise="SIGTERM: not ready at once, and requests are served a while longer.",
        source="decisions 2 (step 3)",
        file="gateway/app/lifecycle.py",
        right="if asked is signal.SIGTERM:",
        wrong="if asked is signal.SIGINT:",
        tests=(
            f"{_RUNNING}::test_sigterm_keeps_the_port_open_while_draining_and_sigint_closes_it",
        ),
    ),
    Mistake(
        name="unknown-setting-ignored",
        promise="A setting that nobody knows keeps the service from starting.",
        source="docs/operations.md",
        file="gateway/config/reading.py",
        right="if name not in known:",
        wrong="if not name and name not in known:",
        tests=(f"{_READING}::test_a_mistake_is_reported_with_the_path_of_its_setting",),
    ),
    Mistake(
        name="configuration-shows-a-secret",
        promise="The printed configuration shows no secret.",
        source="docs/operations.md",
        file="gateway/config/effective.py",
        right="if isinstance(value, (Secret, Address)):",
        wrong="if isinstance(value, Address):",
        tests=(f"{_EFFECTIVE}::test_no_secret_is_shown",),
    ),
    Mistake(
        name="core-imports-telemetry",
        promise="Imports go down: core knows nothing above it.",
        source="ADR 0001",
        file="gateway/core/windows.py",
        right="from datetime import UTC, date, datetime, time, timedelta, tzinfo\n",
        wrong=(
            "from datetime import UTC, date, datetime, time, timedelta, tzinfo\n"
            "\n"
            "from gateway.telemetry import ports\n"
        ),
        tests=(f"{_IMPORTS}::test_the_import_contracts_are_kept",),
    ),
    Mistake(
        name="payouts-shed-like-pages",
        promise="An overloaded process sheds payouts last.",
        source="decisions 2 (step 3), ADR 0062",
        file="gateway/http/admission.py",
        right="Priority.PAYOUTS: Limits(share=0.5, lag=8, waits=False)",
        wrong="Priority.PAYOUTS: Limits(share=0.5, lag=0.4, waits=False)",
        tests=(f"{_SHEDDING}::test_shed_classes_get_503_and_the_others_are_served",),
    ),
    Mistake(
        name="reader-refused-after-the-lag",
        promise="A reader who waited for a late event loop is served once it has caught up.",
        source="docs/operations.md",
        file="gateway/http/admission.py",
        right="        if self._lag.p95_s > self._lags_s[priority]:\n            self._count(",
        wrong="        if self._lags_s[priority] >= 0:\n            self._count(",
        tests=(f"{_ADMISSION}::test_a_lag_that_ends_meanwhile_refuses_no_user",),
    ),
    Mistake(
        name="class-takes-the-last-place-of-another",
        promise="No class of requests takes the last place of another.",
        source="ADR 0062",
        file="gateway/http/admission.py",
        right="        if self.held[priority] >= self.places[priority]:\n",
        wrong="        if sum(self.held) >= self.places[priority]:\n",
        tests=(f"{_ADMISSION}::test_a_full_class_leaves_the_slots_of_others",),
    ),
    Mistake(
        name="stranger-in-a-partner-s-place",
        promise="A request without a credential is shed with strangers, whatever it asks for.",
        source="decisions 2 (step 3), ADR 0062",
        file="gateway/http/server.py",
        right="            if credential is None or credential in request.headers:\n",
        wrong="            if credential is None or credential:\n",
        tests=(f"{_SHEDDING}::test_a_request_without_a_credential_is_shed_in_the_stranger_class",),
    ),
    Mistake(
        name="wrong-credential-in-a-payout-s-place",
        promise="A credential that is looked up takes no place of payouts.",
        source="ADR 0062",
        file="gateway/http/server.py",
        right="        if priority is None or call.principal is not None or",
        wrong="        if call is not None or",
        tests=(
            f"{_SHEDDING}::test_a_request_has_the_stranger_class_until_its_credential_is_known",
        ),
    ),
    Mistake(
        name="export-in-the-class-of-pages",
        promise="Files have places of their own under overload.",
        source="ADR 0062",
        file="gateway/statements/routes.py",
        right="        priority=Priority.HEAVY,\n",
        wrong="",
        tests=(f"{_PRIORITIES}::test_searches_exports_and_closings_are_heavy",),
    ),
    Mistake(
        name="search-of-banks-for-one-token",
        promise="A page costs a person as many tokens as it reads banks.",
        source="ADR 0062",
        file="policies/traffic/quota.py",
        right="        if not self._is_first:\n            self._charge()\n",
        wrong="",
        tests=(f"{_PERSON_QUOTA}::test_a_request_costs_one_token_per_bank_read",),
    ),
    Mistake(
        name="hanging-bank-takes-the-pages-places",
        promise="A page that waits for a bank holds no place.",
        source="ADR 0062",
        file="gateway/http/admission.py",
        right="        self.leave(priority)\n        turns =",
        wrong="        turns =",
        tests=(f"{_ADMISSION}::test_a_page_that_calls_a_bank_releases_its_slot_meanwhile",),
    ),
    Mistake(
        name="reload-cuts-idle-connections",
        promise="A reload of the proxy closes a kept connection with an answer.",
        source="docs/operations.md, Its certificate",
        file="deploy/haproxy.cfg",
        right="  option idle-close-on-response ",
        wrong="  #option idle-close-on-response ",
        tests=("tests/deploy/test_renewals.py",),
    ),
    Mistake(
        name="proxys-answers-are-no-failures",
        promise="The error budget counts the answers that the proxy gave itself.",
        source="ADR 0065",
        file="deploy/alerts.yaml",
        right='(pixgate:proxied:rate5m{code="5xx"})\n            -',
        wrong='(pixgate:proxied:rate5m{code="5xx"}) * 0\n            -',
        tests=("tests/deploy/test_rules.py",),
    ),
    Mistake(
        name="banks-failures-burn-the-budget",
        promise="A 502 that the proxy passes on is a bank's failure, not ours.",
        source="ADR 0065",
        file="deploy/alerts.yaml",
        right='(rate(pixgate_http_requests_total{status=~"501|502"}[5m]))\n',
        wrong='(rate(pixgate_http_requests_total{status="501"}[5m]))\n',
        tests=("tests/deploy/test_rules.py",),
    ),
    Mistake(
        name="panel-red-elsewhere-than-its-alert",
        promise="A panel is red where its alert fires.",
        source="ADR 0065",
        file="deploy/grafana/dashboards/edge.json",
        right='"value": 268435456',
        wrong='"value": 536870912',
        tests=("tests/deploy/test_dashboards.py",),
    ),
    Mistake(
        name="worker-refused-for-a-port-it-does-not-open",
        promise="A worker may have the number of the public port for its operations.",
        source="docs/operations.md, The worker",
        file="gateway/config/checks.py",
        right="findings += _ports(settings, serves=serves)",
        wrong="findings += _ports(settings, serves=True)",
        tests=("tests/unit/gateway/config/test_checks.py",),
    ),
    Mistake(
        name="banks-failures-are-called-ours",
        promise="The overview tells who fails a partner, we or a bank.",
        source="ADR 0065",
        file="gateway/telemetry/metrics/worst_credentials.py",
        right='        return "bank_failed"',
        wrong='        return "failed"',
        tests=("tests/unit/gateway/telemetry/metrics/test_worst_credentials.py",),
    ),
)
