// Inboxes: made, listed, opened, ended.
import type { List } from '../list.js';
import type { components } from '../openapi.js';
import { openInBrowser } from './browser.js';
import { environmentOption, newInboxText } from './capture-commands.js';
import {
  INBOX_MEANING,
  MAX_SEQUENCE,
  type Arguments,
  type Command,
  type CommandOutput,
  type Option,
} from './command.js';
import { criteriaWithout, readCriteria } from './criteria.js';
import { badUsage, CommandFailure, explain, type ExitCode } from './failure.js';
import { integerOf, textOf } from './fields.js';
import { emailList, inboxList, listedText, type Listed } from './listed.js';
import { countCharacters, printableLine, quote, toFields } from './printable.js';
import { readEmailId, type Session } from './session.js';

const USUAL_LIMIT = 25;
const MAX_LISTED = 1_000_000;
const MAX_TAGS = 10;
const MAX_TAG_LENGTH = 50;
const MAX_PAIRS = 20;
const MAX_PAIR_NAME = 50;
const MAX_PAIR_VALUE = 500;
const MAX_TTL_SECONDS = 3_650 * 86_400;

const emailOptions = criteriaWithout();
const quietOption: Option = { name: 'quiet', meaning: 'Prints the ids alone, one a line' };

type InboxStatus = 'active' | 'expired' | 'all';

function checkLength(name: string, text: string, max: number): void {
  const characters = countCharacters(text);
  if (characters < 1 || characters > max)
    throw badUsage(`${name} must be 1 to ${max} characters long, not ${quote(text)}`);
}

function checkCount(name: string, count: number, max: number): void {
  if (count > max) throw badUsage(`${name} may be given ${max} times at most, not ${count}`);
}

function readTags(given: Arguments): string[] {
  const tags = [...given.values('tag')];
  checkCount('--tag', tags.length, MAX_TAGS);
  for (const tag of tags) checkLength('--tag', tag, MAX_TAG_LENGTH);
  return tags;
}

function readMetadata(given: Arguments): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const word of given.values('metadata')) {
    const equals = word.indexOf('=');
    if (equals < 1) throw badUsage(`--metadata must be NAME=VALUE, not ${quote(word)}`);
    const name = word.slice(0, equals);
    const value = word.slice(equals + 1);
    checkLength('the name of --metadata', name, MAX_PAIR_NAME);
    if (countCharacters(value) > MAX_PAIR_VALUE)
      throw badUsage(
        `the value of --metadata ${quote(name)} must be at most ${MAX_PAIR_VALUE} characters long`,
      );
    if (pairs.has(name)) throw badUsage(`--metadata ${quote(name)} is given twice`);
    pairs.set(name, value);
  }
  checkCount('--metadata', pairs.size, MAX_PAIRS);
  return Object.fromEntries(pairs);
}

function readNewInbox(given: Arguments): components['schemas']['NewInbox'] {
  const localPart = given.text('local-part', 1, 63);
  const domain = given.text('domain', 1, 190);
  const name = given.text('name', 1, 100);
  const ttlSeconds = given.duration('ttl', 60, MAX_TTL_SECONDS);
  const tags = readTags(given);
  const metadata = readMetadata(given);
  return {
    ...(localPart === undefined ? {} : { localPart }),
    ...(domain === undefined ? {} : { domain }),
    ...(name === undefined ? {} : { name }),
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(given.has('capture') ? { capture: true } : {}),
  };
}

async function create(session: Session, given: Arguments): Promise<CommandOutput> {
  const hasLogin = given.has('capture');
  if (hasLogin && given.has('quiet') && !session.isJson)
    throw badUsage('--quiet would lose the password of --capture: give one of them');
  if (!hasLogin) refuseOptions(given, ['env'], 'is for an inbox with a login: --capture');
  const inbox = await session.client.createInbox(readNewInbox(given));
  if (hasLogin) return { text: newInboxText(inbox, given), json: inbox };
  const id = textOf(inbox, 'inboxId');
  const text = given.has('quiet')
    ? `${id}\n`
    : toFields([
        ['Address', textOf(inbox, 'emailAddress')],
        ['Inbox', id],
        ['Ends', textOf(inbox, 'expiresAt')],
      ]);
  return { text, json: inbox };
}

