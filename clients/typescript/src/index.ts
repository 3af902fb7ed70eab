export { fromCentavos, toCentavos } from "./amounts.js";
export { Client } from "./client.js";
export type { ClientOptions, Clock, PayOptions, Window } from "./client.js";
export {
  CursorExpired, CursorInvalid, NotFound, NotSent, PixgateError, RateLimited, Refused,
  SignatureInvalid, Unavailable, Unknown,
} from "./errors.js";
export type { Feed, FeedOptions } from "./feed.js";
export type {
  Account, Balance, BankAccountPayout, BankAccountPayoutRequest, Charge, Closing, Event, Failure, Payout,
  PayoutList, PayoutRequest, PixKey, PixKeyList, PixPayout, PixPayoutRequest, PixTransaction,
  Statement, StatementEntry,
} from "./schemas.js";
export { toDate, utcDay } from "./times.js";
export { verify } from "./webhooks.js";
export type { VerifyOptions } from "./webhooks.js";
