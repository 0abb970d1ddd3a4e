// `listen`: each email of an inbox becomes a POST, as the webhook would come.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  checkAfter,
  criteriaOptions,
  holdOption,
  readCriteria,
  type Arguments,
  type Command,
  type CommandOutput,
  type Criteria,
} from './command.js';
import { toText } from './duration.js';
import { findPosition } from './email-commands.js';
import { badUsage, CommandFailure, describeCause, exitCodes, explain } from './failure.js';
import { integerOf, textOf } from './fields.js';
import { positionFile } from './platform.js';
import { PositionFile } from './position-file.js';
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
const UNDECIDED_MS = 500; // between two requests, where the service answers so at once
const FINGERPRINT_LENGTH = 16;

/** What is forwarded, and where to. */
interface Forwarding {
  readonly inbox: string;
  readonly target: string;
  readonly criteria: Criteria;
  readonly key: Buffer | undefined;
  readonly maxAttempts: number;
}

/** One attempt to hand an email to the target. */
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

function toLine(email: unknown, attempt: Attempt): string {
  const sequence = integerOf(email, 'sequence');
  const outcome = attempt.error === '' ? String(attempt.status) : attempt.error;
  const from = printableLine(textOf(email, 'from'));
  const subject = quote(printableLine(textOf(email, 'subject')));
  const number = attempt.number > 1 || !attempt.isDelivered ? `  attempt ${attempt.number}` : '';
  const again =
    attempt.nextSeconds === undefined ? '' : `, again in ${toText(attempt.nextSeconds)}`;
  return (
    `${new Date().toISOString()}  #${sequence}  ${outcome}  ${attempt.milliseconds} ms  ${from}  ` +
    `${subject}${number}${again}\n`
  );
}