async function show(
  list: List<unknown>,
  limit: number,
  listed: Listed,
  given: Arguments,
): Promise<CommandOutput> {
  const { items, nextCursor } = await list.page(limit);
  const json = { [listed.name]: items, nextCursor };
  const text = listedText(items, listed, given.has('quiet'));
  if (nextCursor != null && !given.has('limit'))
    return {
      text,
      json,
      complaint: `there are more than ${items.length}: --limit N shows more of them`,
    };
  const isSilent = items.length > 0 || given.has('quiet');
  return isSilent ? { text, json } : { text, json, complaint: 'there are none' };
}

function refuseOptions(given: Arguments, names: readonly string[], why: string): void {
  for (const name of names) if (given.has(name)) throw badUsage(`--${name} ${why}`);
}

function readOrder(given: Arguments): { order?: 'desc' | 'asc' } {
  const order = given.value('order') as 'desc' | 'asc' | undefined; // one of its choices
  return order === undefined ? {} : { order };
}

async function listInboxes(
  session: Session,
  given: Arguments,
  limit: number,
): Promise<CommandOutput> {
  const why = 'is for the emails of an inbox: tempinbox list INBOX';
  refuseOptions(given, [...emailOptions.map(({ name }) => name), 'after'], why);
  const status = given.value('status') as InboxStatus | undefined; // one of its choices
  const tag = given.text('tag', 1, MAX_TAG_LENGTH);
  const filter = {
    ...(status === undefined ? {} : { status }),
    ...(tag === undefined ? {} : { tag }),
    ...readOrder(given),
  };
  return await show(session.client.listInboxes(filter), limit, inboxList, given);
}

async function listEmails(
  session: Session,
  given: Arguments,
  word: string,
  limit: number,
): Promise<CommandOutput> {
  refuseOptions(given, ['status', 'tag'], 'is for inboxes, not for the emails of one');
  const after = given.integer('after', 0, MAX_SEQUENCE);
  const criteria = readCriteria(given);
  const inbox = await session.findInbox(word);
  const filter = { ...criteria, after, ...readOrder(given) };
  return await show(session.client.listInboxEmails(inbox, filter), limit, emailList, given);
}

async function list(session: Session, given: Arguments): Promise<CommandOutput> {
  const limit = given.integer('limit', 1, MAX_LISTED) ?? USUAL_LIMIT;
  const [word] = given.words;
  return word === undefined
    ? await listInboxes(session, given, limit)
    : await listEmails(session, given, word, limit);
}

async function removeByTag(session: Session, tag: string): Promise<CommandOutput> {
  const deletedCount = integerOf(await session.client.deleteInboxesByTag(tag), 'deletedCount');
  const text = `ended ${deletedCount} inboxes with the tag ${quote(printableLine(tag))}\n`;
  return { text, json: { deletedCount } };
}

/** Each of them, also after one that is not there; the first failure decides the exit code. */
async function remove(session: Session, given: Arguments): Promise<CommandOutput> {
  const tag = given.text('tag', 1, MAX_TAG_LENGTH);
  const emails = given.values('email');
  const isByName = given.words.length > 0 || emails.length > 0;
  if (!isByName && tag === undefined)
    throw badUsage('what to delete is missing: INBOX..., --tag TAG or --email ID');
  if (isByName && tag !== undefined)
    throw badUsage('--tag ends all inboxes with the tag: give no INBOX and no --email beside it');
  if (tag !== undefined) return await removeByTag(session, tag);

  const { client } = session;
  const deletions = [
    ...given.words.map((word) => ({
      name: `inbox ${printableLine(word)}`,
      run: async () => await client.deleteInbox(await session.findInbox(word)),
    })),
    ...emails.map(readEmailId).map((id) => ({
      name: `email ${id}`,
      run: async () => await client.deleteEmail(id),
    })),
  ];
  let text = '';
  const failures: CommandFailure[] = [];
  for (const { name, run } of deletions) {
    try {
      await run();
      text += `deleted ${name}\n`;
    } catch (error) {
      failures.push(explain(error, session.origin));
    }
  }
  const json = { deletedCount: deletions.length - failures.length };
  const [first] = failures;
  if (first === undefined) return { text, json };
  const complaint = failures.map(({ message }) => message).join('\ntempinbox: ');
  return { text, json, complaint, code: first.code };
}

