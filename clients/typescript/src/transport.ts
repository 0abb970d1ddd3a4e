// One call of the API: the requests that it takes, their retries, and what comes back.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkAll, type Operation, type Rule } from './arguments.js';
import { contract, version } from './contract.js';
import { errorCodes } from './error-codes.js';
import {
  ConnectionFailed,
  InvalidArgument,
  RateLimited,
  Redirected,
  TempinboxError,
  errorOf,
  quoted,
  type ErrorAnswer,
} from './errors.js';
import { isTimeout, type Fetch, type KnownSettings } from './settings.js';

export type OperationId = keyof typeof contract;

/** Options of every call beside its arguments. */
export interface CallOptions {
  /** The timeout of the call with all its retries; the client's `timeoutSeconds` by default. */
  readonly timeoutSeconds?: number | undefined;
  /** Ends the call with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** For a POST: a repeat with the same key makes nothing twice. A new UUID otherwise. */
  readonly idempotencyKey?: string | undefined;
  /** False: it is sent once, and its failure is thrown as it comes. True. */
  readonly retries?: boolean | undefined;
}

/** The values of a call, by where the contract has them. */
export interface CallArguments {
  readonly path?: Readonly<Record<string, string>>;
  /** Asked again for each try. */
  readonly query?: () => object;
  readonly body?: object;
  readonly accept?: string;
  /**
   * How long the service may keep a try before it answers. Once this client has reached the
   * service, such a call goes on until its deadline however often it is cut.
   */
  readonly holdSeconds?: () => number;
}

type ResponseHeaders = Awaited<ReturnType<Fetch>>['headers'];

interface Answer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly bytes: Uint8Array;
}

interface Pace {
  readonly deadline: Deadline;
  readonly holdSeconds: (() => number) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly retries: boolean;
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** For messages. */
  readonly name: string;
}

const MAX_ANSWER_BYTES = 256 << 20; // the largest message in base64 is about 90 MB
const CUT_RETRY_SECONDS = [0.25, 0.5, 1, 2]; // then it is no restart
const LONG_TRY_SECONDS = 5; // a connection that stood so long was cut anew, as idle ones are
export const UNCONNECTED = 'UND_ERR_CONNECT_TIMEOUT'; // after 10 s, in which no connection stood
export const ANSWER_SECONDS = 15; // for the answer to come, beyond the hold
const LAST_ANSWER_SECONDS = 5; // of these, beyond the deadline
const MIN_WAIT_SECONDS = 0.5; // between retries of a 429 or 503; twice as long each time
const MAX_WAIT_SECONDS = 8; // unless Retry-After says more
/** Errors that a restarting server causes on its connections; all others are passed on. */
const PASSING = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
  UNCONNECTED,
]);
/** No connection stood, so the service cannot have acted. */
const NEVER_SENT = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  UNCONNECTED,
]);
/** A proxy answers so when its service went away under the request. */
const PROXY_CUTS = new Set([502, 504]);
/** The paths whose DELETE finds nothing once an earlier try has worked. */
const DELETED = /\/(inboxe|email|webhook)s\/([^/]+)$/;
const OPTIONS = ['timeoutSeconds', 'signal', 'idempotencyKey', 'retries'];

/** A moment of the monotonic clock after which a call gives up. */
export class Deadline {
  readonly #at: number;

  constructor(readonly seconds: number) {
    this.#at = performance.now() + seconds * 1000;
  }

  /** Below 0 when it is over. */
  get secondsLeft(): number {
    return (this.#at - performance.now()) / 1000;
  }
}

/**
 * Calls operations of the contract. Retries what the service asks to repeat (429, 503) and what was
 * cut, all tries of a POST under one Idempotency-Key, and never waits past the deadline, nor for the
 * next day once the requests of this one are used up.
 */
export class Transport {
  readonly #settings: KnownSettings;
  #wasReached = false;

  constructor(settings: KnownSettings) {
    this.#settings = settings;
  }

  /** The longest single request of a wait. */
  get maxHoldSeconds(): number {
    return this.#settings.maxHoldSeconds;
  }

  /** The page of the account in a browser. */
  get dashboard(): string {
    return `${this.#settings.baseUrl}/dashboard`;
  }

