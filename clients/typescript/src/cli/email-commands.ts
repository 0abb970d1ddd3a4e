// Emails: waited for, their codes and links, and read.
import { writeFileSync } from 'node:fs';

import type { Tempinbox } from '../client.js';
import type { EmailConditions, LinkKind } from '../conditions.js';
import type { WaitResult } from '../waiting.js';
import {
  checkAfter,
  holdOption,
  INBOX_MEANING,
  MAX_SEQUENCE,
  type Arguments,
  type Command,
  type CommandOutput,
  type Option,
} from './command.js';
import { criteriaWithout, describeCriteria, LINK_KINDS, readCriteria } from './criteria.js';
import { toText } from './duration.js';
import { badUsage, CommandFailure, exitCodes } from './failure.js';
import { fieldsOf, integerOf, itemsOf, textOf } from './fields.js';
import { emailList, listedText } from './listed.js';
import { printable, printableLine, quote, toFields } from './printable.js';
import { Progress, withProgress } from './progress.js';
import { readEmailId, type Session } from './session.js';
import { reasonOf } from './settings.js';

const DEFAULT_TIMEOUT_SECONDS = 60;
const MAX_TIMEOUT_SECONDS = 86_400;
const MAX_MISSES_SHOWN = 10;
const MAX_REJECTIONS_SHOWN = 5;
const REJECTIONS_SECONDS = 5;
const BYTES_SECONDS = 120;
const MAX_COUNT = 100;
const BEST_FIRST = ['verify', 'reset', 'other'];

/** What a wait is for. */
interface WaitParams {
  readonly inbox: string;
  readonly criteria: EmailConditions;
  readonly expectsNone: boolean;
  readonly minCount: number;
  readonly after: number;
  readonly timeoutSeconds: number;
}

async function readWait(session: Session, given: Arguments): Promise<WaitParams> {
  const criteria = readCriteria(given);
  const timeoutSeconds =
    given.duration('timeout', 1, MAX_TIMEOUT_SECONDS) ?? DEFAULT_TIMEOUT_SECONDS;
  given.integer('hold', 1, 60);
  const minCount = given.integer('count', 1, MAX_COUNT) ?? 1;
  if (minCount > 1 && given.has('none')) throw badUsage('give one of --count and --none');
  checkAfter(given);
  const inbox = await session.findInbox(given.words[0] ?? '');
  return {
    inbox,
    criteria,
    expectsNone: given.has('none'),
    minCount,
    after: await findPosition(session, given, inbox),
    timeoutSeconds,
  };
}

/** Where --after says that the wait begins: a sequence, or `latest`, which asks the inbox. */
async function findPosition(session: Session, given: Arguments, inbox: string): Promise<number> {
  if (given.value('after') === 'latest')
    return integerOf(await session.client.getInbox(inbox), 'lastSequence');
  return given.integer('after', 0, MAX_SEQUENCE) ?? 0;
}

async function waitFor(client: Tempinbox, params: WaitParams): Promise<WaitResult> {
  const { inbox, criteria, expectsNone, minCount, after, timeoutSeconds } = params;
  return await client.waitForResult(inbox, {
    ...criteria,
    expect: expectsNone ? 'none' : 'one',
    ...(minCount > 1 ? { minCount } : {}),
    after,
    timeoutSeconds,
  });
}

async function waitVisibly(
  session: Session,
  label: string,
  params: WaitParams,
): Promise<WaitResult> {
  const progress = new Progress(session.platform, label, params.timeoutSeconds);
  return await withProgress(progress, async () => await waitFor(session.client, params));
}

/** `subject: wanted "code", is "Welcome" (tempinbox read 0193…)` */
function describeNearMiss(miss: unknown): string {
  const field = textOf(miss, 'field');
  const email = ` (tempinbox read ${printableLine(textOf(miss, 'emailId'))})`;
  if (field === 'hasCode') return `no code was found in it${email}`;
  if (field === 'hasLink') return `no link was found in it${email}`;
  const actual = quote(printableLine(textOf(miss, 'actual')));
  return `${printableLine(field)}: wanted ${quote(textOf(miss, 'expected'))}, is ${actual}${email}`;
}