async function findPage(session: Session, given: Arguments): Promise<string> {
  const { client } = session;
  const email = given.value('email');
  const [word] = given.words;
  if (email !== undefined) {
    if (word !== undefined) throw badUsage('give an INBOX or --email, not both');
    const found = await client.getEmail(readEmailId(email));
    return client.dashboardLink(textOf(found, 'inboxId'), textOf(found, 'emailId'));
  }
  return word === undefined
    ? client.dashboard
    : client.dashboardLink(await session.findInbox(word));
}

async function open(session: Session, given: Arguments): Promise<CommandOutput> {
  const url = await findPage(session, given);
  const shown = { text: `${url}\n`, json: { url } };
  if (given.has('print')) return shown;
  let failure: CommandFailure | undefined;
  try {
    await openInBrowser(session.platform, url);
  } catch (error) {
    failure = explain(error, session.origin);
  }
  const code: ExitCode | undefined = failure?.code;
  return failure && code ? { ...shown, complaint: failure.message, code } : shown;
}

export const createCommand: Command = {
  name: 'create',
  purpose: 'Makes an inbox',
  options: [
    {
      name: 'local-part',
      value: 'TEXT',
      meaning: 'What stands before the @ (default: random)',
    },
    { name: 'domain', value: 'DOMAIN', meaning: "One of the service's domains" },
    {
      name: 'ttl',
      value: 'TIME',
      meaning: "How long it lives, such as 15m or 7d (default: the plan's)",
    },
    { name: 'name', value: 'TEXT', meaning: 'For your eyes' },
    {
      name: 'tag',
      value: 'TAG',
      meaning: 'To find and end inboxes by; up to ten times',
      isRepeated: true,
    },
    {
      name: 'metadata',
      value: 'NAME=VALUE',
      meaning: 'A pair that comes back as it is; up to 20 times',
      isRepeated: true,
    },
    {
      name: 'capture',
      meaning: 'With an SMTP user and password; prints them as variables of an environment',
    },
    environmentOption,
    quietOption,
  ],
  run: create,
};

export const listCommand: Command = {
  name: 'list',
  purpose: 'Lists inboxes, or the emails of one',
  takes: { name: 'INBOX', meaning: INBOX_MEANING, min: 0, max: 1 },
  options: [
    {
      name: 'status',
      value: 'STATUS',
      meaning: 'Which inboxes: active (default), expired or all',
      choices: ['active', 'expired', 'all'],
    },
    { name: 'tag', value: 'TAG', meaning: 'Inboxes with the tag' },
    ...emailOptions,
    { name: 'after', value: 'N', meaning: 'Emails with a higher sequence' },
    {
      name: 'order',
      value: 'ORDER',
      meaning: 'desc: newest first (default); asc: oldest first',
      choices: ['desc', 'asc'],
    },
    { name: 'limit', value: 'N', meaning: 'How many at most (default 25)' },
    quietOption,
  ],
  run: list,
};

export const removeCommand: Command = {
  name: 'rm',
  purpose: 'Ends inboxes with their mail, or deletes emails',
  takes: { name: 'INBOX', meaning: INBOX_MEANING, min: 0, max: 100 },
  options: [
    { name: 'tag', value: 'TAG', meaning: 'All inboxes with the tag' },
    {
      name: 'email',
      value: 'ID',
      meaning: 'An email, in place of an inbox',
      isRepeated: true,
    },
  ],
  run: remove,
};

export const openCommand: Command = {
  name: 'open',
  purpose: 'Opens the dashboard, an inbox or an email in the browser',
  takes: { name: 'INBOX', meaning: INBOX_MEANING, min: 0, max: 1 },
  options: [
    { name: 'email', value: 'ID', meaning: 'An email' },
    { name: 'print', meaning: 'Prints the address alone, opens nothing' },
  ],
  run: open,
};
