// What people type to find mail, as filters of the list.
import type { Query } from '../../api';

export type MailFilters = Pick<
  Query<'/emails'>,
  | 'text'
  | 'from'
  | 'to'
  | 'recipient'
  | 'subject'
  | 'hasCode'
  | 'hasLink'
  | 'hasAttachment'
  | 'isRead'
  | 'tag'
>;

export interface MailSearch {
  filters: MailFilters;
  notes: string[]; // what of the words is in no filter, and why
}

// A name with a value behind its colon, a phrase in quotes, or a word. A quote that is still open
// ends with the text.
const TOKENS = /([a-z]+):(?:"([^"]*)"?|(\S*))|"([^"]*)"?|(\S+)/gi;
const TEXTS = ['from', 'to', 'recipient', 'subject', 'tag'] as const;
const HAS = { code: 'hasCode', link: 'hasLink', attachment: 'hasAttachment' } as const;

function isText(name: string): name is (typeof TEXTS)[number] {
  return (TEXTS as readonly string[]).includes(name);
}

// Words are a phrase of the text; `from:`, `to:`, `recipient:`, `subject:`, `has:`, `is:` and, over
// all inboxes, `tag:` are filters. Another name with a colon is a word, such as an address of the
// web.
export function readSearch(typed: string, isOneInbox: boolean): MailSearch {
  const filters: MailFilters = {};
  const notes: string[] = [];
  const words: string[] = [];

  function set<Name extends keyof MailFilters>(name: Name, value: MailFilters[Name], word: string) {
    if (filters[name] === undefined) filters[name] = value;
    else if (filters[name] !== value) notes.push(`${word} counts once.`);
  }

  for (const [whole, key = '', quoted, plain, phrase, word] of typed.matchAll(TOKENS)) {
    const name = key.toLowerCase();
    const value = (quoted ?? plain ?? '').trim();
    const chosen = value.toLowerCase();
    if (isText(name)) {
      if (name === 'tag' && isOneInbox) notes.push('tag: is for the page Mail, over all inboxes.');
      else if (value) set(name, value, `${name}:`);
    } else if (name === 'has' && Object.hasOwn(HAS, chosen)) {
      set(HAS[chosen as keyof typeof HAS], true, 'has:');
    } else if (name === 'is' && (chosen === 'read' || chosen === 'unread')) {
      set('isRead', chosen === 'read', 'is:');
    } else if (name === 'has' || name === 'is') {
      const known = name === 'has' ? 'code, link or attachment' : 'read or unread';
      if (value) notes.push(`${name}: takes ${known}.`);
    } else {
      words.push(phrase ?? word ?? whole);
    }
  }
  const text = words.join(' ').trim();
  if (text) filters.text = text;
  return { filters, notes };
}
