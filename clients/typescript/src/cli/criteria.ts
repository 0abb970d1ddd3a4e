// What an email must be like: the options, what they ask of the service, and the same in words.
import { isTime } from '../arguments.js';
import type { EmailConditions, LinkKind } from '../conditions.js';
import type { Arguments, Option } from './command.js';
import { parseDuration } from './duration.js';
import { badUsage } from './failure.js';
import { countCharacters, quote } from './printable.js';

export const LINK_KINDS: readonly LinkKind[] = ['verify', 'reset', 'unsubscribe', 'other'];

const MAX_LENGTH = 500;
const MAX_HEADERS = 4;
const HEADER = /^([!-9;-~]{1,100}):\s*(.+)$/s; // RFC 5322 3.6.8: a name is ftext

/** For every command that looks for emails. */
export const criteriaOptions: readonly Option[] = [
  { name: 'from', value: 'TEXT', meaning: "Sender's address or name contains it" },
  { name: 'to', value: 'TEXT', meaning: 'A recipient or a To address contains it' },
  { name: 'recipient', value: 'TEXT', meaning: 'A recipient, with its +tag, contains it' },
  { name: 'subject', value: 'TEXT', meaning: 'Subject contains it' },
  { name: 'text', value: 'TEXT', meaning: 'The text contains it, across its lines' },
  {
    name: 'header',
    value: 'HEADER',
    meaning: "A header contains a text, such as 'X-Run: 4711'; up to four times",
    isRepeated: true,
  },
  { name: 'has-code', meaning: 'With a one-time code' },
  { name: 'has-link', meaning: 'With a link' },
  {
    name: 'link-kind',
    value: 'KIND',
    meaning: 'With a link of this kind: verify, reset, unsubscribe or other',
    choices: LINK_KINDS,
  },
  { name: 'has-attachment', meaning: 'With an attachment' },
  { name: 'unread', meaning: 'Not marked as read' },
];

/** For commands that look at what has come. */
export const timeOptions: readonly Option[] = [
  {
    name: 'since',
    value: 'TIME',
    meaning: 'Received at this time or later: 1h ago, or such as 2026-11-21T10:00:00Z',
  },
  { name: 'until', value: 'TIME', meaning: 'Received before this time, in the same forms' },
];

/** The options without those that a command decides by itself. */
export function criteriaWithout(...names: readonly string[]): readonly Option[] {
  return [...criteriaOptions, ...timeOptions].filter(({ name }) => !names.includes(name));
}

/** Reads the conditions in the order in which the service looks at them. */
export function readCriteria(given: Arguments): EmailConditions {
  const text = (name: string) => given.text(name, 1, MAX_LENGTH);
  const flag = (name: string) => (given.has(name) ? true : undefined);
  const conditions: EmailConditions = {
    from: text('from'),
    to: text('to'),
    recipient: text('recipient'),
    subject: text('subject'),
    hasCode: flag('has-code'),
    hasLink: flag('has-link'),
    linkKind: given.value('link-kind') as LinkKind | undefined, // one of its choices
    hasAttachment: flag('has-attachment'),
    isRead: given.has('unread') ? false : undefined,
    since: readMoment(given, 'since'),
    until: readMoment(given, 'until'),
    headers: readHeaders(given),
    text: text('text'),
  };
  const pairs = Object.entries(conditions).filter(([, value]) => value !== undefined);
  return Object.fromEntries(pairs);
}

/** A duration is so long ago. */
function readMoment(given: Arguments, name: string): string | undefined {
  const word = given.value(name);
  if (word === undefined) return undefined;
  const seconds = parseDuration(word);
  if (seconds !== undefined) return new Date(Date.now() - seconds * 1000).toISOString();
  if (isTime(word)) return word;
  throw badUsage(
    `--${name} must be a time ago such as 15m, 2h or 7d, or one such as 2026-11-21T10:00:00Z, ` +
      `not ${quote(word)}`,
  );
}

function readHeaders(given: Arguments): Record<string, string> | undefined {
  const headers = new Map<string, [string, string]>();
  for (const word of given.values('header')) {
    const [, name, text] = HEADER.exec(word) ?? [];
    if (name === undefined || text === undefined || countCharacters(text) > MAX_LENGTH)
      throw badUsage(
        `--header must be a name, a colon and 1 to ${MAX_LENGTH} characters, such as ` +
          `'X-Run: 4711', not ${quote(word)}`,
      );
    if (headers.has(name.toLowerCase())) throw badUsage(`--header ${quote(name)} is given twice`);
    headers.set(name.toLowerCase(), [name, text]);
  }
  if (headers.size > MAX_HEADERS)
    throw badUsage(`--header may be given ${MAX_HEADERS} times at most, not ${headers.size}`);
  return headers.size === 0 ? undefined : Object.fromEntries(headers.values());
}

/** `subject contains "code", with a code`; empty without any. */
export function describeCriteria(criteria: EmailConditions): string {
  const { headers = {}, linkKind, isRead, since, until } = criteria;
  const contains = (
    [
      ['sender', criteria.from],
      ['recipient or To', criteria.to],
      ['recipient', criteria.recipient],
      ['subject', criteria.subject],
      ...Object.entries(headers),
      ['text', criteria.text],
    ] as const
  ).flatMap(([name, text]) => (text === undefined ? [] : [`${name} contains ${quote(text)}`]));
  const others = [
    criteria.hasCode && 'with a code',
    criteria.hasLink && 'with a link',
    linkKind !== undefined && `with a ${linkKind} link`,
    criteria.hasAttachment && 'with an attachment',
    isRead === false && 'unread',
    since !== undefined && `since ${String(since)}`,
    until !== undefined && `until ${String(until)}`,
  ];
  return [...contains, ...others.filter(Boolean)].join(', ');
}