/** `"Your code" (tempinbox read 0193…)` */
function describeSummary(email: unknown): string {
  const subject = quote(printableLine(textOf(email, 'subject')));
  return `${subject} (tempinbox read ${printableLine(textOf(email, 'emailId'))})`;
}

function describeRejection(rejection: unknown): string {
  const from = quote(printableLine(textOf(rejection, 'mailFrom')));
  const times = integerOf(rejection, 'attemptCount');
  const at = printableLine(textOf(rejection, 'lastAt'));
  return `from ${from}: ${printableLine(textOf(rejection, 'reply'))} (${times} times, last at ${at})`;
}

/** Why nothing came, for people: near misses, what the mail server refused, where to look. */
async function notInTime(
  { client }: Session,
  params: WaitParams,
  result: WaitResult,
  otherMisses: readonly string[] = [],
): Promise<CommandOutput> {
  const { inbox, minCount } = params;
  const criteria = describeCriteria(params.criteria);
  const emails = itemsOf(result, 'emails');
  const missing = minCount > 1 ? `${emails.length} of ${minCount} emails` : 'no email';
  // Without the list of what was refused the rest still helps.
  const rejections = await client
    .listRejections(inbox, { timeoutSeconds: REJECTIONS_SECONDS })
    .catch(() => undefined);
  const complaint = [
    `${missing}${criteria && ` (${criteria})`} came within ${toText(params.timeoutSeconds)}`,
    ...emails.map((email) => `  came: ${describeSummary(email)}`),
    ...otherMisses.map((miss) => `  near miss: ${miss}`),
    ...itemsOf(result, 'nearMisses').map((miss) => `  near miss: ${describeNearMiss(miss)}`),
    ...(Array.isArray(rejections) ? rejections : [])
      .slice(0, MAX_REJECTIONS_SHOWN)
      .map((rejection) => `  refused mail: ${describeRejection(rejection)}`),
    `  Look at the inbox: ${client.dashboardLink(inbox)}`,
  ].join('\n');
  return { json: result, code: exitCodes.notInTime, complaint };
}

function describeEmail(email: unknown): string {
  const line = (object: unknown, name: string) => printableLine(textOf(object, name));
  const address = line(email, 'from');
  const name = line(email, 'fromName');
  const fields: [string, string][] = [
    ['From', name === '' ? address : `${name} <${address}>`],
    ['Subject', line(email, 'subject')],
    ['Received', textOf(email, 'receivedAt')],
    ['Email', textOf(email, 'emailId')],
    ['Sequence', String(integerOf(email, 'sequence'))],
  ];
  for (const code of itemsOf(email, 'codes')) fields.push(['Code', line(code, 'value')]);
  for (const link of itemsOf(email, 'links'))
    fields.push(['Link', `${line(link, 'url')} (${line(link, 'kind')})`]);
  for (const file of itemsOf(email, 'attachments')) {
    const names = ['attachmentId', 'filename', 'contentType'].map((each) => line(file, each));
    fields.push(['Attachment', `${names.join('  ')}  ${integerOf(file, 'sizeBytes')} bytes`]);
  }
  return toFields(fields);
}

async function wait(session: Session, given: Arguments): Promise<CommandOutput> {
  const params = await readWait(session, given);
  const result = await waitVisibly(session, 'waiting for mail:', params);
  const { email } = result;
  if (!email)
    return params.expectsNone
      ? { text: `no email came within ${toText(params.timeoutSeconds)}\n`, json: result }
      : await notInTime(session, params, result);
  const isQuiet = given.has('quiet');
  if (params.minCount > 1)
    return { text: listedText(itemsOf(result, 'emails'), emailList, isQuiet), json: result };
  const text = isQuiet ? `${textOf(email, 'emailId')}\n` : describeEmail(email);
  if (!params.expectsNone) return { text, json: result };
  const complaint = 'an email came though none was to come';
  return { text, json: result, code: exitCodes.notInTime, complaint };
}

/** The wait with what its command asks for by itself. */
function asking(params: WaitParams, own: EmailConditions): WaitParams {
  return { ...params, criteria: { ...params.criteria, ...own } };
}

