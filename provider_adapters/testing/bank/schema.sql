CREATE TABLE IF NOT EXISTS accounts (
  id TEXT PRIMARY KEY, token_digest TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  tax_number TEXT NOT NULL, branch TEXT NOT NULL, number TEXT NOT NULL,
  city TEXT NOT NULL, zip_code TEXT NOT NULL, payout_kind TEXT NOT NULL,
  created_at INTEGER NOT NULL, owned INTEGER NOT NULL DEFAULT 0 CHECK (owned >= 0),
  UNIQUE (branch, number)
) STRICT;

CREATE TABLE IF NOT EXISTS blocks (
  seq INTEGER PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), kind TEXT NOT NULL,
  centavos INTEGER NOT NULL CHECK (centavos > 0), reference TEXT NOT NULL, since INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS blocks_of_account ON blocks (account_id);

CREATE TABLE IF NOT EXISTS statement (
  seq INTEGER PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id), payout_id TEXT,
  kind TEXT NOT NULL, centavos INTEGER NOT NULL CHECK (centavos <> 0), e2e_id TEXT,
  reference TEXT, name TEXT NOT NULL, tax_number TEXT NOT NULL, description TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS statement_newest ON statement (account_id, at, seq);
CREATE INDEX IF NOT EXISTS statement_by_e2e_id ON statement (account_id, e2e_id);
CREATE INDEX IF NOT EXISTS statement_of_charge ON statement (account_id, reference, seq);
DROP TRIGGER IF EXISTS line_counted;
CREATE TRIGGER line_counted AFTER INSERT ON statement
BEGIN
  UPDATE accounts SET owned = owned + new.centavos WHERE id = new.account_id;
END;

CREATE TABLE IF NOT EXISTS keys (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL, account_id TEXT NOT NULL REFERENCES accounts (id),
  key TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active',
  created_at INTEGER NOT NULL, UNIQUE (account_id, id)
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS keys_in_use ON keys (key) WHERE status <> 'canceled';

CREATE TABLE IF NOT EXISTS charges (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id), reference TEXT NOT NULL, txid TEXT NOT NULL,
  type TEXT NOT NULL, key TEXT NOT NULL, centavos INTEGER, reusable INTEGER NOT NULL,
  description TEXT NOT NULL, payer TEXT, emv TEXT NOT NULL, status TEXT NOT NULL,
  created_at INTEGER NOT NULL, expires_at INTEGER, UNIQUE (account_id, reference)
) STRICT;
CREATE INDEX IF NOT EXISTS charges_by_reference ON charges (reference);

