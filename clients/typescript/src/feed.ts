/** The feed of events. */

import { CursorExpired, CursorInvalid, Refused, Unavailable } from "./errors.js";
import type { Event, EventList } from "./schemas.js";

export interface FeedOptions {
  /** The cursor that was stored; without it, or empty, the oldest event of the last 30 days comes first. */
  after?: string | null | undefined;
  /** A type such as `payout.paid`, or several; all unless given. */
  types?: string | readonly string[];
  /** Seconds that a call waits for an event, 25 unless given; with 0 the iteration ends with the feed. */
  waitS?: number;
  /** Ends the iteration, a waiting call too. */
  signal?: AbortSignal;
}

const isText = (value: unknown): boolean => typeof value === "string";
const OPTIONS: Record<keyof FeedOptions, (value: unknown) => boolean> = {
  after: (value) => value === null || isText(value),
  types: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
  waitS: Number.isInteger,
  signal: (value) => typeof value === "object",
};

/** Read options, or the cursor alone; raises TypeError for what would be passed over. */
export function feedOptions(from: string | FeedOptions): FeedOptions {
  const options = typeof from === "string" ? { after: from } : from;
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError("events takes a cursor, or options such as { after: cursor }");
  }
  for (const [name, value] of Object.entries(options)) {
    const isOption = Object.hasOwn(OPTIONS, name) && OPTIONS[name as keyof FeedOptions];
    if (!isOption) throw new TypeError(`events takes ${Object.keys(OPTIONS).join(", ")}, and nothing else`);
    if (value !== undefined && !isOption(value)) throw new TypeError(`${name} of events has another type`);
  }
  return options;
}

export type ReadEvents = (
  path: string, waitS: number, signal: AbortSignal | undefined,
) => Promise<EventList>;

/** Events in their order. After a crash some come again, with the same `id`. */
export class Feed implements AsyncIterable<Event> {
  readonly #read: ReadEvents;
  readonly #options: FeedOptions;
  #cursor: string;

  constructor(read: ReadEvents, options: FeedOptions) {
    this.#read = read;
    this.#options = options;
    this.#cursor = options.after ?? "";
  }

  /** What to store once the event at hand is dealt with, and to give as `after` the next time. */
  get cursor(): string {
    return this.#cursor;
  }

  /**
   * @throws CursorExpired, CursorInvalid The cursor cannot be used.
   * @throws Refused The credential lacks `event:read`, for example.
   * @throws Unavailable, RateLimited The gateway was away for too long: iterate again.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const { waitS = 25, signal } = this.#options;
    while (!signal?.aborted) {
      const part = await this.#part(waitS);
      if (!part) return;
      for (const [index, event] of part.data.entries()) {
        if (signal?.aborted) return;
        if (index === part.data.length - 1) this.#cursor = part.next;
        yield event;
      }
      this.#cursor = part.next;
      if (part.data.length === 0 && waitS === 0) return;
    }
  }

  /** Read the events behind the cursor; undefined if the iteration was ended meanwhile. */
  async #part(waitS: number): Promise<EventList | undefined> {
    const { types, signal } = this.#options;
    const query = new URLSearchParams({ limit: "100", wait: String(waitS) });
    if (this.#cursor) query.set("after", this.#cursor);
    if (types) query.set("types", [types].flat().join(","));
    try {
      return await this.#read(`/events?${query.toString()}`, waitS, signal);
    } catch (error) {
      if (signal?.aborted && error instanceof Unavailable) return undefined;
      throw error instanceof Refused ? ofCursor(error) : error;
    }
  }
}

/** Name a refusal of the cursor by its type; the message names the field. */
function ofCursor(refused: Refused): Refused {
  if (refused.status !== 400 || !/\bafter\b/.test(refused.message)) return refused;
  const Kind = { "SVC.VAL.008": CursorExpired, "SVC.VAL.011": CursorInvalid }[refused.code];
  return Kind ? new Kind(refused.message, { ...refused, cause: refused }) : refused;
}
