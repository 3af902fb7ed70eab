import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import {
  Client, CursorExpired, CursorInvalid, NotFound, NotSent, RateLimited, Refused, Unavailable, Unknown,
} from "../dist/index.js";

const SECRET = "gws_secret";
const ORDER = {
  method: "pix", reference: "order/1", value: "10.50", date: "2026-11-20",
  destination: { tax_number: "52998224725", key_type: "email", key: "maria@example.com" },
};
const PROCESSING = { status: 200, document: { reference: ORDER.reference, status: "processing" } };

const failed = (status, code, message = "A sentence.") =>
  ({ status, document: { code, message, trace_id: "t-1" } });
const page = (status) => ({ status, text: "<html>Bad Gateway</html>" });
const thrown = (cause) => ({ thrown: new TypeError("fetch failed", { cause }) });
const refusedConnection = thrown(Object.assign(new Error("no"), { code: "ECONNREFUSED", syscall: "connect" }));
const cut = thrown(Object.assign(new Error("cut"), { code: "ECONNRESET", syscall: "read" }));

/** Return a client whose requests get these answers in turn, the last one for ever. */
function clientOf(answers, options = {}) {
  const calls = [];
  const slept = [];
  let now = 0;
  const left = [...answers];
  const fetch = async (url, init) => {
    const body = init.body && new TextDecoder().decode(init.body);
    calls.push({ url, method: init.method, headers: init.headers, body, redirect: init.redirect });
    const next = left.length > 1 ? left.shift() : left[0];
    if (next.thrown) throw next.thrown;
    return new Response(next.text ?? JSON.stringify(next.document), { status: next.status, headers: next.headers });
  };
  const sleep = async (milliseconds) => {
    slept.push(milliseconds);
    now += milliseconds;
  };
  const client = new Client({
    baseUrl: "https://gateway.example/", accountId: "a-1", clientId: "cli_1", clientSecret: SECRET, fetch,
    clock: { now: () => now, sleep, random: () => 0.5 }, ...options,
  });
  return { client, calls, slept };
}

async function raised(promise) {
  try {
    return await promise;
  } catch (error) {
    return error;
  }
}

