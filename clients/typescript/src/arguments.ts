// Compares the caller's arguments with the contract before anything is sent: a wrong value and an
// option that does not exist are errors that say what is allowed.
import { InvalidArgument, quoted } from './errors.js';

/** The values that the contract allows for one argument. */
export type Rule = { readonly required?: boolean; readonly nullable?: boolean } & (
  | { readonly is: 'boolean' | 'uuid' | 'time' }
  | { readonly is: 'integer'; readonly min: number; readonly max?: number }
  | { readonly is: 'oneOf'; readonly values: readonly string[] }
  | { readonly is: 'text'; readonly min?: number; readonly max?: number; readonly pattern?: string }
  | { readonly is: 'list'; readonly of: Rule; readonly min?: number; readonly max?: number }
  | { readonly is: 'object'; readonly fields: Rules }
  | {
      readonly is: 'pairs';
      readonly name: Rule;
      readonly value: Rule;
      readonly max: number;
      readonly prefix?: string; // of the parameter for each pair, where they stand in the query
    }
);

export type Rules = Readonly<Record<string, Rule>>;

/** One operation of the contract. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly pathParameters?: Rules;
  readonly queryParameters?: Rules;
  readonly body?: Rules;
  readonly minFields?: number;
  readonly takesIdempotencyKey?: boolean;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const CONTROL = /(?![\t\n\r\x80-\x9f])\p{Cc}/u;

/**
 * Refuses names that are not among the rules, what is missing, and values out of bounds; `within`
 * stands before the names.
 */
export function checkAll(given: object, rules: Rules, minFields = 0, within = ''): void {
  const values = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name, value] of values) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined)
      throw new InvalidArgument(within + name, `is unknown here; there are: ${namesOf(rules)}`);
    check(within + name, value, rule);
  }
  for (const [name, rule] of Object.entries(rules))
    if (rule.required && !values.some(([known]) => known === name))
      throw new InvalidArgument(within + name, `is missing: it ${allowed(rule)}`);
  if (values.length < minFields)
    throw new InvalidArgument('the change', `must have at least one of: ${namesOf(rules)}`);
}

/** Refuses a value out of its rule's bounds. */
export function check(name: string, value: unknown, rule: Rule): void {
  if (value === null && rule.nullable) return;
  if (!isAllowed(name, value, rule))
    throw new InvalidArgument(name, `${allowed(rule)}, not ${shown(value, rule)}`);
}

function isAllowed(name: string, value: unknown, rule: Rule): boolean {
  switch (rule.is) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'uuid':
      return typeof value === 'string' && UUID.test(value);
    case 'time':
      return typeof value === 'string' && isTime(value);
    case 'integer':
      return Number.isSafeInteger(value) && isWithin(value as number, rule);
    case 'oneOf':
      return typeof value === 'string' && rule.values.includes(value);
    case 'text':
      return (
        typeof value === 'string' &&
        isWithin(Array.from(value).length, rule) &&
        !CONTROL.test(value) &&
        (rule.pattern === undefined || new RegExp(rule.pattern).test(value))
      );
    case 'list':
      if (!Array.isArray(value) || !isWithin(value.length, rule)) return false;
      value.forEach((item, index) => check(`${name}[${index}]`, item, rule.of));
      return true;
    case 'object':
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      checkAll(value, rule.fields, 0, `${name}.`);
      return true;
    case 'pairs': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      const pairs = Object.entries(value);
      for (const [key, item] of pairs) {
        check(`a name in ${name}`, key, rule.name);
        check(`${name}.${key}`, item, rule.value);
      }
      return pairs.length <= rule.max;
    }
  }
}

/** Says whether a text is a time of ISO 8601 with a zone. */
export function isTime(text: string): boolean {
  return TIME.test(text) && !Number.isNaN(Date.parse(text));
}

function isWithin(number: number, { min, max }: { min?: number; max?: number }): boolean {
  return number >= (min ?? 0) && (max === undefined || number <= max);
}

function allowed(rule: Rule): string {
  switch (rule.is) {
    case 'boolean':
      return 'must be true or false';
    case 'uuid':
      return 'must be a UUID of 36 characters';
    case 'time':
      return 'must be a time such as "2026-11-21T10:00:00Z"';
    case 'integer':
      return `must be an integer ${range(rule)}`;
    case 'oneOf':
      return `must be one of ${rule.values.join(', ')}`;
    case 'text':
      return (
        `must be a string ${range(rule)} characters` +
        (rule.pattern === undefined ? ', no control characters' : ` that matches ${rule.pattern}`)
      );
    case 'list':
      return `must be an array ${range(rule)} items`;
    case 'object':
      return 'must be an object';
    case 'pairs':
      return `must be an object of at most ${rule.max} pairs of strings`;
  }
}

function range({ min = 0, max }: { min?: number; max?: number }): string {
  return max === undefined ? `from ${min}` : `of ${min} to ${max}`;
}

function shown(value: unknown, rule: Rule): string {
  if (typeof value === 'string')
    return rule.is === 'text'
      ? `${Array.from(value).length}: ${quoted(value, 60)}`
      : quoted(value, 60);
  if (Array.isArray(value)) return `${value.length}`;
  if (typeof value === 'object' && value !== null)
    return rule.is === 'pairs' ? `${Object.keys(value).length} pairs` : 'an object';
  return String(value);
}

function namesOf(rules: Rules): string {
  return Object.keys(rules).join(', ') || 'none';
}
