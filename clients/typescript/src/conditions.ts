// The conditions of lists and waits, as a request has them and as messages show them.
import { contract } from './contract.js';
import { InvalidArgument, quoted } from './errors.js';
import type { components } from './openapi.js';

export type LinkKind = components['schemas']['EmailLink']['kind'];

/** Selects emails; all that are given must hold. Texts are parts, whatever their letter case. */
export interface EmailConditions {
  /** A part of the sender's address or display name. */
  readonly from?: string | undefined;
  /** A part of a recipient, or of an address in the To header. */
  readonly to?: string | undefined;
  /** A part of a recipient as the sender gave it, with its `+tag`. */
  readonly recipient?: string | undefined;
  readonly subject?: string | undefined;
  /** Only emails in which a one-time code was found, or where `false`, in which none was. */
  readonly hasCode?: boolean | undefined;
  /** Only emails in which a link of any kind was found, or where `false`, in which none was. */
  readonly hasLink?: boolean | undefined;
  /** Only emails in which a link of this kind was found. */
  readonly linkKind?: LinkKind | undefined;
  readonly hasAttachment?: boolean | undefined;
  readonly isRead?: boolean | undefined;
  /** Received at this time or later. */
  readonly since?: Date | string | undefined;
  /** Received before this time. */
  readonly until?: Date | string | undefined;
  /** A part of a header's value for each of up to four names: `{ 'X-Run': '4711' }`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A part of the email's text, across its lines. */
  readonly text?: string | undefined;
}

/** The names of the conditions, in the order in which the service looks at them. */
export const CONDITIONS: readonly string[] = Object.keys(
  contract.waitForEmail.queryParameters,
).filter((name) => !['after', 'timeoutSeconds', 'expect', 'minCount'].includes(name));

/** Returns the parameters of a request; its times may be dates. */
export function filtersOf(given: object): Readonly<Record<string, unknown>> {
  const pairs = Object.entries(given) as [string, unknown][];
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, value instanceof Date ? isoOf(name, value) : value]),
  );
}

function isoOf(name: string, date: Date): string {
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new InvalidArgument(name, 'must be a valid date');
}

/** Describes each filter for messages: `subject: "your code"`, `hasCode: true`. */
export function inWords(filters: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(filters).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (typeof value === 'object' && value !== null)
      return Object.entries(value).map(([key, text]) => `header.${key}: ${quoted(String(text))}`);
    return [`${name}: ${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`];
  });
}
