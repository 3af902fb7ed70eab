/** One request, and what came of it. */

import { PixgateError } from "./errors.js";
import { readJson } from "./json.js";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Answer {
  /** 0 if no answer came. */
  status: number;
  /** The gateway's document; undefined if the answer is not the gateway's own. */
  document?: Readonly<Record<string, unknown>> | undefined;
  /** Seconds, 0 if the answer does not say. */
  retryAfterS: number;
  /** False only if it is certain that no byte of the request left. */
  mayHaveLeft: boolean;
  cause?: unknown;
}

// Raised before a request is written, by undici and by TLS. Other failures are known by `syscall`.
const BEFORE_REQUEST = new RegExp(
  "^(UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_ALTNAME_INVALID|CERT_[A-Z_]+" +
    "|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN" +
    "|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$",
);

/** Send a request once. Never raises. */
export async function exchange(fetch: Fetch, url: string, init: RequestInit): Promise<Answer> {
  const answer: Answer = { status: 0, retryAfterS: 0, mayHaveLeft: true };
  try {
    // Following a redirect would send the order to another place.
    const response = await fetch(url, { ...init, redirect: "manual", cache: "no-store" });
    answer.status = response.status;
    answer.retryAfterS = seconds(response.headers.get("Retry-After") ?? "");
    answer.document = ofGateway(answer.status, readJson(await response.text()));
  } catch (cause) {
    answer.cause = cause;
    answer.mayHaveLeft = answer.status !== 0 || !failedBefore(cause);
  }
  return answer;
}

/** Say whether the gateway decided, so that the same request gets the same answer again. */
export function isRefusal({ status, document }: Answer): boolean {
  const of4xx = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return document !== undefined && (of4xx || status === 501);
}

/** Return the text of a field of the answer, empty if there is none. */
export function text(answer: Answer, field: "code" | "message" | "trace_id"): string {
  const found = answer.document?.[field];
  return typeof found === "string" ? found : "";
}

/** Make an error about an answer. */
export function errorOf<Kind extends PixgateError>(
  Kind: new (...details: ConstructorParameters<typeof PixgateError>) => Kind,
  said: string,
  answer: Answer,
  reference: string,
): Kind {
  const { status, retryAfterS, cause } = answer;
  const code = text(answer, "code");
  const shown = status ? `${said}; ${status} ${code} ${text(answer, "message")}`.trimEnd() : said;
  const traceId = text(answer, "trace_id");
  return new Kind(shown, { reference, status, code, traceId, retryAfterS, cause });
}

/** Return a document of the gateway: the page or the JSON of a proxy proves nothing. */
function ofGateway(status: number, read: unknown): Answer["document"] {
  if (typeof read !== "object" || read === null || Array.isArray(read)) return undefined;
  const document = read as Record<string, unknown>;
  const { code, message, trace_id: traceId } = document;
  const isError = [code, message, traceId].every((each) => typeof each === "string");
  return status === 200 || (isError && String(code).startsWith("SVC.")) ? document : undefined;
}

/** Read `Retry-After`: seconds, or a date as some proxies write it. */
function seconds(header: string): number {
  if (/^\d{1,9}$/.test(header)) return Number(header);
  return Math.max(0, (Date.parse(header) - Date.now()) / 1_000) || 0;
}

/**
 * Say whether a failure of `fetch` came before the request: in the look-up of the name, the
 * connection, or the handshake of TLS. Node says so; browsers do not.
 */
function failedBefore(failure: unknown): boolean {
  const cause = failure instanceof Error ? failure.cause : undefined;
  const all: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return all.length > 0 && all.every((each) => {
    const { code, syscall } = Object(each) as { code?: unknown; syscall?: unknown };
    return syscall === "connect" || syscall === "getaddrinfo" || BEFORE_REQUEST.test(String(code));
  });
}
