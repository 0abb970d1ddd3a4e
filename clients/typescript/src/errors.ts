// Every error of this package, below one class. A message says what went wrong, what is allowed and
// what to do; text of strangers in it is quoted, cut and has no control characters.
import { type ErrorCode, errorCodes } from './error-codes.js';
import type { components } from './openapi.js';

type Email = components['schemas']['Email'];
type EmailSummary = components['schemas']['EmailSummary'];
type NearMiss = components['schemas']['NearMiss'];

/** The base of every error of this package. */
export class TempinboxError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The client's own settings are missing or malformed. */
export class ConfigurationError extends TempinboxError {}

/** An argument is not what the API allows; nothing was sent. */
export class InvalidArgument extends TempinboxError {
  constructor(
    readonly argument: string,
    problem: string,
  ) {
    super(`${argument} ${problem}`);
  }
}

/** The plan's requests a UTC day, as the answer's headers say. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly resetsAt: Date;
}

/** An answer of the service that is not a success. */
export interface ErrorAnswer {
  readonly status: number;
  /** The status' name. */
  readonly error: string;
  /** `X-Error-Code`. */
  readonly code: string | undefined;
  /** The service's explanation: the field, the value it got, the values it allows. */
  readonly reason: string;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** `X-Resume-After`: the cursor to go on with, of a feed. */
  readonly resumeAfter?: string | undefined;
  /** `X-Missed-Events`. */
  readonly missed?: number | undefined;
  /** False if the answer is not the API's: another server's, or a proxy's page. */
  readonly isFromApi: boolean;
  /** `GET https://host/v1/…` */
  readonly request: string;
  /** The page under which keys, plan and mail are seen. */
  readonly dashboard: string;
}

/** The service answered with an error. */
export class ApiError extends TempinboxError {
  readonly status: number;
  readonly error: string;
  /**
   * The reason, for programs: one of `errorCodes`, or one of a newer service; undefined where the
   * answer is a proxy's.
   */
  readonly code: ErrorCode | (string & {}) | undefined;
  /** The reason in words, which may change at any time: for people. */
  readonly reason: string;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** False if the answer is not the API's: another server's, or a proxy's page. */
  readonly isFromApi: boolean;

  constructor(answer: ErrorAnswer, advice = '') {
    const id = answer.requestId === undefined ? '' : `, request ${answer.requestId}`;
    super(
      `${sentence(answer.reason)}${advice && ` ${advice}`} (${answer.request} was answered ` +
        `${answer.status} ${answer.error}${id})`,
    );
    this.status = answer.status;
    this.error = answer.error;
    this.code = answer.code;
    this.reason = answer.reason;
    this.requestId = answer.requestId;
    this.rateLimit = answer.rateLimit;
    this.retryAfterSeconds = answer.retryAfterSeconds;
    this.isFromApi = answer.isFromApi;
  }
}

/** 400: a field or parameter is wrong. */
export class BadRequest extends ApiError {
  /** The field, where the code is `invalid_field`: the message then begins with its name. */
  readonly field: string | undefined;

  constructor(answer: ErrorAnswer) {
    super(answer);
    if (answer.code === errorCodes.invalidField)
      this.field = /^[A-Za-z][\w.[\]-]*/.exec(answer.reason)?.[0];
  }
}

/** 401: the key is wrong, revoked or expired. */
export class Unauthorized extends ApiError {
  constructor(answer: ErrorAnswer) {
    super(
      answer,
      'The API key is wrong, revoked or expired: make one in the dashboard under Settings, API ' +
        `Keys (${answer.dashboard}/settings/keys), and give it as apiKey or in TEMPINBOX_API_KEY.`,
    );
  }
}

/** 403: the plan, or the key's scopes, do not allow it. */
export class Forbidden extends ApiError {
  constructor(answer: ErrorAnswer) {
    super(
      answer,
      `What your plan allows is under Account (${answer.dashboard}/account), what a key may do ` +
        `under Settings, API Keys (${answer.dashboard}/settings/keys).`,
    );
  }
}

/** 404: it does not exist, it ended, or it is another account's. */
export class NotFound extends ApiError {}

/** 409: it is taken, or under way. */
export class Conflict extends ApiError {}

/** 410: events behind the cursor are gone, or were not recorded. */
export class CursorExpired extends ApiError {
  /** How many, if that is known. */
  readonly missed: number | undefined;
  /** Decide what the loss means, then go on with this as `after`. */
  readonly resumeAfter: string;

  constructor(answer: ErrorAnswer) {
    super(answer);
    this.missed = answer.missed;
    this.resumeAfter = answer.resumeAfter ?? 'earliest';
  }
}

/** 410: the service was put back to an earlier moment than the cursor's. */
export class CursorReset extends ApiError {
  /** Go on with this as `after`, and drop by `eventId` what you have. */
  readonly resumeAfter: string;

  constructor(answer: ErrorAnswer) {
    super(answer);
    this.resumeAfter = answer.resumeAfter ?? 'earliest';
  }
}

/** 422: the Idempotency-Key was used for another body. */
export class UnprocessableContent extends ApiError {}

/** 429: the requests of the day or of the second are used up, or another number of the account. */
export class RateLimited extends ApiError {
  /** True if the day's requests are used up: waiting helps only from `rateLimit.resetsAt` on. */
  readonly isDayUsedUp: boolean;

