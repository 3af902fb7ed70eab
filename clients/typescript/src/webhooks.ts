/** Signed deliveries (Standard Webhooks). */

import { SignatureInvalid } from "./errors.js";
import { readJson } from "./json.js";
import type { Event } from "./schemas.js";

export interface VerifyOptions {
  /** Milliseconds, as of `Date.now`. */
  now?: number;
  /** Seconds that the timestamp may be away from now; 300 unless given. */
  toleranceS?: number;
}

type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verify a delivery, and return its event.
 *
 * @param headers Those of the request, as `Headers` or as Node's `request.headers`.
 * @param body The body as it came, before anything has read it as JSON.
 * @param secrets One, or all that may be in use, `whsec_…`.
 * @throws SignatureInvalid It is signed by none of them, or its timestamp is too far away.
 */
export async function verify(
  headers: HeadersLike,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  { now = Date.now(), toleranceS = 300 }: VerifyOptions = {},
): Promise<Event> {
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  if (!id || !/^\d{1,12}$/.test(timestamp)) throw new SignatureInvalid("headers are missing");
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= toleranceS)) {
    throw new SignatureInvalid("the timestamp is too far from now");
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = join(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const signatures = header(headers, "webhook-signature").split(" ").flatMap((each) =>
    each.startsWith("v1,") ? (decoded(each.slice(3)) ?? []) : [],
  );
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    const key = await keyOf(secret);
    for (const signature of signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, signature, signed)) return eventOf(id, bytes);
    }
  }
  throw new SignatureInvalid("no signature is by one of the secrets");
}

function eventOf(id: string, bytes: Uint8Array): Event {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  return { ...(readJson(text) as Omit<Event, "id">), id };
}

function header(headers: HeadersLike, name: string): string {
  const found = headers instanceof Headers ? headers.get(name) : valueOf(headers, name);
  return typeof found === "string" ? found : "";
}

function valueOf(headers: Exclude<HeadersLike, Headers>, name: string): unknown {
  const entry = Object.entries(headers).find(([each]) => each.toLowerCase() === name);
  return entry?.[1];
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const raw = decoded(secret.replace(/^whsec_/, ""));
  if (!raw?.length) throw new TypeError("a secret is whsec_ and base64");
  return crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function join(one: Uint8Array, two: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + two.length);
  both.set(one);
  both.set(two, one.length);
  return both;
}