  /**
   * The answer's JSON object, whatever its fields, known or not. No try begins after the deadline;
   * one that the service may hold has about 5 s more for its answer.
   */
  async json<Result>(
    id: OperationId,
    values: CallArguments,
    options: CallOptions = {},
  ): Promise<Result> {
    const { request, answer } = await this.#call(id, values, options);
    const body = parsed(answer.bytes);
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw this.#noJson(request, answer);
    return body as Result;
  }

  /** The answer's bytes. */
  async bytes(
    id: OperationId,
    values: CallArguments,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    return (await this.#call(id, values, options)).answer.bytes;
  }

  async #call(
    id: OperationId,
    values: CallArguments,
    options: CallOptions,
  ): Promise<{ request: Request; answer: Answer }> {
    const operation: Operation = contract[id];
    checkOptions(options, operation);
    const key = options.idempotencyKey ?? randomUUID(); // one for all tries
    const deadline = new Deadline(options.timeoutSeconds ?? this.#settings.timeoutSeconds);
    const { signal, retries = true } = options;
    const pace = { deadline, holdSeconds: values.holdSeconds, signal, retries };
    checkAll(values.body ?? {}, operation.body ?? {}, operation.minFields);
    // Once, as a key is for one body: the caller may change the object between two tries.
    const body = operation.body && JSON.stringify(values.body ?? {});
    return await this.#attempt(() => this.#request(operation, values, key, body), pace);
  }

  #request(
    operation: Operation,
    values: CallArguments,
    key: string,
    body: string | undefined,
  ): Request {
    const parameters: Record<string, unknown> = { ...values.query?.() };
    checkAll(values.path ?? {}, operation.pathParameters ?? {});
    checkAll(parameters, operation.queryParameters ?? {});
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      segment(name, values.path?.[name] ?? ''),
    );
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters))
      if (value !== undefined) append(query, name, value, operation.queryParameters?.[name]);
    const headers: Record<string, string> = {
      'x-api-key': this.#settings.apiKey,
      accept: values.accept ?? 'application/json',
      'user-agent': userAgent(this.#settings.application),
    };
    if (operation.body) headers['content-type'] = 'application/json';
    if (operation.takesIdempotencyKey) headers['idempotency-key'] = key;
    const text = query.toString();
    return {
      method: operation.method,
      url: this.#settings.baseUrl + path + (text && `?${text}`),
      headers,
      body,
      name: `${operation.method} ${this.#settings.baseUrl}${path}`,
    };
  }

  async #attempt(build: () => Request, pace: Pace): Promise<{ request: Request; answer: Answer }> {
    let cuts = 0;
    let refusals = 0;
    // After this a DELETE that finds nothing may have done its work before, and a POST may find
    // its own first try under way.
    let mayHaveWorked = false;
    let lastRefusal: TempinboxError | undefined;
    for (let attempt = 1; ; ++attempt) {
      const request = build();
      const began = performance.now();
      let failure: TempinboxError;
      let waitSeconds: number | undefined;
      const afterCut = (wasConnected: boolean) => {
        mayHaveWorked ||= wasConnected;
        const seconds = (performance.now() - began) / 1000;
        if (wasConnected && seconds > LONG_TRY_SECONDS) cuts = 0;
        const goesOn = pace.holdSeconds !== undefined && this.#wasReached;
        return CUT_RETRY_SECONDS[cuts++] ?? (goesOn ? CUT_RETRY_SECONDS.at(-1) : undefined);
      };
      try {
        const answer = await once(this.#settings.fetch, request, pace, attempt);
        this.#wasReached ||= !PROXY_CUTS.has(answer.status);
        if (answer.status >= 200 && answer.status < 300) return { request, answer };
        if (answer.status === 404 && mayHaveWorked && isDeletion(request))
          return { request, answer: deletedBefore(request) };
        failure = lastRefusal = this.#failure(request, answer);
        if (PROXY_CUTS.has(answer.status)) waitSeconds = afterCut(true);
        else if (!(failure instanceof RateLimited && failure.isDayUsedUp))
          waitSeconds = retryAfter(answer, ++refusals, mayHaveWorked);
        mayHaveWorked ||= answer.status === 503;
      } catch (error) {
        if (!(error instanceof ConnectionFailed)) throw error;
        const { code } = reasonOf(error.cause);
        const isOverdue = error.cause === undefined; // ended by our own timer
        const isHeld = pace.holdSeconds !== undefined;
        const isLast = pace.deadline.secondsLeft <= 0 || (isOverdue && !isHeld);
        // The last try may have had little time: the refusal before it helps more.
        failure = (isLast && lastRefusal) || error;
        if ((isOverdue && isHeld) || PASSING.has(code ?? ''))
          waitSeconds = afterCut(!NEVER_SENT.has(code ?? ''));
      }
      if (waitSeconds === undefined || !pace.retries) throw failure;
      const spread = waitSeconds * (1 + Math.random() / 4); // not all clients at the same moment
      if (spread >= pace.deadline.secondsLeft) throw failure;
      await waitFor(spread, pace.signal);
    }
  }

  #failure(request: Request, answer: Answer): TempinboxError {
    const location = answer.headers.get('location') ?? undefined;
    if (answer.status >= 300 && answer.status < 400)
      return new Redirected(request.name, answer.status, location);
    const body = parsed(answer.bytes);
    if (typeof body !== 'object' || body === null || !('message' in body))
      return this.#noJson(request, answer);
    const { error, message } = body as { error?: unknown; message: unknown };
    return errorOf({
      status: answer.status,
      error: typeof error === 'string' ? error : '',
      code: answer.headers.get('x-error-code') ?? undefined,
      reason: String(message),
      requestId: answer.headers.get('x-request-id') ?? undefined,
      rateLimit: rateLimit(answer.headers),
      retryAfterSeconds: retryAfterHeader(answer.headers),
      resumeAfter: answer.headers.get('x-resume-after') ?? undefined,
      missed: missedEvents(answer.headers),
      isFromApi: true,
      request: request.name,
      dashboard: this.dashboard,
    });
  }

  /** A proxy's page, or another server: as an error of its status, so that 503 stays 503. */
  #noJson(request: Request, answer: Answer): TempinboxError {
    const kind = answer.headers.get('content-type') ?? 'no type';
    const given: ErrorAnswer = {
      status: answer.status,
      error: '',
      code: undefined,
      reason:
        `The answer is not the API's but ${quoted(kind)}. Check that the address (baseUrl or ` +
        'TEMPINBOX_BASE_URL) is the gateway, with its path if it has one.',
      requestId: answer.headers.get('x-request-id') ?? undefined,
      rateLimit: undefined,
      retryAfterSeconds: retryAfterHeader(answer.headers),
      isFromApi: false,
      request: request.name,
      dashboard: this.dashboard,
    };
    return errorOf(given);
  }
}