async function code(session: Session, given: Arguments): Promise<CommandOutput> {
  const params = asking(await readWait(session, given), { hasCode: true });
  const result = await waitVisibly(session, 'waiting for a code:', params);
  const { email } = result;
  if (!email) return await notInTime(session, params, result);
  const [found] = itemsOf(email, 'codes');
  if (found === undefined)
    throw new CommandFailure(exitCodes.unreachable, 'the service answered an email without a code');
  const { value, ...others } = fieldsOf(found);
  return {
    text: `${printableLine(textOf(found, 'value'))}\n`,
    json: { code: value, ...others, ...whereIn(email) },
  };
}

function whereIn(email: unknown) {
  return { emailId: textOf(email, 'emailId'), sequence: integerOf(email, 'sequence') };
}

/** The link to follow: one to verify, else to reset, else another; never one to unsubscribe. */
export function chooseLink(email: unknown, kind: string | undefined): unknown {
  const links = itemsOf(email, 'links');
  const kinds = kind === undefined ? BEST_FIRST : [kind];
  return kinds.flatMap((each) => links.filter((link) => textOf(link, 'kind') === each))[0];
}

/**
 * The service finds emails with a link of the kind. Without a kind it finds those with any link, and
 * those that have one to unsubscribe alone are passed over here.
 */
async function link(session: Session, given: Arguments): Promise<CommandOutput> {
  const kind = given.value('kind') as LinkKind | undefined; // one of its choices
  const own = kind === undefined ? { hasLink: true } : { linkKind: kind };
  const params = asking(await readWait(session, given), own);
  const until = performance.now() + params.timeoutSeconds * 1000;
  const misses: string[] = []; // the newest first
  const find = async (): Promise<WaitResult | CommandOutput> => {
    for (let after = params.after; ;) {
      // Half a second is within what a wait of whole seconds can keep.
      const timeoutSeconds = Math.max(1, (until - performance.now()) / 1000);
      const result = await waitFor(session.client, { ...params, after, timeoutSeconds });
      const { email } = result;
      if (!email) return result;
      const found = chooseLink(email, kind);
      if (found !== undefined)
        return {
          text: `${printableLine(textOf(found, 'url'))}\n`,
          json: { ...fieldsOf(found), ...whereIn(email) },
        };
      const name = kind === undefined ? 'link to follow' : `${kind} link`;
      misses.unshift(`no ${name} in ${describeSummary(email)}`);
      misses.splice(MAX_MISSES_SHOWN);
      after = integerOf(email, 'sequence');
      // The next request would be sent all the same, and there may be thousands of emails.
      if (performance.now() >= until)
        return { ...result, outcome: 'timeout', email: null, nearMisses: [] };
    }
  };
  const progress = new Progress(session.platform, 'waiting for a link:', params.timeoutSeconds);
  const ended = await withProgress(progress, find);
  return 'outcome' in ended ? await notInTime(session, params, ended, misses) : ended;
}

/** Bytes for a file or a pipe; a terminal gets them without what could command it. */
function shownBytes(bytes: Uint8Array): string | Uint8Array {
  return process.stdout.isTTY ? printable(Buffer.from(bytes).toString('utf8')) : bytes;
}

function writeOutput(file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new CommandFailure(
      exitCodes.localFailure,
      `the file ${quote(file)} cannot be written: ${reasonOf(error)}`,
    );
  }
}

/** The newest email of an inbox, where the word is its address. */
async function findEmail(session: Session, word: string): Promise<string> {
  if (!word.includes('@')) return readEmailId(word);
  const inbox = await session.findInbox(word);
  const { items } = await session.client.listInboxEmails(inbox).page(1);
  if (items[0] === undefined)
    throw new CommandFailure(
      exitCodes.notFound,
      `the inbox ${quote(word)} has no email; \`tempinbox wait\` waits for one`,
    );
  return textOf(items[0], 'emailId');
}

function wholeText(email: unknown): string {
  const text = `${describeEmail(email)}\n${printable(textOf(email, 'text'))}`;
  return text.endsWith('\n') ? text : `${text}\n`;
}

