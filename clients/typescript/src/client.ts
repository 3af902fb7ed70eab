/** The calls of a partner. */

import { NotFound, PixgateError, RateLimited, Refused, Unavailable, Unknown } from "./errors.js";
import { Evidence } from "./evidence.js";
import { errorOf, exchange, isRefusal, type Answer, type Fetch } from "./exchange.js";
import { Feed, feedOptions, type FeedOptions, type ReadEvents } from "./feed.js";
import { orderText } from "./json.js";
import type {
  Balance, Charge, Closing, Payout, PayoutList, PayoutRequest, PixKey, PixKeyList, PixTransaction,
  Statement,
} from "./schemas.js";

/** What a client is made of. */
export interface ClientOptions {
  /** https, the gateway's host, and perhaps a port and a path. */
  baseUrl: string;
  accountId: string;
  clientId: string;
  clientSecret: string;
  /** Seconds during which reads are repeated, where that may help; 30 unless given. */
  readDeadlineS?: number;
  /** Seconds to wait for one answer; 40 unless given, as the bank may take 20. */
  timeoutS?: number;
  /** Without TLS to another machine than this one. */
  allowHttp?: boolean;
  /** Returns the headers that sign a payout, for a credential with public keys; for each attempt. */
  sign?: (method: string, url: string, body: Uint8Array) => Promise<Record<string, string>>;
  /** In place of the global `fetch`, for certificates and proxies. */
  fetch?: Fetch;
  /** Time and chance, for tests. */
  clock?: Partial<Clock>;
}

export interface Clock {
  /** Milliseconds. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
  /** A number from 0 up to, and without, 1. */
  random(): number;
}

export interface PayOptions {
  /**
   * You know that no earlier call used this reference, in whatever process. Then a connection that
   * could not be opened proves that nothing was sent.
   */
  first?: boolean;
  /** No attempt begins later than these seconds, 120 unless given. */
  deadlineS?: number;
}

/** Days in UTC such as `2026-11-20`, both included, at most 90, and a page of their rows. */
export interface Window {
  init: string;
  ends: string;
  page?: number;
  limit?: number;
}

interface Request {
  method?: string;
  path: string;
  body?: string;
  timeoutS?: number;
  signal?: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const CLOCK: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds) => new Promise((done) => setTimeout(done, milliseconds)),
  random: Math.random,
};

/**
 * Calls a gateway for one account. It may be shared, and needs no end.
 *
 * Reads are repeated for `readDeadlineS` where that may help. They raise `Refused` (by type
 * `NotFound`, `RateLimited`), or `Unavailable` where no usable answer came.
 */
export class Client {
  readonly #base: string;
  readonly #account: string;
  readonly #authorization: string;
  readonly #sign: ClientOptions["sign"];
  readonly #fetch: Fetch;
  readonly #timeoutS: number;
  readonly #readDeadlineS: number;
  readonly #clock: Clock;

  /** @throws TypeError The address is none, or would carry the secret in plain text. */
  constructor(options: ClientOptions) {
    this.#base = checkedBase(options.baseUrl, options.allowHttp ?? false);
    this.#account = `account/${segment(options.accountId)}`;
    this.#authorization = basic(options.clientId, options.clientSecret);
    this.#sign = options.sign;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#timeoutS = options.timeoutS ?? 40;
    this.#readDeadlineS = options.readDeadlineS ?? 30;
    this.#clock = { ...CLOCK, ...options.clock };
  }

  /** The balance, live from the bank. */
  balance(): Promise<Balance> {
    return this.#read("/balance");
  }

  /** Every PIX key of the account. */
  pixKeys(): Promise<PixKeyList> {
    return this.#read("/pix/keys");
  }

  /** One PIX key, by its UUID. */
  pixKey(keyId: string): Promise<PixKey> {
    return this.#read(`/pix/keys/${segment(keyId)}`);
  }

  /** A charge, with the text to copy and paste; one that has expired unpaid is `NotFound`. */
  charge(reference: string): Promise<Charge> {
    return this.#read(`/pix/qrcode/${segment(reference)}`, reference);
  }

  /** The payment of a charge; `pending` is not paid. */
  payment(reference: string): Promise<PixTransaction> {
    return this.#read(`/pix/transactions/${segment(reference)}`, reference);
  }

  /** A page of the statement. */
  statement(window: Window): Promise<Statement> {
    return this.#read(`/transactions?${query({ ...window })}`);
  }

  /** A page of the payouts. */
  payouts(window: Window): Promise<PayoutList> {
    return this.#read(`/withdraws?${query({ ...window })}`);
  }

  /** A payout; `NotFound` if nothing was stored under the reference. */
  payout(reference: string): Promise<Payout> {
    return this.#read(`/withdraw/${segment(reference)}`, reference);
  }

  /** Always `Refused`: a payout cannot be cancelled. */
  cancel(reference: string): Promise<never> {
    const path = this.#banking(`/withdraw/${segment(reference)}`);
    return this.#get({ method: "DELETE", path }, reference);
  }

  /** A day that the operator has signed, such as `2026-11-20`. */
  closing(day: string): Promise<Closing> {
    return this.#get({ path: this.#events(`/closings/${segment(day)}`) });
  }