function checkOptions(options: CallOptions, operation: Operation): void {
  for (const name of Object.keys(options))
    if (!OPTIONS.includes(name))
      throw new InvalidArgument(name, `is unknown here; there are: ${OPTIONS.join(', ')}`);
  const { timeoutSeconds, idempotencyKey } = options;
  if (timeoutSeconds !== undefined && !isTimeout(timeoutSeconds))
    throw new InvalidArgument(
      'timeoutSeconds',
      `must be a number above 0 and up to 86400, not ${String(timeoutSeconds)}`,
    );
  if (idempotencyKey === undefined) return;
  if (!operation.takesIdempotencyKey)
    throw new InvalidArgument('idempotencyKey', 'is only for what makes something');
  if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey) || idempotencyKey.trim() !== idempotencyKey)
    throw new InvalidArgument(
      'idempotencyKey',
      `must be 1 to 255 printable ASCII characters, no space at an end, not ${quoted(idempotencyKey)}`,
    );
}

function append(query: URLSearchParams, name: string, value: unknown, rule?: Rule): void {
  if (rule?.is !== 'pairs') {
    query.append(name, textOf(value));
    return;
  }
  for (const [key, text] of Object.entries(value as Record<string, string>))
    query.append(`${rule.prefix ?? ''}${key}`, text);
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : `${value as string | number | boolean}`;
}

function segment(name: string, value: string): string {
  // Addresses are resolved before they are sent: these would name another object.
  if (value === '.' || value === '..') throw new InvalidArgument(name, `must not be "${value}"`);
  return encodeURIComponent(value);
}