function toJsonLine(email: unknown, attempt: Attempt): string {
  const line = {
    at: new Date().toISOString(),
    sequence: integerOf(email, 'sequence'),
    emailId: textOf(email, 'emailId'),
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

/** Forwards emails one after the other, in the order of their sequences. */
class Forwarder {
  readonly #session: Session;
  readonly #forwarding: Forwarding;
  readonly #position: PositionFile;

  constructor(session: Session, forwarding: Forwarding, position: PositionFile) {
    this.#session = session;
    this.#forwarding = forwarding;
    this.#position = position;
  }

  /** Ends by an exception only: what the service refuses for good, or a target that is gone. */
  async run(begin: number, progress: Progress): Promise<never> {
    const { client } = this.#session;
    const { inbox, criteria } = this.#forwarding;
    let failures = 0;
    for (let after = begin; ;) {
      const began = performance.now();
      try {
        const { outcome, email } = await client.pollForResult(inbox, { ...criteria, after });
        failures = 0;
        progress.hide();
        if (email) after = await this.#forward(email);
        else if (outcome !== 'timeout') await sleep(UNDECIDED_MS);
      } catch (error) {
        const failure = explain(error, this.#session.origin);
        progress.hide();
        if (performance.now() - began > LONG_REQUEST_MS) failures = 0;
        await backOff(failure, ++failures);
      }
    }
  }

  /** Until the target takes it; answers the email's sequence. */
  async #forward(email: unknown): Promise<number> {
    const sequence = integerOf(email, 'sequence');
    const payload = webhookPayload(email);
    for (let number = 1; ; ++number) {
      const attempt = await this.#send(textOf(email, 'emailId'), payload, number);
      // First the position, then the line: what was shown is not sent again.
      if (attempt.isDelivered) this.#position.write(sequence);
      await printNow((this.#session.isJson ? toJsonLine : toLine)(email, attempt));
      if (attempt.isDelivered) return sequence;
      if (attempt.status === 410)
        throw new CommandFailure(
          exitCodes.localFailure,
          'the target answered 410 Gone: it wants no more',
        );
      if (attempt.nextSeconds === undefined)
        throw new CommandFailure(
          exitCodes.localFailure,
          `the target did not take the email ${textOf(email, 'emailId')} in ${number} attempts; ` +
            'listen begins with it the next time',
        );
      await sleep(attempt.nextSeconds * 1000);
    }
  }

  async #send(emailId: string, body: string, number: number): Promise<Attempt> {
    const { target, key, maxAttempts } = this.#forwarding;
    const headers = webhookHeaders(emailId, Math.floor(Date.now() / 1000), body, key, number);
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
        headers: { ...headers, connection: 'close' }, // one may be closed before the next email
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

function readForwarding(session: Session, given: Arguments): Omit<Forwarding, 'inbox'> {
  const target = given.value('forward-to') ?? '';
  checkUrl('--forward-to', target);
  const criteria = readCriteria(given);
  given.integer('hold', 1, 60);
  const maxAttempts = given.integer('max-attempts', 1, MAX_ATTEMPTS) ?? Infinity;
  const text = given.value('secret') ?? session.platform.variables('TEMPINBOX_WEBHOOK_SECRET');
  const key = text === undefined ? undefined : readWebhookSecret(text);
  checkAfter(given);
  return { target, criteria, key, maxAttempts };
}

/** One file for an inbox, a target and what is filtered. */
function positionPath(session: Session, forwarding: Forwarding, given: Arguments): string {
  const named = given.value('state-file');
  if (named !== undefined) return named;
  const { inbox, target, criteria } = forwarding;
  const { from = null, to = null, subject = null } = criteria;
  const digest = createHash('sha256')
    .update(JSON.stringify([inbox, target, from, to, subject]))
    .digest('hex');
  const file = positionFile(session.platform, `${inbox}-${digest.slice(0, FINGERPRINT_LENGTH)}`);
  if (file !== undefined) return file;
  throw badUsage(
    'without a home folder there is no place for the position: give --state-file FILE',
  );
}

async function listen(session: Session, given: Arguments): Promise<CommandOutput> {
  const params = readForwarding(session, given);
  const inbox = await session.findInbox(given.value('inbox') ?? '');
  const forwarding = { ...params, inbox };
  const position = new PositionFile(positionPath(session, forwarding, given));
  try {
    const stored = given.has('after') ? undefined : position.read();
    const after = stored ?? (await findPosition(session, given, inbox));
    // An email that was passed over by `latest` stays passed over.
    position.write(after);
    const signed = params.key ? 'signed' : 'not signed (no --secret)';
    const target = printableLine(params.target);
    process.stderr.write(
      `forwarding mail after #${after} of inbox ${inbox} to ${target}, ${signed}\n`,
    );
    const forwarder = new Forwarder(session, forwarding, position);
    const progress = new Progress(session.platform, 'listening:');
    return await withProgress(progress, async () => await forwarder.run(after, progress));
  } finally {
    position.close();
  }
}

export const listenCommand: Command = {
  name: 'listen',
  purpose: 'Forwards each email of an inbox to a URL, as a webhook would come',
  options: [
    {
      name: 'inbox',
      value: 'INBOX',
      meaning: 'The inbox: its id or its address',
      isRequired: true,
    },
    {
      name: 'forward-to',
      value: 'URL',
      meaning: 'Gets a POST for each email, such as http://localhost:3000/hook',
      isRequired: true,
    },
    {
      name: 'secret',
      value: 'WHSEC',
      meaning:
        'Signs as the webhook with this secret (whsec_…) is signed; or TEMPINBOX_WEBHOOK_SECRET, ' +
        'which no list of processes shows',
    },
    ...criteriaOptions,
    {
      name: 'after',
      value: 'N',
      meaning:
        'Begins behind this sequence, or with `latest` (default: where the last run ended, else ' +
        'the first email)',
    },
    {
      name: 'max-attempts',
      value: 'N',
      meaning: 'Gives up when the target refused an email so often (default: never)',
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
