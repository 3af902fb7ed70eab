import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";

import { SignatureInvalid, verify } from "../dist/index.js";

const NOW_S = 1_795_182_011;
const BODY = '{"type":"payout.paid","timestamp":"2026-11-20T13:40:11Z","data":{"reference":"órder-1"}}';
const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const text = (key) => `whsec_${key.toString("base64")}`;

function signed(keys, { id = "evt_1", at = NOW_S, body = BODY } = {}) {
  const each = keys.map((key) => `v1,${createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")}`);
  return { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": each.join(" ") };
}

const judged = (headers, body = BODY, secrets = text(NEW), options = {}) =>
  verify(headers, body, secrets, { now: NOW_S * 1_000, ...options });

test("a delivery is verified by any of the secrets, whatever its headers are", async () => {
  const headers = signed([NEW, OLD]);
  const event = { ...JSON.parse(BODY), id: "evt_1" };
  assert.deepEqual(await judged(headers), event);
  assert.deepEqual(await judged(new Headers(headers)), event);
  assert.deepEqual(await judged(headers, new TextEncoder().encode(BODY), [text(OLD)]), event);
  assert.deepEqual(await judged(signed([NEW]), BODY, [text(OLD), text(NEW)]), event);
  const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  assert.deepEqual(await judged(upper), event);
});

test("anything else is refused", async () => {
  const right = signed([NEW]);
  const wrong = [
    [signed([OLD])],
    [right, `${BODY} `],
    [{ ...right, "webhook-id": "evt_2" }],
    [{ ...right, "webhook-timestamp": String(NOW_S + 1) }],
    [{ ...right, "webhook-signature": right["webhook-signature"].replace("v1,", "v2,") }],
    [{ ...right, "webhook-signature": "v1,@@@ v1, v1" }],
    [{ ...right, "webhook-signature": undefined }],
    [{}],
    [{ ...right, "webhook-timestamp": "soon" }],
    [right, BODY, []],
    ...[-301, 301].map((away) => [signed([NEW], { at: NOW_S + away })]),
  ];
  for (const each of wrong) await assert.rejects(judged(...each), SignatureInvalid, JSON.stringify(each));
  await judged(signed([NEW], { at: NOW_S - 300 }));
  await judged(signed([NEW], { at: NOW_S - 900 }), BODY, text(NEW), { toleranceS: 900 });
});

test("a secret that is none is named, and not shown", async () => {
  for (const secret of ["", "whsec_", "whsec_@@@"]) {
    await assert.rejects(judged(signed([NEW]), BODY, secret), { name: "TypeError", message: "a secret is whsec_ and base64" });
  }
});