  /**
   * Make a payout. Call it again with the same order as often as you like: it is paid once.
   *
   * The same bytes are sent until an outcome is known. Store the order, with its reference, before.
   *
   * @returns The payout: `processing` is accepted and not settled (`waitFor`), `failed` is final.
   * @throws NotSent Nothing was sent under this reference, and nothing will be.
   * @throws Unknown Pay again with the same order, never with another reference.
   * @throws Refused By code; this call sent nothing. `RateLimited`: too many calls.
   * @throws TypeError The amount is no text in reais; nothing was sent.
   */
  async pay(order: PayoutRequest, options: PayOptions = {}): Promise<Payout> {
    const { reference } = order;
    const evidence = new Evidence(reference, options.first ?? false);
    const request = { method: "POST", path: this.#banking("/withdraw"), body: orderText(order) };
    for await (const answer of this.#answers(request, options.deadlineS ?? 120)) {
      if (answer.status === 200 && answer.document?.["reference"] === reference) {
        return answer.document as unknown as Payout;
      }
      const proof = evidence.take(answer);
      if (proof === "stored") return this.#stored(reference, evidence);
      if (proof === "refused") throw evidence.refusal();
    }
    throw evidence.surrender();
  }

  /**
   * Read a payout, or the one of a reference, until it is `paid` or `failed`.
   *
   * @throws Unknown It was not final within `deadlineS` seconds, 120 unless given.
   */
  async waitFor(payout: Payout | string, { deadlineS = 120 } = {}): Promise<Payout> {
    const reference = typeof payout === "string" ? payout : payout.reference;
    const path = this.#banking(`/withdraw/${segment(reference)}`);
    let last: Answer | undefined;
    for await (const answer of this.#answers({ path }, deadlineS)) {
      if (isRefusal(answer)) throw refusal(answer, reference);
      const status = answer.status === 200 && answer.document?.["status"];
      if (status === "paid" || status === "failed") return answer.document as unknown as Payout;
      last = answer;
    }
    const { cause } = last ?? {};
    throw new Unknown("the outcome is not known yet", { reference, cause });
  }

  /**
   * The feed of events behind a cursor, or from its beginning: `events(cursor)` is
   * `events({ after: cursor })`.
   *
   * @throws TypeError An option has another name or type. Left unread, it would begin anew.
   */
  events(from: string | FeedOptions = {}): Feed {
    const options = feedOptions(from);
    const read: ReadEvents = (path, waitS, signal) =>
      this.#get({ path: this.#events(path), timeoutS: this.#timeoutS + waitS, signal });
    return new Feed(read, options);
  }

  /** Read what is stored under a refused reference; only a failed payout is an outcome. */
  async #stored(reference: string, evidence: Evidence): Promise<Payout> {
    let found: Payout | undefined;
    try {
      found = await this.payout(reference);
    } catch (error) {
      if (!(error instanceof NotFound)) throw evidence.unreadable();
    }
    if (found?.status === "failed") return found;
    throw found && evidence.isBadRequest ? evidence.conflict() : evidence.refusal();
  }

  #banking(path: string): string {
    return `/baas/v1/${this.#account}${path}`;
  }

  #events(path: string): string {
    return `/events/v1/${this.#account}${path}`;
  }

  #read<T>(path: string, reference = ""): Promise<T> {
    return this.#get({ path: this.#banking(path) }, reference);
  }

  async #get<T>(request: Request, reference = ""): Promise<T> {
    let last: Answer | undefined;
    for await (const answer of this.#answers(request, this.#readDeadlineS)) {
      if (answer.status === 200 && answer.document) return answer.document as T;
      if (isRefusal(answer)) throw refusal(answer, reference);
      last = answer;
    }
    if (last?.status === 429) throw errorOf(RateLimited, "too many calls", last, reference);
    throw last
      ? errorOf(Unavailable, "no usable answer", last, reference)
      : new Unavailable("not asked", { reference });
  }

  /** Send the same request again and again, with pauses, until the deadline or an abort. */
  async *#answers(request: Request, deadlineS: number): AsyncGenerator<Answer, void, undefined> {
    const clock = this.#clock;
    const end = clock.now() + deadlineS * 1_000;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const answer = await this.#send(request);
      yield answer;
      const wait = Math.max(answer.retryAfterS * 1_000, pause * (0.5 + clock.random() / 2));
      if (request.signal?.aborted || clock.now() + wait > end) return;
      await clock.sleep(wait);
    }
  }

  async #send({ method = "GET", path, body, timeoutS, signal }: Request): Promise<Answer> {
    const url = this.#base + path;
    const headers: Record<string, string> = { Authorization: this.#authorization };
    const bytes = body === undefined ? null : new TextEncoder().encode(body);
    if (bytes) {
      headers["Content-Type"] = "application/json";
      try {
        Object.assign(headers, await this.#sign?.(method, url, bytes));
      } catch (cause) {
        return { status: 0, retryAfterS: 0, mayHaveLeft: false, cause };
      }
    }
    const timeout = AbortSignal.timeout((timeoutS ?? this.#timeoutS) * 1_000);
    const ends = signal ? AbortSignal.any([signal, timeout]) : timeout;
    return exchange(this.#fetch, url, { method, headers, body: bytes, signal: ends });
  }
}

function refusal(answer: Answer, reference: string): PixgateError {
  return errorOf(answer.status === 404 ? NotFound : Refused, "refused", answer, reference);
}

/** Return a base address without a slash at its end; errors do not repeat it. */
function checkedBase(baseUrl: string, allowHttp: boolean): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || url.username || url.password || url.search || url.hash) {
    throw new TypeError("baseUrl has https, a host, and perhaps a port and a path, nothing else");
  }
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (isLocal || allowHttp))) {
    throw new TypeError("http shows the secret to everybody on the way: use https, or allowHttp");
  }
  return url.href.replace(/\/+$/, "");
}

/** Write a path segment. "." and ".." would be another path; they name nothing here. */
function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError('an id or a reference is not empty, "." or ".."');
  return encodeURIComponent(text);
}

function query(parameters: Record<string, string | number | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

function basic(clientId: string, clientSecret: string): string {
  const bytes = new TextEncoder().encode(`${clientId}:${clientSecret}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