function headersText(email: unknown): string {
  return itemsOf(email, 'headers')
    .map((header) => `${textOf(header, 'name')}: ${textOf(header, 'value')}`)
    .map((line) => `${printableLine(line)}\n`)
    .join('');
}

async function readParts(session: Session, given: Arguments, id: string): Promise<CommandOutput> {
  const { client } = session;
  const options = { timeoutSeconds: BYTES_SECONDS };
  if (given.has('raw')) return { text: shownBytes(await client.getRawEmail(id, options)) };
  const attachment = given.text('attachment', 1, 100);
  if (attachment !== undefined) {
    if (!given.has('output') && process.stdout.isTTY)
      throw badUsage('an attachment may be anything: give --output FILE, or a pipe');
    return { text: (await client.getAttachment(id, attachment, options)).content };
  }
  const email = await client.getEmail(id);
  if (given.has('headers')) return { text: headersText(email), json: email };
  if (!given.has('html')) return { text: wholeText(email), json: email };
  const html = textOf(email, 'html');
  if (html === '') throw new CommandFailure(exitCodes.notFound, 'the email has no HTML part');
  return { text: shownBytes(Buffer.from(html)), json: email };
}

async function read(session: Session, given: Arguments): Promise<CommandOutput> {
  const forms = ['html', 'raw', 'headers', 'attachment'].filter((form) => given.has(form));
  if (forms.length > 1) throw badUsage('give one of --html, --raw, --headers and --attachment');
  if (session.isJson && (given.has('raw') || given.has('attachment')))
    throw badUsage('--raw and --attachment give bytes as they are, not JSON');
  const id = await findEmail(session, given.words[0] ?? '');
  const output = await readParts(session, given, id);
  const file = given.value('output');
  if (file === undefined) return output;
  writeOutput(file, session.isJson ? `${JSON.stringify(output.json)}\n` : (output.text ?? ''));
  return { json: { file } };
}

const waitOptions: readonly Option[] = [
  {
    name: 'after',
    value: 'N',
    meaning:
      'Only emails with a higher sequence; `latest`: only those that come from now on. Without it ' +
      'every email counts',
  },
  {
    name: 'timeout',
    value: 'TIME',
    meaning: 'How long to wait, such as 90s or 5m (default 60s)',
  },
  holdOption,
];

const takesInbox = { name: 'INBOX', meaning: INBOX_MEANING, min: 1, max: 1 };

export const waitCommand: Command = {
  name: 'wait',
  purpose: 'Waits for an email',
  takes: takesInbox,
  options: [
    ...criteriaWithout(),
    ...waitOptions,
    { name: 'count', value: 'N', meaning: 'Waits for so many emails, and lists them (1 to 100)' },
    { name: 'none', meaning: 'None must come: 0 if none came in the whole time' },
    { name: 'quiet', meaning: "Prints the emails' ids alone" },
  ],
  run: wait,
};

export const codeCommand: Command = {
  name: 'code',
  purpose: 'Waits for a one-time code and prints it',
  takes: takesInbox,
  options: [...criteriaWithout('has-code'), ...waitOptions],
  run: code,
};

export const linkCommand: Command = {
  name: 'link',
  purpose: 'Waits for a link and prints it',
  takes: takesInbox,
  options: [
    ...criteriaWithout('has-link', 'link-kind'),
    ...waitOptions,
    {
      name: 'kind',
      value: 'KIND',
      meaning:
        'verify, reset, unsubscribe or other (default: the first of verify, reset, other that ' +
        'there is)',
      choices: LINK_KINDS,
    },
  ],
  run: link,
};

export const readCommand: Command = {
  name: 'read',
  purpose: 'Shows an email',
  takes: {
    name: 'EMAIL',
    meaning: "An email's id, or the address of an inbox: its newest email",
    min: 1,
    max: 1,
  },
  options: [
    { name: 'html', meaning: 'The HTML as sent' },
    { name: 'raw', meaning: 'The message as received (.eml)' },
    { name: 'headers', meaning: 'The headers alone' },
    { name: 'attachment', value: 'ID', meaning: "An attachment's bytes" },
    { name: 'output', value: 'FILE', meaning: 'Writes to the file', isFile: true },
  ],
  run: read,
};