CREATE TABLE IF NOT EXISTS payouts (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id), idempotency_key TEXT, unique_key TEXT,
  centavos INTEGER NOT NULL CHECK (centavos > 0), settled_centavos INTEGER, e2e_id TEXT NOT NULL UNIQUE, description TEXT NOT NULL,
  "to" TEXT NOT NULL, credit_to TEXT REFERENCES accounts (id), state TEXT NOT NULL,
  failure TEXT, step TEXT, due_at INTEGER, created_at INTEGER NOT NULL, settled_at INTEGER,
  returned_at INTEGER, held_until INTEGER, returns TEXT NOT NULL DEFAULT '[]',
  UNIQUE (account_id, unique_key)
) STRICT;
CREATE INDEX IF NOT EXISTS payouts_due ON payouts (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS payouts_under_way ON payouts (account_id) WHERE state = 'processing';
CREATE INDEX IF NOT EXISTS payouts_by_key ON payouts (idempotency_key);
CREATE INDEX IF NOT EXISTS payouts_newest ON payouts (account_id, created_at, seq);

CREATE TABLE IF NOT EXISTS refunds (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  payment_seq INTEGER NOT NULL REFERENCES statement (seq), idempotency_key TEXT NOT NULL,
  reference TEXT NOT NULL,
  centavos INTEGER NOT NULL CHECK (centavos > 0), return_id TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL, state TEXT NOT NULL, failure TEXT, step TEXT, due_at INTEGER,
  created_at INTEGER NOT NULL, settled_at INTEGER, UNIQUE (account_id, idempotency_key)
) STRICT;
CREATE INDEX IF NOT EXISTS refunds_due ON refunds (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS refunds_under_way ON refunds (account_id) WHERE state = 'processing';
CREATE INDEX IF NOT EXISTS refunds_of_payment ON refunds (payment_seq);
CREATE INDEX IF NOT EXISTS refunds_newest ON refunds (account_id, created_at, seq);

-- The payments received are lines of the statement.
DROP VIEW IF EXISTS payments;
CREATE VIEW payments AS
SELECT seq, account_id, centavos, at, e2e_id, reference,
  CASE WHEN name <> '' THEN
    json_object('name', name, 'tax_number', tax_number, 'message', description) END AS payer,
  (SELECT coalesce(sum(refunds.centavos), 0) FROM refunds
    WHERE payment_seq = statement.seq AND state <> 'failed') AS refunded
FROM statement WHERE kind = 'pix_in';

-- All that is blocked; what is under way is one block of the bank's, after the others.
DROP VIEW IF EXISTS blocked;
CREATE VIEW blocked AS
SELECT seq, account_id, kind, centavos, reference, since FROM blocks
UNION ALL
SELECT 1 << 62, account_id, 'bank', sum(centavos), '', min(created_at) FROM (
  SELECT account_id, centavos, created_at FROM payouts WHERE state = 'processing'
  UNION ALL
  SELECT account_id, centavos, created_at FROM refunds WHERE state = 'processing'
) GROUP BY account_id;

CREATE TABLE IF NOT EXISTS notices (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
  account_id TEXT NOT NULL, subject TEXT NOT NULL, copies INTEGER NOT NULL DEFAULT 1,
  tries INTEGER NOT NULL DEFAULT 0, due_at INTEGER DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS notices_due ON notices (due_at);
CREATE INDEX IF NOT EXISTS notices_of_account ON notices (account_id, due_at);

CREATE TABLE IF NOT EXISTS listeners (
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id), url TEXT NOT NULL, secret TEXT NOT NULL,
  UNIQUE (account_id, url)
) STRICT;

CREATE TABLE IF NOT EXISTS dialect_state (
  kind TEXT NOT NULL, name TEXT NOT NULL, account_id TEXT NOT NULL, value TEXT NOT NULL,
  until INTEGER, PRIMARY KEY (kind, name)
) STRICT;
CREATE INDEX IF NOT EXISTS dialect_state_of_account ON dialect_state (kind, account_id);

DROP TRIGGER IF EXISTS payout_told;
CREATE TRIGGER payout_told AFTER UPDATE OF state ON payouts
WHEN new.state <> old.state AND new.state IN ('settled', 'failed')
BEGIN
  INSERT INTO notices (id, kind, account_id, subject, copies)
  VALUES ('evt_' || lower(hex(randomblob(12))), 'transferencia', new.account_id, new.id,
    CASE new.centavos WHEN 77710 THEN 2 ELSE 1 END);
END;
DROP TRIGGER IF EXISTS payment_told;
CREATE TRIGGER payment_told AFTER INSERT ON statement WHEN new.kind = 'pix_in'
BEGIN
  INSERT INTO notices (id, kind, account_id, subject)
  VALUES ('evt_' || lower(hex(randomblob(12))),
    -- A payer may write any reference.
    CASE WHEN EXISTS (SELECT 1 FROM charges
      WHERE account_id = new.account_id AND reference = new.reference)
    THEN 'cobranca' ELSE 'recebimento' END,
    new.account_id, new.e2e_id);
END;
DROP TRIGGER IF EXISTS refund_told;
CREATE TRIGGER refund_told AFTER UPDATE OF state ON refunds
WHEN new.state <> old.state AND new.state IN ('settled', 'failed')
BEGIN
  INSERT INTO notices (id, kind, account_id, subject)
  VALUES ('evt_' || lower(hex(randomblob(12))), 'devolucao', new.account_id, new.id);
END;
DROP TRIGGER IF EXISTS hold_told;
CREATE TRIGGER hold_told AFTER UPDATE OF held_until ON payouts
WHEN new.held_until IS NOT NULL
BEGIN
  INSERT INTO notices (id, kind, account_id, subject)
  VALUES ('evt_' || lower(hex(randomblob(12))), 'transferencia', new.account_id, new.id);
END;
DROP TRIGGER IF EXISTS return_told;
CREATE TRIGGER return_told AFTER UPDATE OF returns ON payouts
BEGIN
  INSERT INTO notices (id, kind, account_id, subject)
  VALUES ('evt_' || lower(hex(randomblob(12))), 'transferencia_devolvida', new.account_id, new.id);
END;
