// How inboxes and emails are listed.
import { integerOf, textOf } from './fields.js';
import { printableLine, toTable } from './printable.js';

/** How a kind of thing is listed. */
export interface Listed {
  readonly name: string;
  readonly id: string;
  readonly headings: readonly string[];
  readonly row: (item: unknown) => readonly string[];
}

export const inboxList: Listed = {
  name: 'inboxes',
  id: 'inboxId',
  headings: ['ADDRESS', 'INBOX', 'STATUS', 'EMAILS', 'ENDS', 'NAME'],
  row: (inbox) => [
    printableLine(textOf(inbox, 'emailAddress')),
    textOf(inbox, 'inboxId'),
    textOf(inbox, 'status'),
    String(integerOf(inbox, 'emailCount')),
    textOf(inbox, 'expiresAt'),
    printableLine(textOf(inbox, 'name')),
  ],
};

export const emailList: Listed = {
  name: 'emails',
  id: 'emailId',
  headings: ['SEQUENCE', 'EMAIL', 'RECEIVED', 'FROM', 'SUBJECT'],
  row: (email) => [
    String(integerOf(email, 'sequence')),
    textOf(email, 'emailId'),
    textOf(email, 'receivedAt'),
    printableLine(textOf(email, 'from')),
    printableLine(textOf(email, 'subject')),
  ],
};

/** A table of the items, or their ids alone, one a line; nothing without any. */
export function listedText(
  items: readonly unknown[],
  { id, headings, row }: Listed,
  isQuiet: boolean,
): string {
  if (isQuiet) return items.map((item) => `${textOf(item, id)}\n`).join('');
  return items.length === 0 ? '' : toTable(headings, items.map(row));
}