/** One request, up to the last byte of its answer. */
async function once(fetch: Fetch, request: Request, pace: Pace, attempt: number): Promise<Answer> {
  const { deadline, holdSeconds, signal } = pace;
  const held = holdSeconds && holdTimeout(holdSeconds(), deadline);
  const seconds = held ?? Math.max(0, deadline.secondsLeft);
  signal?.throwIfAborted();
  const ended = new AbortController();
  const cancel = () => ended.abort(signal?.reason);
  signal?.addEventListener('abort', cancel, { once: true });
  const timer = setTimeout(() => ended.abort(), seconds * 1000);
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      ...(request.body === undefined ? {} : { body: request.body }),
      redirect: 'manual',
      signal: ended.signal,
    });
    const bytes = await bytesOf(request, response.body);
    return { status: response.status, headers: response.headers, bytes };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof TempinboxError) throw error; // it may come as the timer does
    if (ended.signal.aborted)
      throw new ConnectionFailed(
        request.name,
        `no answer in ${held ?? deadline.seconds} s`,
        attempt,
      );
    const { code, message } = reasonOf(error);
    const problem = code === undefined ? message : `${message} (${code})`;
    throw new ConnectionFailed(request.name, problem, attempt, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

/** The timeout of a request that the server holds, including the hold. */
function holdTimeout(holdSeconds: number, { secondsLeft }: Deadline): number {
  const spare = Math.max(0, Math.round(secondsLeft) - holdSeconds);
  return holdSeconds + Math.min(ANSWER_SECONDS, spare + LAST_ANSWER_SECONDS);
}

async function bytesOf(
  request: Request,
  body: AsyncIterable<Uint8Array> | null,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > MAX_ANSWER_BYTES)
      throw new TempinboxError(`The answer to ${request.name} is over ${MAX_ANSWER_BYTES} bytes`);
  }
  return Buffer.concat(chunks);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Returns the message that fetch hides in its error's causes. */
function reasonOf(error: unknown): { code: string | undefined; message: string } {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    const code: unknown = 'code' in inner ? inner.code : undefined;
    if (typeof code === 'string') return { code, message: inner.message || 'no connection' };
    if (inner.cause === undefined) return { code: undefined, message: inner.message };
  }
  return { code: undefined, message: String(error) };
}

/** Seconds to wait before a repeat; undefined where a repeat does not help. */
function retryAfter(answer: Answer, refusals: number, mayHaveWorked: boolean): number | undefined {
  const fromHeader = retryAfterHeader(answer.headers);
  const backoff = Math.min(MAX_WAIT_SECONDS, MIN_WAIT_SECONDS * 2 ** Math.min(refusals - 1, 10));
  // The try before this one is still under way, under the same Idempotency-Key.
  const code = answer.headers.get('x-error-code');
  const isUnderWay = mayHaveWorked && code === errorCodes.idempotencyInProgress;
  if (answer.status !== 429 && answer.status !== 503 && !isUnderWay) return undefined;
  // Each retry counts against the quota, so also a Retry-After of 1 s each time backs off.
  return Math.max(fromHeader ?? 0, backoff);
}

function retryAfterHeader(headers: ResponseHeaders): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = Date.parse(text); // a proxy's date
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

function missedEvents(headers: ResponseHeaders): number | undefined {
  const text = headers.get('x-missed-events') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function rateLimit(headers: ResponseHeaders) {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? 'none'),
  );
  return Number.isSafeInteger(limit) && Number.isSafeInteger(remaining) && isMoment(reset)
    ? { limit: limit as number, remaining: remaining as number, resetsAt: new Date(reset * 1000) }
    : undefined;
}

function isMoment(seconds: number | undefined): seconds is number {
  return seconds !== undefined && seconds >= 0 && seconds <= 8_640_000_000_000;
}

function userAgent(application: string): string {
  const client = `tempinbox-typescript/${version} node/${process.versions.node}`;
  return application === '' ? client : `${application} ${client}`;
}

function isDeletion(request: Request): boolean {
  return request.method === 'DELETE' && DELETED.test(new URL(request.url).pathname);
}

/** The answer that an earlier try of this DELETE had, and that was cut. */
function deletedBefore(request: Request): Answer {
  const [, kind, id] = DELETED.exec(new URL(request.url).pathname) ?? [];
  const body = { [kind === 'inboxe' ? 'inboxId' : `${kind}Id`]: id, deleted: true };
  return { status: 200, headers: new Headers(), bytes: Buffer.from(JSON.stringify(body)) };
}

/** Rejects with the signal's own reason. */
export async function waitFor(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(seconds * 1000, undefined, signal ? { signal } : {});
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
