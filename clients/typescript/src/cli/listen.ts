// `listen`: each event of the account's feed becomes a POST, as the webhook would come.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { errorCodes } from '../error-codes.js';
import { ApiError, CursorExpired, CursorReset } from '../errors.js';
import type { EventPage, FeedEvent } from '../events.js';
import { holdOption, type Arguments, type Command, type CommandOutput } from './command.js';
import { toText } from './duration.js';
import { badUsage, CommandFailure, describeCause, exitCodes, explain } from './failure.js';
import { fieldsOf, integerOf, textOf } from './fields.js';
import { positionFile } from './platform.js';
import { PositionFile, type Position } from './position-file.js';
import { printableLine, quote } from './printable.js';
import { Progress, withProgress } from './progress.js';
import type { Session } from './session.js';
import { checkUrl } from './settings.js';
import { readWebhookSecret, webhookHeaders, webhookPayload } from './webhook.js';

const TARGET_MS = 15_000; // as the service gives a webhook
const MAX_TARGET_BYTES = 64 * 1024;
const MAX_ATTEMPTS = 1_000_000;
const MAX_DELAY_SECONDS = 60;
// A request that stood so long was ended as a proxy ends idle ones; the service is there.
const LONG_REQUEST_MS = 5_000;
const ANSWER_SECONDS = 15; // beyond the hold
const MAX_AGE_SECONDS = 72 * 3600; // of an event in the feed
// What the answer to the request takes on its way: a time at the very bound would be refused.
const AGE_SPARE_SECONDS = 60;
const MAX_TAG_LENGTH = 50;
const TYPES = ['email.received', 'inbox.created', 'inbox.expired'] as const;
const FINGERPRINT_LENGTH = 16;

type EventType = (typeof TYPES)[number];

/** Which events are followed. */
interface Scope {
  readonly inboxId?: string;
  readonly tag?: string;
  readonly types?: EventType[];
}

/** What is forwarded, and where to. */
interface Forwarding {
  readonly scope: Scope;
  readonly target: string;
  readonly key: Buffer | undefined;
  readonly maxAttempts: number;
  readonly skipsMissed: boolean;
}

/** Where following begins: behind a cursor, at a word of the API's, or at a time. */
type Beginning = { readonly after: string } | { readonly since: string };

/** What one request to the target carries, and where its delivery leaves the run. */
interface Parcel {
  readonly eventId: string;
  readonly payload: unknown;
  readonly body: string;
  readonly behind: Position;
}

/** One attempt to hand a parcel to the target. */
interface Attempt {
  readonly number: number;
  readonly status: number; // 0: none came
  readonly error: string;
  readonly milliseconds: number;
  readonly isDelivered: boolean;
  readonly nextSeconds: number | undefined;
}

/** Where each request succeeds sooner or later, such as a webhook's: 1, 2, 4 … 60 s. */
export function deliveryDelay(attempts: number): number {
  return Math.min(2 ** Math.min(attempts - 1, 10), MAX_DELAY_SECONDS);
}

/** An email's sender and subject, or the address of an inbox. */
function describePayload(payload: unknown): string {
  const { data } = fieldsOf(payload);
  const address = printableLine(textOf(data, 'emailAddress'));
  if (address !== '') return address;
  return `${printableLine(textOf(data, 'from'))}  ${quote(printableLine(textOf(data, 'subject')))}`;
}

function toLine({ payload }: Parcel, attempt: Attempt): string {
  const event = printableLine(textOf(payload, 'event'));
  const outcome = attempt.error === '' ? String(attempt.status) : attempt.error;
  const number = attempt.number > 1 || !attempt.isDelivered ? `  attempt ${attempt.number}` : '';
  const again =
    attempt.nextSeconds === undefined ? '' : `, again in ${toText(attempt.nextSeconds)}`;
  return (
    `${new Date().toISOString()}  ${event}  ${outcome}  ${attempt.milliseconds} ms  ` +
    `${describePayload(payload)}${number}${again}\n`
  );
}

function toJsonLine({ eventId, payload }: Parcel, attempt: Attempt): string {
  const line = {
    at: new Date().toISOString(),
    event: textOf(payload, 'event'),
    eventId,
    inboxId: textOf(fieldsOf(payload)['data'], 'inboxId'),
    attempt: attempt.number,
    statusCode: attempt.status === 0 ? null : attempt.status,
    durationMs: attempt.milliseconds,
    error: attempt.error === '' ? null : attempt.error,
    isDelivered: attempt.isDelivered,
    nextAttemptInSeconds: attempt.nextSeconds ?? null,
  };
  return `${JSON.stringify(line)}\n`;
}

async function printNow(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error)
        reject(new CommandFailure(exitCodes.localFailure, 'standard output cannot be written'));
      else resolve();
    });
  });
}

