/** What answers prove of a payout, by the decision table of the partner guide. */

import { NotSent, RateLimited, Refused, Unknown, type PixgateError } from "./errors.js";
import { errorOf, isRefusal, text, type Answer } from "./exchange.js";

/**
 * - `not sent`: nothing was sent under this reference
 * - `unknown`: the gateway has the payout, and does not know its outcome
 * - `later`: this request did nothing, an earlier one may have; repeat it
 * - `stored`: so too, and the stored payout says why
 * - `refused`: so too, and no repetition helps
 * - `lost`: the request may arrive yet, or has arrived
 */
export type Proof = "not sent" | "unknown" | "later" | "stored" | "refused" | "lost";

const TABLE: Readonly<Record<string, Proof>> = {
  "502 SVC.ACC.005": "not sent",
  "502 SVC.PIX.010": "unknown",
  "500 SVC.SYS.001": "unknown",
  "400 SVC.PIX.010": "stored",
  "403 SVC.PIX.010": "stored",
};

export function proofOf(answer: Answer): Proof {
  if (!answer.mayHaveLeft) return "later";
  if (!answer.document || answer.status === 200) return "lost";
  const listed = TABLE[`${answer.status} ${text(answer, "code")}`];
  if (listed) return listed;
  if ([408, 429, 503].includes(answer.status)) return "later";
  return isRefusal(answer) ? "refused" : "unknown";
}

/** What the answers to one call of `pay` prove so far. */
export class Evidence {
  readonly #reference: string;
  /** Nothing was sent under the reference, by the caller's or the gateway's word. */
  #unsent: boolean;
  /** A request was never answered. A copy of it may still arrive and pay, whatever is said later. */
  #lost = false;
  /** The gateway has the payout and does not know its outcome. */
  #asked = false;
  #last: Answer = { status: 0, retryAfterS: 0, mayHaveLeft: false };

  constructor(reference: string, first: boolean) {
    this.#reference = reference;
    this.#unsent = first;
  }

  /** Add an answer that is no success. */
  take(answer: Answer): Proof {
    this.#last = answer;
    const proof = proofOf(answer);
    this.#lost ||= proof === "lost";
    if (proof === "not sent" || proof === "unknown") {
      this.#unsent = proof === "not sent";
      this.#asked = !this.#unsent;
    }
    return proof;
  }

  /** The error for an answer that no repetition changes. */
  refusal(): PixgateError {
    if (this.#lost || this.#asked) {
      return this.error(Unknown, "refused, but an earlier request may have paid");
    }
    return this.error(Refused, "refused");
  }

  /** The error for a reference that another payout has: an order of this content was never taken. */
  conflict(): PixgateError {
    return this.error(Refused, "the reference is another payout's");
  }

  /** The error for a refusal whose stored payout cannot be read. */
  unreadable(): PixgateError {
    return this.error(Unknown, "refused, and what is stored under the reference cannot be read");
  }

  /** The error for a deadline that has passed. */
  surrender(): PixgateError {
    if (this.#lost || this.#asked) return this.error(Unknown, "the outcome is not known yet");
    if (this.#last.status === 429) return this.error(RateLimited, "too many calls");
    if (this.#unsent) return this.error(NotSent, "certainly not sent");
    return this.error(Unknown, "this call sent nothing; an earlier one may have");
  }

  /** Whether the last answer was a 400. */
  get isBadRequest(): boolean {
    return this.#last.status === 400;
  }

  private error(Kind: typeof PixgateError, said: string): PixgateError {
    return errorOf(Kind, said, this.#last, this.#reference);
  }
}