const TABLE = [
  // answers, then the error of a first call and of another one
  [[failed(502, "SVC.ACC.005")], NotSent, NotSent],
  [[failed(502, "SVC.PIX.010")], Unknown, Unknown],
  [[failed(500, "SVC.SYS.001")], Unknown, Unknown],
  [[failed(503, "SVC.GTW.006")], NotSent, Unknown],
  [[failed(503, "SVC.SYS.002")], NotSent, Unknown],
  [[failed(408, "SVC.GTW.004")], NotSent, Unknown],
  [[failed(429, "SVC.GTW.005")], RateLimited, RateLimited],
  [[failed(403, "SVC.GTW.010")], Refused, Refused],
  [[failed(401, "SVC.AUT.010")], Refused, Refused],
  [[failed(400, "SVC.VAL.009")], Refused, Refused],
  [[failed(422, "SVC.ACC.005")], Refused, Refused],
  [[failed(418, "SVC.NEW.001")], Refused, Refused],
  [[failed(504, "SVC.NEW.001")], Unknown, Unknown],
  [[page(200)], Unknown, Unknown],
  [[page(302)], Unknown, Unknown],
  [[page(403)], Unknown, Unknown],
  [[page(502)], Unknown, Unknown],
  [[page(503)], Unknown, Unknown],
  [[page(504)], Unknown, Unknown],
  [[{ status: 503, document: { code: "SVC.GTW.006" } }], Unknown, Unknown],
  [[{ status: 503, document: { code: "OTHER", message: "", trace_id: "" } }], Unknown, Unknown],
  [[{ status: 200, document: { reference: "another", status: "paid" } }], Unknown, Unknown],
  [[{ status: 200, document: [] }], Unknown, Unknown],
  [[refusedConnection], NotSent, Unknown],
  [[thrown(Object.assign(new Error("name"), { code: "ENOTFOUND", syscall: "getaddrinfo" }))], NotSent, Unknown],
  [[thrown(Object.assign(new Error("slow"), { code: "UND_ERR_CONNECT_TIMEOUT" }))], NotSent, Unknown],
  [[thrown(Object.assign(new Error("tls"), { code: "CERT_HAS_EXPIRED" }))], NotSent, Unknown],
  [[thrown(new AggregateError([refusedConnection.thrown.cause, refusedConnection.thrown.cause]))], NotSent, Unknown],
  [[thrown(new AggregateError([refusedConnection.thrown.cause, cut.thrown.cause]))], Unknown, Unknown],
  [[cut], Unknown, Unknown],
  [[thrown(undefined)], Unknown, Unknown],
  [[{ thrown: new DOMException("late", "TimeoutError") }], Unknown, Unknown],
  // what an earlier attempt of the same call leaves open stays so
  [[cut, failed(429, "SVC.GTW.005")], Unknown, Unknown],
  [[cut, failed(502, "SVC.ACC.005")], Unknown, Unknown],
  [[page(502), failed(403, "SVC.GTW.010")], Unknown, Unknown],
  [[failed(502, "SVC.PIX.010"), failed(401, "SVC.AUT.010")], Unknown, Unknown],
  [[failed(502, "SVC.PIX.010"), failed(429, "SVC.GTW.005")], Unknown, Unknown],
  [[failed(502, "SVC.PIX.010"), failed(502, "SVC.ACC.005")], NotSent, NotSent],
  [[failed(502, "SVC.ACC.005"), failed(503, "SVC.GTW.006")], NotSent, NotSent],
  [[refusedConnection, failed(403, "SVC.GTW.010")], Refused, Refused],
  // a refusal whose reference has to be read
  [[failed(400, "SVC.PIX.010"), { status: 200, document: { status: "paid" } }], Refused, Refused],
  [[cut, failed(400, "SVC.PIX.010"), { status: 200, document: { status: "paid" } }], Refused, Refused],
  [[failed(403, "SVC.PIX.010"), failed(404, "SVC.PIX.011")], Refused, Refused],
  [[cut, failed(403, "SVC.PIX.010"), failed(404, "SVC.PIX.011")], Unknown, Unknown],
  [[failed(400, "SVC.PIX.010"), failed(503, "SVC.SYS.002")], Unknown, Unknown],
];

test("each answer raises the error that it proves", async () => {
  for (const [answers, first, later] of TABLE) {
    for (const [options, Kind] of [[{ first: true }, first], [{}, later]]) {
      const { client, calls } = clientOf(answers);
      const error = await raised(client.pay(ORDER, options));
      assert.equal(error.constructor, Kind, inspect({ answers, options, error }));
      assert.equal(error.name, Kind.name);
      assert.equal(error.reference, ORDER.reference);
      assert.equal(new Set(calls.filter(({ method }) => method === "POST").map(({ body }) => body)).size, 1);
      assert.ok(calls.every(({ redirect }) => redirect === "manual"));
    }
  }
});

test("a payout is repeated with the same bytes until it is taken", async () => {
  const { client, calls } = clientOf([cut, page(504), failed(502, "SVC.PIX.010"), failed(500, "SVC.SYS.001"), PROCESSING]);
  assert.deepEqual(await client.pay(ORDER), PROCESSING.document);
  assert.equal(calls.length, 5);
  assert.equal(new Set(calls.map(({ body, url }) => body + url)).size, 1);
  assert.match(calls[0].body, /"value":10\.50,/);
});

test("a refusal is not repeated", async () => {
  const { client, calls } = clientOf([failed(400, "SVC.VAL.009")]);
  await assert.rejects(client.pay(ORDER), Refused);
  assert.equal(calls.length, 1);
});