/** Forwards events one after the other, in the order of the feed. */
class Forwarder {
  readonly #session: Session;
  readonly #forwarding: Forwarding;
  readonly #position: PositionFile;
  // Emails that were forwarded from the inbox's list: the feed may bring them once more.
  readonly #known = new Set<string>();
  #kept: string | undefined; // the cursor in the file

  constructor(session: Session, forwarding: Forwarding, position: PositionFile) {
    this.#session = session;
    this.#forwarding = forwarding;
    this.#position = position;
  }

  /** Ends by an exception only: what the service refuses for good, or a target that is gone. */
  async run(beginning: Beginning, progress: Progress, begun: () => void): Promise<never> {
    let next = beginning;
    let isFirst = true;
    let failures = 0;
    for (;;) {
      const requestedAt = performance.now();
      try {
        // The first without a wait, so that there is a place, whatever happens to the next one.
        const hold = isFirst ? 0 : this.#session.holdSeconds;
        const { events, nextCursor } = await this.#ask(next, hold);
        failures = 0;
        progress.hide();
        if (events.length === 0) this.#keep({ cursor: nextCursor });
        if (isFirst) begun();
        isFirst = false;
        for (const event of events) await this.#forward(event);
        // Also behind what the filters left out, which is not looked at once more.
        this.#keep({ cursor: nextCursor });
        next = { after: nextCursor };
      } catch (error) {
        progress.hide();
        if (error instanceof CursorExpired || error instanceof CursorReset) {
          next = { after: this.#resume(error) };
          if (++failures > 1) await sleep(deliveryDelay(failures) * 1000);
          continue;
        }
        if (performance.now() - requestedAt > LONG_REQUEST_MS) failures = 0;
        await backOff(this.#explain(error), ++failures);
      }
    }
  }

  /**
   * Goes on from the sequence of an earlier version: the mail behind it is in the inbox's list, and
   * what comes from the answered place on is in the feed.
   */
  async leaveSequence(inbox: string, sequence: number): Promise<string> {
    const { client } = this.#session;
    const caughtUp = await this.#forwardList(inbox, sequence);
    this.#known.clear();
    const { nextCursor } = await client.listEvents({ ...this.#forwarding.scope, after: 'latest' });
    await this.#forwardList(inbox, caughtUp);
    this.#keep({ cursor: nextCursor });
    return nextCursor;
  }

  async #ask(next: Beginning, holdSeconds: number) {
    const page: EventPage = {
      ...this.#forwarding.scope,
      ...next,
      ...(holdSeconds > 0 ? { waitSeconds: holdSeconds } : {}),
    };
    const timeoutSeconds = holdSeconds + ANSWER_SECONDS;
    return await this.#session.client.listEvents(page, { timeoutSeconds, retries: false });
  }

  async #forwardList(inbox: string, sequence: number): Promise<number> {
    let last = sequence;
    const emails = this.#session.client.listInboxEmails(inbox, { after: sequence, order: 'asc' });
    for await (const email of emails) {
      last = integerOf(email, 'sequence');
      const body = webhookPayload(email);
      const payload: unknown = JSON.parse(body);
      const eventId = textOf(email, 'emailId');
      await this.#deliver({ eventId, payload, body, behind: { sequence: last } });
      this.#known.add(eventId);
    }
    return last;
  }

  async #forward({ eventId, payload, cursor }: FeedEvent): Promise<void> {
    if (this.#known.delete(eventId)) return;
    await this.#deliver({ eventId, payload, body: JSON.stringify(payload), behind: { cursor } });
  }

  #keep(position: Position): void {
    if ('cursor' in position && position.cursor === this.#kept) return;
    this.#position.write(position);
    this.#kept = 'cursor' in position ? position.cursor : undefined;
  }

  /** Where to go on after what is lost, or comes again, once that may be. */
  #resume(error: CursorExpired | CursorReset): string {
    const { resumeAfter } = error;
    if (error instanceof CursorReset) {
      process.stderr.write(
        'tempinbox: the service was put back to an earlier moment: some events come once more, ' +
          'with the same webhook-id\n',
      );
    } else {
      const count = error.missed === undefined ? 'an unknown number of' : String(error.missed);
      const missed = `${count} events were missed: they are gone, or were not recorded`;
      if (!this.#forwarding.skipsMissed)
        throw new CommandFailure(
          exitCodes.missedEvents,
          `${missed}. --skip-missed goes on behind them`,
        );
      process.stderr.write(`tempinbox: ${missed}; going on behind them\n`);
    }
    return resumeAfter;
  }

  #explain(error: unknown): CommandFailure {
    const failure = explain(error, this.#session.origin);
    if (!(error instanceof ApiError && error.code === errorCodes.invalidCursor)) return failure;
    return badUsage(
      `${failure.message}. The position that was kept is not of this account; --after latest ` +
        'begins anew',
    );
  }

  /** Until the target takes it. */
  async #deliver(parcel: Parcel): Promise<void> {
    for (let number = 1; ; ++number) {
      const attempt = await this.#send(parcel, number);
      // First the position, then the line: what was shown is not sent again.
      if (attempt.isDelivered) this.#keep(parcel.behind);
      await printNow((this.#session.isJson ? toJsonLine : toLine)(parcel, attempt));
      if (attempt.isDelivered) return;
      if (attempt.status === 410)
        throw new CommandFailure(
          exitCodes.localFailure,
          'the target answered 410 Gone: it wants no more',
        );
      if (attempt.nextSeconds === undefined)
        throw new CommandFailure(
          exitCodes.localFailure,
          `the target did not take the event ${parcel.eventId} in ${number} attempts; listen ` +
            'begins with it the next time',
        );
      await sleep(attempt.nextSeconds * 1000);
    }
  }

  async #send({ eventId, body }: Parcel, number: number): Promise<Attempt> {
    const { target, key, maxAttempts } = this.#forwarding;
    const headers = webhookHeaders(eventId, Math.floor(Date.now() / 1000), body, key, number);
    const began = performance.now();
    let status = 0;
    let error = '';
    try {
      status = await this.#post(target, headers, body);
    } catch (cause) {
      error = describeCause(isAbort(cause) ? undefined : cause).message;
    }
    const isDelivered = error === '' && status >= 200 && status < 300;
    const isOver = isDelivered || status === 410 || number >= maxAttempts;
    return {
      number,
      status,
      error,
      milliseconds: Math.round(performance.now() - began),
      isDelivered,
      nextSeconds: isOver ? undefined : deliveryDelay(number),
    };
  }

  /** The status of the answer, once the whole of it has come. */
  async #post(url: string, headers: Record<string, string>, body: string): Promise<number> {
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(), TARGET_MS);
    try {
      const response = await this.#session.fetch(url, {
        method: 'POST',
        headers: { ...headers, connection: 'close' }, // one may be closed before the next event
        body,
        redirect: 'manual',
        signal: ended.signal,
      });
      let bytes = 0;
      for await (const chunk of response.body ?? [])
        if ((bytes += chunk.length) > MAX_TARGET_BYTES) throw new Error('the answer is too large');
      return response.status;
    } finally {
      clearTimeout(timer);
    }
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** A service that is away or busy is waited for; what it refuses for good ends the run. */
async function backOff(failure: CommandFailure, attempts: number): Promise<void> {
  const { code, message, retryAfterSeconds = 0 } = failure;
  if (code !== exitCodes.unreachable && code !== exitCodes.overLimit) throw failure;
  const seconds = Math.max(retryAfterSeconds, deliveryDelay(attempts));
  process.stderr.write(`tempinbox: ${message}; again in ${toText(Math.ceil(seconds))}\n`);
  await sleep(seconds * 1000);
}