  constructor(answer: ErrorAnswer) {
    const { rateLimit } = answer;
    const isDayUsedUp = answer.code === errorCodes.dailyLimit;
    super(
      answer,
      isDayUsedUp && rateLimit !== undefined
        ? `The day's requests are used up until ${rateLimit.resetsAt.toISOString()}; a larger ` +
            `plan has more (${answer.dashboard}/account).`
        : `Try again after ${answer.retryAfterSeconds ?? 1} s, or give the call a longer ` +
            'timeoutSeconds: the client then waits by itself.',
    );
    this.isDayUsedUp = isDayUsedUp;
  }
}

/** 503: a part of the service cannot be reached, or is busy. */
export class ServiceUnavailable extends ApiError {
  constructor(answer: ErrorAnswer) {
    super(answer, 'Try again, or give the call a longer timeoutSeconds: the client then waits.');
  }
}

/** The error of a status, or of its code. */
export function errorOf(answer: ErrorAnswer): ApiError {
  if (answer.code === errorCodes.cursorExpired) return new CursorExpired(answer);
  if (answer.code === errorCodes.cursorReset) return new CursorReset(answer);
  switch (answer.status) {
    case 400:
      return new BadRequest(answer);
    case 401:
      return new Unauthorized(answer);
    case 403:
      return new Forbidden(answer);
    case 404:
      return new NotFound(answer);
    case 409:
      return new Conflict(answer);
    case 422:
      return new UnprocessableContent(answer);
    case 429:
      return new RateLimited(answer);
    case 503:
      return new ServiceUnavailable(answer);
    default:
      return new ApiError(answer);
  }
}

/** The answer is a redirect, which is not followed, for the API key would go along. */
export class Redirected extends TempinboxError {
  constructor(
    request: string,
    readonly status: number,
    readonly location: string | undefined,
  ) {
    super(
      `${request} was answered ${status}, a redirect` +
        `${location === undefined ? '' : ` to ${quoted(location)}`}, which is not followed, for ` +
        'the API key would go along: give the address (baseUrl or TEMPINBOX_BASE_URL) behind it.',
    );
  }
}

/** No answer: nothing listens there, the connection was cut, or the answer took too long. */
export class ConnectionFailed extends TempinboxError {
  constructor(
    request: string,
    problem: string,
    readonly attempts: number,
    cause?: unknown,
  ) {
    const tried = attempts > 1 ? `, ${attempts} times` : '';
    super(
      `${request} failed${tried}: ${problem}. Check that the service is running and reachable ` +
        'from here, and that its address (baseUrl or TEMPINBOX_BASE_URL) is right.',
      { cause },
    );
  }
}

/** The conditions of a wait, and the inbox it looked in. */
export interface Wait {
  readonly inboxId: string;
  readonly emailAddress: string | undefined;
  /** In words, such as `subject: "your code"`. */
  readonly criteria: readonly string[];
  readonly timeoutSeconds: number;
  readonly dashboard: string;
}

/** An email that came but did not match, with the first condition that it failed. */
export type Miss = Omit<NearMiss, 'field'> & { readonly field: string };

/** No email matched in time, or fewer than were waited for. */
export class WaitTimeout extends TempinboxError {
  readonly inboxId: string;
  readonly nearMisses: readonly Miss[];

  constructor(
    wait: Wait,
    nearMisses: readonly Miss[],
    /** Those that matched, where several were waited for. */
    readonly emails: readonly EmailSummary[] = [],
    minCount = 1,
  ) {
    const link = inboxLink(wait);
    const misses = nearMisses.map(
      (miss) =>
        `    - ${miss.field} should be ${quoted(miss.expected)}, is ${quoted(miss.actual)}: ` +
        `${link}/${miss.emailId}`,
    );
    super(
      [
        `${minCount > 1 ? `${emails.length} of ${minCount} emails` : 'No email'} matched within ` +
          `${wait.timeoutSeconds} s.`,
        `  inbox: ${inboxName(wait)}`,
        `  asked for: ${wait.criteria.join(', ')}`,
        ...emails.map(
          (email) =>
            `  matched: ${quoted(email.subject)} from ${quoted(email.from)}: ` +
            `${link}/${email.emailId}`,
        ),
        ...(misses.length === 0
          ? [
              '  near misses: none, no other email came either; listRejections says what was refused',
            ]
          : [`  near misses, the newest first:`, ...misses]),
        `  look: ${link}`,
      ].join('\n'),
    );
    this.inboxId = wait.inboxId;
    this.nearMisses = nearMisses;
  }
}

/** An email came that should not. */
export class UnexpectedEmail extends TempinboxError {
  constructor(
    wait: Wait,
    readonly email: Email,
  ) {
    super(
      [
        `An email came that should not: ${quoted(email.subject)} from ${quoted(email.from)}, ` +
          `received at ${email.receivedAt}.`,
        `  inbox: ${inboxName(wait)}`,
        `  none was to match: ${wait.criteria.join(', ')}`,
        `  look: ${inboxLink(wait)}/${email.emailId}`,
      ].join('\n'),
    );
  }
}

/** A webhook's request is not from the service, or is too old. */
export class WebhookVerificationError extends TempinboxError {}

function inboxLink(wait: Wait): string {
  return `${wait.dashboard}/inboxes/${wait.inboxId}`;
}

function inboxName(wait: Wait): string {
  return wait.emailAddress === undefined ? wait.inboxId : `${wait.emailAddress} (${wait.inboxId})`;
}

/** Text of strangers for a message: in quotes, in one line, without invisible characters, cut. */
export function quoted(text: string, maxCharacters = 100): string {
  const shown = Array.from(text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '));
  const cut = shown.length > maxCharacters;
  return `"${shown.slice(0, maxCharacters).join('')}${cut ? '…' : ''}"`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
