/** Errors by what they prove of a payout, never by what is likely. None holds a credential. */

/** What is known of the answer behind an error. */
export interface ErrorDetails {
  /** Of the payout or charge; empty if the call is about none. */
  reference?: string;
  /** Of the last answer, 0 if none came. */
  status?: number;
  /** Code such as `SVC.PIX.010`; empty if the answer was not the gateway's own. */
  code?: string;
  /** The operator finds the request by it. */
  traceId?: string;
  /** Seconds to wait before the next call; 0 if the answer did not say. */
  retryAfterS?: number;
  cause?: unknown;
}

/** A call failed. */
export class PixgateError extends Error {
  readonly reference: string;
  readonly status: number;
  readonly code: string;
  readonly traceId: string;
  readonly retryAfterS: number;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = new.target.name;
    this.reference = details.reference ?? "";
    this.status = details.status ?? 0;
    this.code = details.code ?? "";
    this.traceId = details.traceId ?? "";
    this.retryAfterS = details.retryAfterS ?? 0;
  }
}

/** Certainly not executed: the payout may be made again, under a new reference too. */
export class NotSent extends PixgateError {}

/** The outcome is not known: pay again with the same order, never with a new reference. */
export class Unknown extends PixgateError {}

/**
 * The gateway refused the call, which did nothing: look at `status` and `code`. It says nothing
 * about earlier calls with the same reference.
 */
export class Refused extends PixgateError {}

/** Too many calls: wait `retryAfterS`, then call again. */
export class RateLimited extends Refused {}

/** There is nothing of this reference or id. */
export class NotFound extends Refused {}

/** The cursor is none of this account's feed: begin without one. */
export class CursorInvalid extends Refused {}

/** The cursor is over 30 days old: begin without one, and compare the days in between. */
export class CursorExpired extends Refused {}

/** No usable answer to a call that changes nothing: call again later. */
export class Unavailable extends PixgateError {}

/** The delivery was not signed with one of the secrets, or not lately: answer 401. */
export class SignatureInvalid extends Error {
  override readonly name = "SignatureInvalid";
}