async function readScope(session: Session, given: Arguments): Promise<Scope> {
  if (['inbox', 'tag', 'all'].filter((name) => given.has(name)).length !== 1)
    throw badUsage('give one of --inbox INBOX, --tag TAG and --all: whose events to forward');
  const types = readTypes(given);
  const tag = given.text('tag', 1, MAX_TAG_LENGTH);
  const inbox = given.value('inbox');
  return {
    ...(inbox === undefined ? {} : { inboxId: await session.findInbox(inbox) }),
    ...(tag === undefined ? {} : { tag }),
    ...(types === undefined ? {} : { types }),
  };
}

/** Each once and in one order, so that those that mean the same share a position. */
function readTypes(given: Arguments): EventType[] | undefined {
  const words = given.value('types')?.split(',');
  for (const word of words ?? [])
    if (!TYPES.some((type) => type === word))
      throw badUsage(
        `--types must be of ${TYPES.join(', ')}, with commas between, not ${quote(word)}`,
      );
  return words && TYPES.filter((type) => words.includes(type));
}

/** Where the command line says; absent where it leaves that to the run before. */
function readBeginning(given: Arguments): Beginning | undefined {
  const seconds = given.duration('since', 1, MAX_AGE_SECONDS);
  const after = given.value('after');
  if (seconds === undefined) return after === undefined ? undefined : { after };
  if (after !== undefined) throw badUsage('--since and --after each say where to begin: give one');
  const age = Math.min(seconds, MAX_AGE_SECONDS - AGE_SPARE_SECONDS);
  return { since: new Date(Date.now() - age * 1000).toISOString() };
}

function readForwarding(session: Session, given: Arguments): Omit<Forwarding, 'scope'> {
  const target = given.value('forward-to') ?? '';
  checkUrl('--forward-to', target);
  given.integer('hold', 1, 60);
  const maxAttempts = given.integer('max-attempts', 1, MAX_ATTEMPTS) ?? Infinity;
  const text = given.value('secret') ?? session.platform.variables('TEMPINBOX_WEBHOOK_SECRET');
  const key = text === undefined ? undefined : readWebhookSecret(text);
  return { target, key, maxAttempts, skipsMissed: given.has('skip-missed') };
}