test("a payout that failed is returned", async () => {
  const stored = { reference: ORDER.reference, status: "failed", failure: { code: "KEY_NOT_FOUND", message: "" } };
  const { client, calls } = clientOf([failed(400, "SVC.PIX.010"), { status: 200, document: stored }]);
  assert.deepEqual(await client.pay(ORDER), stored);
  assert.match(calls[1].url, /\/withdraw\/order%2F1$/);
});

test("pauses double, and are never shorter than Retry-After", async () => {
  const { client, slept } = clientOf([cut, cut, { ...failed(503, "SVC.GTW.006"), headers: { "Retry-After": "30" } }, cut, PROCESSING]);
  await client.pay(ORDER);
  assert.deepEqual(slept, [750, 1500, 30_000, 6_000]);
});

test("no attempt begins after the deadline", async () => {
  const { client, calls, slept } = clientOf([failed(503, "SVC.GTW.006")]);
  await assert.rejects(client.pay(ORDER, { deadlineS: 5, first: true }), NotSent);
  assert.deepEqual([calls.length, slept.reduce((one, other) => one + other)], [3, 2_250]);
});

test("a number is refused before anything is sent", async () => {
  const { client, calls } = clientOf([PROCESSING]);
  await assert.rejects(client.pay({ ...ORDER, value: 10.5 }), TypeError);
  assert.equal(calls.length, 0);
});

test("a payout is followed until it is final", async () => {
  const answers = [PROCESSING, failed(503, "SVC.SYS.002"), { status: 200, document: { status: "paid" } }];
  assert.equal((await clientOf(answers).client.waitFor("order/1")).status, "paid");
  await assert.rejects(clientOf([PROCESSING]).client.waitFor(PROCESSING.document), Unknown);
  await assert.rejects(clientOf([failed(404, "SVC.PIX.011")]).client.waitFor("order/1"), NotFound);
});

test("reads are repeated, and raise by type", async () => {
  const read = (...answers) => clientOf(answers).client.balance();
  assert.deepEqual(await read(cut, page(502), { status: 200, text: '{"balance":0.10}' }), { balance: "0.10" });
  await assert.rejects(read(page(404)), Unavailable);
  await assert.rejects(read(failed(502, "SVC.ACC.006")), Unavailable);
  await assert.rejects(read(failed(429, "SVC.GTW.005")), RateLimited);
  await assert.rejects(read(failed(404, "SVC.ACC.001")), NotFound);
  await assert.rejects(clientOf([failed(501, "SVC.PIX.018")]).client.cancel("order/1"), Refused);
});

test("a reference that would name another path is refused", () => {
  for (const reference of ["", ".", ".."]) {
    assert.throws(() => clientOf([PROCESSING]).client.payout(reference), TypeError);
  }
});

test("a signature is made for each attempt, and one that fails sends nothing", async () => {
  const made = [];
  const sign = async (method, url, body) => {
    made.push([method, url, new TextDecoder().decode(body)]);
    return { Signature: String(made.length) };
  };
  const { client, calls } = clientOf([cut, PROCESSING], { sign });
  await client.pay(ORDER);
  assert.deepEqual(calls.map(({ headers }) => headers.Signature), ["1", "2"]);
  assert.deepEqual(made[0], ["POST", calls[0].url, calls[0].body]);

  const broken = clientOf([PROCESSING], { sign: () => Promise.reject(new Error("no key")) });
  await assert.rejects(broken.client.pay(ORDER, { first: true }), NotSent);
  assert.equal(broken.calls.length, 0);
});

test("no error and no client shows the secret", async () => {
  const pair = Buffer.from(`cli_1:${SECRET}`).toString("base64");
  for (const answer of [cut, page(502), failed(401, "SVC.AUT.010"), failed(429, "SVC.GTW.005")]) {
    const { client, calls } = clientOf([answer]);
    const shown = inspect([client, await raised(client.pay(ORDER))], { depth: 9, showHidden: true });
    assert.ok(!shown.includes(SECRET) && !shown.includes(pair));
    assert.equal(calls[0].headers.Authorization, `Basic ${pair}`);
  }
});

