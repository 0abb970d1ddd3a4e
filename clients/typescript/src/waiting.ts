// Waits of any length, chained from the API's holds of at most 60 s, all after one position.
import { CONDITIONS, filtersOf, inWords, type EmailConditions } from './conditions.js';
import {
  InvalidArgument,
  TempinboxError,
  UnexpectedEmail,
  WaitTimeout,
  quoted,
  type Miss,
  type Wait,
} from './errors.js';
import type { components } from './openapi.js';
import { isTimeout } from './settings.js';
import { ANSWER_SECONDS, Deadline, waitFor, type Transport } from './transport.js';

type Email = components['schemas']['Email'];
type EmailLink = components['schemas']['EmailLink'];
type EmailSummary = components['schemas']['EmailSummary'];
export type WaitResult = components['schemas']['WaitResult'];

/** An inbox by its id, or an object of the API that has it. */
export type InboxReference =
  | string
  | {
      readonly inboxId: string;
      readonly emailAddress?: string | undefined;
      readonly lastSequence?: number | undefined;
    };

/** A position in an inbox: a sequence, an email, or an inbox as it was. */
export type Position = number | { readonly sequence: number } | { readonly lastSequence: number };

/** Selects emails, and says where a wait begins and how long it takes. */
export interface WaitConditions extends EmailConditions {
  /**
   * Only emails behind this position. Otherwise: those that came since the inbox object was read,
   * which for a new inbox are all, and all where only an id is given.
   */
  readonly after?: Position | undefined;
  /** 60; for `expectNoEmail` 5. Any length. */
  readonly timeoutSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Conditions of a wait for several emails. */
export interface CountConditions extends WaitConditions {
  /** How many must match, 1 to 100. */
  readonly minCount: number;
}

/** Conditions of a wait whose whole answer is of interest. */
export interface ResultConditions extends WaitConditions {
  /** How many must match, 1 to 100; 1. With more the result has their summaries, `emails`. */
  readonly minCount?: number | undefined;
  /** `none`: no email is to match; the outcome is then `violated` where one does. */
  readonly expect?: 'one' | 'none' | undefined;
}

/** Selects an email with a code. */
export type CodeConditions = Omit<WaitConditions, 'hasCode'>;

/** Selects a link of the email. */
export interface LinkConditions extends Omit<WaitConditions, 'hasLink' | 'linkKind'> {
  /** The purpose of the link; by default the first of `verify`, `reset`, `other`, in this order. */
  readonly kind?: EmailLink['kind'] | undefined;
  /** A part of the link's address. */
  readonly url?: string | undefined;
}

const MAX_MISSES = 10;
const WAIT_CONDITIONS = [...CONDITIONS, 'after', 'timeoutSeconds', 'signal'];
const NOTHING_CAME: WaitResult = {
  outcome: 'timeout',
  email: null,
  matched: 0,
  emails: [],
  lastSequence: 0,
  waitedMs: 0,
  nearMisses: [],
};
const BEST_FIRST: EmailLink['kind'][] = ['verify', 'reset', 'other'];

/** The id of an inbox. */
export function idOf(inbox: InboxReference): string {
  const given: unknown = inbox; // by a program without types it may be anything
  if (typeof given === 'string') return given;
  if (typeof given !== 'object' || given === null)
    throw new InvalidArgument('inbox', `must be an inbox or its id, not ${String(given)}`);
  if ('inboxId' in given && typeof given.inboxId === 'string') return given.inboxId;
  throw new InvalidArgument('inbox', 'must be an inbox or its id, not an object without inboxId');
}

/** The matching email with the lowest sequence. Throws WaitTimeout when none comes. */
export async function waitForEmail(
  transport: Transport,
  inbox: InboxReference,
  conditions: WaitConditions,
): Promise<Email> {
  const wait = begin(transport, inbox, conditions, 60);
  return await nextEmail(wait, () => undefined);
}

/** The matching emails in the order of their sequence, once there are so many. */
export async function waitForEmails(
  transport: Transport,
  inbox: InboxReference,
  { minCount, ...conditions }: CountConditions,
): Promise<EmailSummary[]> {
  const given: unknown = minCount; // a program without types may leave it out
  if (given === undefined) throw new InvalidArgument('minCount', 'is missing: how many must match');
  const wait = begin(transport, inbox, conditions, 60, { minCount });
  for (let last = NOTHING_CAME; ;) {
    const result = await hold(wait, 'one');
    if (result === undefined)
      throw new WaitTimeout(wait.about, last.nearMisses, last.emails, minCount);
    if (result.email) return minCount > 1 ? result.emails : [summaryOf(result.email)];
    last = result;
  }
}

/** The likeliest one-time code of the first email that has one. */
export async function waitForCode(
  transport: Transport,
  inbox: InboxReference,
  conditions: CodeConditions,
): Promise<string> {
  const wait = begin(transport, inbox, conditions, 60, { hasCode: true });
  const email = await nextEmail(wait, ({ codes }) => (codes[0] ? undefined : NO_CODE));
  return email.codes[0]?.value ?? '';
}

/** The address of the first link that fits, of the first email that has one. */
export async function waitForLink(
  transport: Transport,
  inbox: InboxReference,
  { kind, url, ...conditions }: LinkConditions,
): Promise<string> {
  if (kind !== undefined && ![...BEST_FIRST, 'unsubscribe'].includes(kind))
    throw new InvalidArgument(
      'kind',
      `must be one of verify, reset, unsubscribe, other, not ${kind}`,
    );
  if (url !== undefined && (typeof url !== 'string' || url === ''))
    throw new InvalidArgument('url', 'must be a string of at least 1 character');
  // The service finds the emails; it has no filter for a part of an address, and without a kind a
  // link to unsubscribe is none to follow.
  const own = kind === undefined ? { hasLink: true } : { linkKind: kind };
  const wait = begin(transport, inbox, conditions, 60, own, ['hasLink', 'linkKind']);
  if (url !== undefined) wait.about.criteria.push(`url: ${quoted(url)}`);
  const expected = (kind ?? BEST_FIRST.join(', ')) + (url === undefined ? '' : ` with ${url}`);
  const find = (email: Email) => bestLink(email.links, kind, url);
  const email = await nextEmail(wait, (found) =>
    find(found)
      ? undefined
      : { field: 'link', expected, actual: `${found.links.length} other links` },
  );
  return find(email)?.url ?? '';
}

/** Returns when no email matched in the whole time; throws UnexpectedEmail at once otherwise. */
export async function expectNoEmail(
  transport: Transport,
  inbox: InboxReference,
  conditions: WaitConditions,
): Promise<void> {
  const wait = begin(transport, inbox, conditions, 5);
  for (;;) {
    const result = await hold(wait, 'none');
    if (result === undefined) return;
    if (result.email) throw new UnexpectedEmail(wait.about, result.email);
  }
}

/** The API's answer of a wait: an email that matches, or the last one before the time is over. */
export async function waitForResult(
  transport: Transport,
  inbox: InboxReference,
  { expect = 'one', minCount, ...conditions }: ResultConditions,
): Promise<WaitResult> {
  const wait = begin(transport, inbox, conditions, 60, { minCount });
  for (let last = NOTHING_CAME; ;) {
    const result = await hold(wait, expect);
    if (result === undefined) return last;
    if (result.email) return result;
    last = result;
  }
}

/** One long poll, sent once: a failure is thrown as it comes. */
export async function pollForResult(
  transport: Transport,
  inbox: InboxReference,
  { expect = 'one', minCount, ...conditions }: ResultConditions,
): Promise<WaitResult> {
  const { maxHoldSeconds } = transport;
  const wait = begin(transport, inbox, conditions, maxHoldSeconds, { minCount });
  const { about, filters, after, signal } = wait;
  const timeoutSeconds = clamp(Math.round(about.timeoutSeconds), 1, maxHoldSeconds);
  const query = () => ({ ...filters, after, expect, timeoutSeconds });
  return await transport.json<WaitResult>(
    'waitForEmail',
    { path: { inboxId: about.inboxId }, query, holdSeconds: () => timeoutSeconds },
    { timeoutSeconds: timeoutSeconds + ANSWER_SECONDS, signal, retries: false },
  );
}

interface RunningWait {
  readonly transport: Transport;
  readonly about: Omit<Wait, 'criteria'> & { readonly criteria: string[] };
  readonly filters: object;
  readonly signal: AbortSignal | undefined;
  readonly deadline: Deadline;
  after: number;
  holds: number;
  /** The last answer was `draining`: it says nothing of what came. */
  isUndecided: boolean;
  isLastHold: boolean;
}

type Failed = Omit<Miss, 'emailId'>;
const NO_CODE: Failed = { field: 'hasCode', expected: 'true', actual: 'false' };

/** Fixes position and deadline. What the wait asks for by itself (`own`) is no condition of it. */
function begin(
  transport: Transport,
  inbox: InboxReference,
  conditions: WaitConditions,
  defaultSeconds: number,
  own: object = {},
  reserved: readonly string[] = Object.keys(own),
): RunningWait {
  const known = WAIT_CONDITIONS.filter((name) => !reserved.includes(name));
  for (const name of Object.keys(conditions))
    if (!known.includes(name))
      throw new InvalidArgument(name, `is unknown here; there are: ${known.join(', ')}`);
  const { after, timeoutSeconds = defaultSeconds, signal, ...rest } = conditions;
  const filters = filtersOf({ ...own, ...rest });
  if (!isTimeout(timeoutSeconds) || timeoutSeconds < 1)
    throw new InvalidArgument(
      'timeoutSeconds',
      `must be a number from 1 to 86400, not ${String(timeoutSeconds)}`,
    );
  const inboxId = idOf(inbox);
  const position = sequenceOf(after ?? (typeof inbox === 'string' ? 0 : (inbox.lastSequence ?? 0)));
  return {
    transport,
    about: {
      inboxId,
      emailAddress: typeof inbox === 'string' ? undefined : inbox.emailAddress,
      criteria: [...inWords(filters), `after: ${position}`],
      timeoutSeconds,
      dashboard: transport.dashboard,
    },
    filters,
    signal,
    deadline: new Deadline(timeoutSeconds),
    after: position,
    holds: 0,
    isUndecided: false,
    isLastHold: false,
  };
}

/** The sequence of a position. */
export function sequenceOf(position: Position): number {
  let sequence: unknown = position;
  if (typeof position === 'object')
    sequence = 'sequence' in position ? position.sequence : position.lastSequence;
  if (Number.isSafeInteger(sequence) && (sequence as number) >= 0) return sequence as number;
  throw new InvalidArgument(
    'after',
    `must be a sequence from 0, an email or an inbox, not ${String(sequence)}`,
  );
}

/** The first email that matches and that `failed` says nothing against. */
async function nextEmail(
  wait: RunningWait,
  failed: (email: Email) => Failed | undefined,
): Promise<Email> {
  const misses: Miss[] = [];
  let others: readonly Miss[] = []; // the API's own, which it gives anew each time
  for (;;) {
    const result = await hold(wait, 'one');
    if (result === undefined)
      throw new WaitTimeout(wait.about, [...misses, ...others].slice(0, MAX_MISSES));
    others = result.nearMisses;
    if (!result.email) continue;
    const miss = failed(result.email);
    if (miss === undefined) return result.email;
    misses.unshift({ emailId: result.email.emailId, ...miss });
    misses.splice(MAX_MISSES);
    wait.after = result.email.sequence;
  }
}

/** One long poll; undefined when the time is over, but one more if the last decided nothing. */
async function hold(wait: RunningWait, expect: 'one' | 'none'): Promise<WaitResult | undefined> {
  // Half a second is within what a poll of whole seconds can keep.
  if (wait.holds++ > 0 && Math.round(wait.deadline.secondsLeft) < 1) {
    if (wait.isUndecided && wait.isLastHold && expect === 'none')
      throw new TempinboxError(
        'The service was being replaced when the time was over, so that nothing is decided: wait ' +
          'again with the same after.',
      );
    if (!wait.isUndecided || wait.isLastHold) return undefined;
    wait.isLastHold = true;
  }
  const { maxHoldSeconds } = wait.transport;
  const holdSeconds = () => clamp(Math.round(wait.deadline.secondsLeft), 1, maxHoldSeconds);
  const query = () => ({
    ...wait.filters,
    after: wait.after,
    expect,
    timeoutSeconds: holdSeconds(),
  });
  const result = await wait.transport.json<WaitResult>(
    'waitForEmail',
    { path: { inboxId: wait.about.inboxId }, query, holdSeconds },
    { timeoutSeconds: Math.max(1, wait.deadline.secondsLeft), signal: wait.signal },
  );
  // Its part of the service is being replaced. Where the inbox ended, the next poll says when.
  wait.isUndecided = result.outcome === 'draining';
  if (wait.isUndecided) await waitFor(0.25, wait.signal);
  return result;
}

/** What lists have of an email. */
function summaryOf(email: Email): EmailSummary {
  const { emailId, inboxId, sequence, from, fromName, to, recipients, subject, preview } = email;
  const { receivedAt, sizeBytes, attachmentCount, isRead } = email;
  return {
    emailId,
    inboxId,
    sequence,
    from,
    fromName,
    to,
    recipients,
    subject,
    preview,
    receivedAt,
    sizeBytes,
    attachmentCount,
    isRead,
  };
}

function clamp(number: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, number));
}

function bestLink(
  links: readonly EmailLink[],
  kind: EmailLink['kind'] | undefined,
  url: string | undefined,
): EmailLink | undefined {
  const fitting = links.filter((link) => url === undefined || link.url.includes(url));
  const kinds = kind === undefined ? BEST_FIRST : [kind];
  return kinds.flatMap((one) => fitting.filter((link) => link.kind === one))[0];
}