/** One file for a target and what is followed. */
function positionPath(session: Session, { scope, target }: Forwarding, given: Arguments): string {
  const named = given.value('state-file');
  if (named !== undefined) return named;
  const { inboxId, tag, types } = scope;
  // Inboxes have ids that no other service has; tags, and all, are of one service.
  const parts =
    inboxId === undefined
      ? [session.client.dashboard, target, tag ?? null, types ?? null]
      : [inboxId, target, types ?? null, null, null]; // as earlier versions named it
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const what = inboxId ?? (tag === undefined ? 'all' : 'tag');
  const file = positionFile(session.platform, `${what}-${digest.slice(0, FINGERPRINT_LENGTH)}`);
  if (file !== undefined) return file;
  throw badUsage(
    'without a home folder there is no place for the position: give --state-file FILE',
  );
}

function describeScope({ inboxId, tag, types }: Scope): string {
  const kinds = types === undefined ? 'events' : types.join(', ');
  if (inboxId !== undefined) return `${kinds} of inbox ${inboxId}`;
  return tag === undefined ? `${kinds} of the account` : `${kinds} of inboxes tagged ${quote(tag)}`;
}

async function listen(session: Session, given: Arguments): Promise<CommandOutput> {
  const params = readForwarding(session, given);
  const chosen = readBeginning(given);
  const forwarding = { ...params, scope: await readScope(session, given) };
  const position = new PositionFile(positionPath(session, forwarding, given));
  try {
    const stored = chosen === undefined ? position.read() : undefined;
    const signed = params.key ? 'signed' : 'not signed (no --secret)';
    const target = printableLine(params.target);
    const from = stored === undefined ? '' : ', from where the last run ended';
    const begun = () => {
      process.stderr.write(
        `forwarding ${describeScope(forwarding.scope)} to ${target}${from}, ${signed}\n`,
      );
    };
    const forwarder = new Forwarder(session, forwarding, position);
    const progress = new Progress(session.platform, 'listening:');
    return await withProgress(progress, async () => {
      const after = stored && (await cursorOf(stored, forwarder, forwarding.scope));
      const beginning = after === undefined ? (chosen ?? { after: 'latest' }) : { after };
      return await forwarder.run(beginning, progress, begun);
    });
  } finally {
    position.close();
  }
}

async function cursorOf(
  stored: Position,
  forwarder: Forwarder,
  { inboxId, types }: Scope,
): Promise<string | undefined> {
  if ('cursor' in stored) return stored.cursor;
  if (inboxId === undefined)
    throw badUsage('the position that was kept is of one inbox: give --inbox, or --after latest');
  if (types?.includes('email.received') === false) return undefined;
  return await forwarder.leaveSequence(inboxId, stored.sequence);
}

export const listenCommand: Command = {
  name: 'listen',
  purpose: 'Forwards events of the account to a URL, as webhooks would come',
  options: [
    { name: 'inbox', value: 'INBOX', meaning: 'Those of one inbox: its id or its address' },
    { name: 'tag', value: 'TAG', meaning: 'Those of inboxes with the tag' },
    { name: 'all', meaning: 'All of the account' },
    {
      name: 'forward-to',
      value: 'URL',
      meaning: 'Gets a POST for each event, such as http://localhost:3000/hook',
      isRequired: true,
    },
    {
      name: 'types',
      value: 'TYPES',
      meaning: `Only these, with commas between: ${TYPES.join(', ')}`,
    },
    {
      name: 'secret',
      value: 'WHSEC',
      meaning:
        'Signs as the webhook with this secret (whsec_…) is signed; or TEMPINBOX_WEBHOOK_SECRET, ' +
        'which no list of processes shows',
    },
    {
      name: 'after',
      value: 'PLACE',
      meaning:
        'Begins with what comes from now on (latest), or with all that is there (earliest); ' +
        'default: where the last run ended, else latest',
      choices: ['latest', 'earliest'],
    },
    {
      name: 'since',
      value: 'TIME',
      meaning: 'Begins with what was recorded in this time, such as 10m; 72h at most',
    },
    {
      name: 'skip-missed',
      meaning: 'Goes on where events are gone; without it that ends the run with 1',
    },
    {
      name: 'max-attempts',
      value: 'N',
      meaning: 'Gives up when the target refused an event so often (default: never)',
    },
    {
      name: 'state-file',
      value: 'FILE',
      meaning: 'Keeps the position (default: below $XDG_STATE_HOME, ~/.local/state)',
      isFile: true,
    },
    holdOption,
  ],
  run: listen,
};