test("the secret goes over TLS, or to this machine", () => {
  const to = (baseUrl, more = {}) => () => clientOf([PROCESSING], { baseUrl, ...more });
  for (const right of ["https://pix.example", "http://127.0.0.1:8080", "http://localhost:1/", "http://[::1]:8"]) to(right)();
  to("http://pix.example", { allowHttp: true })();
  for (const wrong of ["http://pix.example", "http://127.0.0.1.example", "http://localhost.example", "ftp://localhost",
    "pix.example", "", "https://a:b@pix.example", "https://pix.example/?a", "https://pix.example/#a"]) {
    assert.throws(to(wrong), (error) => error instanceof TypeError && !error.message.includes("a:b"), wrong);
  }
});

const event = (number) => ({ id: `evt_${number}`, type: "payout.paid", timestamp: "", data: {} });
const part = (next, ...numbers) => ({ status: 200, document: { data: numbers.map(event), next } });

test("the feed gives each event with the cursor to store", async () => {
  const { client, calls } = clientOf([part("c2", 1, 2), cut, part("c3"), part("c4", 3), part("c5")]);
  const feed = client.events({ waitS: 0, types: ["payout.paid", "payout.failed"] });
  const seen = [];
  for await (const { id } of feed) seen.push([id, feed.cursor]);
  assert.deepEqual(seen, [["evt_1", ""], ["evt_2", "c2"]]);
  assert.equal(feed.cursor, "c3");
  assert.match(calls[0].url, /\/events\/v1\/account\/a-1\/events\?limit=100&wait=0&types=payout.paid%2Cpayout.failed$/);
  assert.deepEqual(calls.map(({ url }) => new URL(url).searchParams.get("after")), [null, "c2", "c2"]);
});

test("the feed takes a cursor alone, and one type alone", async () => {
  const asked = async (from) => {
    const { client, calls } = clientOf([part("c2", 1)]);
    for await (const each of client.events(from)) return [each.id, new URL(calls[0].url).search];
  };
  assert.deepEqual(await asked("c1"), ["evt_1", "?limit=100&wait=25&after=c1"]);
  assert.deepEqual(await asked({ types: "payout.paid" }), ["evt_1", "?limit=100&wait=25&types=payout.paid"]);
  for (const none of ["", undefined, {}, { after: undefined }, { after: null }]) {
    assert.deepEqual(await asked(none), ["evt_1", "?limit=100&wait=25"]);
  }
});

test("what the feed cannot read is refused before anything is asked", () => {
  const { client, calls } = clientOf([part("c2")]);
  const others = [
    null, 7, ["c1"], { cursor: "c1" }, { after: 7 }, { types: [1] }, { waitS: "0" }, { signal: true }, { toString: "c1" },
  ];
  for (const other of others) {
    assert.throws(() => client.events(other), (error) => error instanceof TypeError && !error.message.includes("c1"));
  }
  assert.deepEqual(calls, []);
});

test("the feed waits, and ends with its signal", async () => {
  const ends = new AbortController();
  const { client } = clientOf([part("c1"), part("c2", 1, 2), part("c3", 3)]);
  const feed = client.events({ signal: ends.signal });
  const seen = [];
  for await (const { id } of feed) {
    seen.push(id);
    ends.abort();
  }
  assert.deepEqual([seen, feed.cursor], [["evt_1"], "c1"]);
});

test("a cursor that cannot be used is refused by type", async () => {
  const first = async (answer) => {
    for await (const each of clientOf([answer]).client.events({ after: "c" })) return each;
  };
  await assert.rejects(first(failed(400, "SVC.VAL.008", "after is older than 30 days.")), CursorExpired);
  await assert.rejects(first(failed(400, "SVC.VAL.011", "after must be the next of an answer.")), CursorInvalid);
  await assert.rejects(first(failed(400, "SVC.VAL.011", "types: ...")), (error) => error.constructor === Refused);
  await assert.rejects(first(failed(403, "SVC.AUT.010")), (error) => error.constructor === Refused);
});
