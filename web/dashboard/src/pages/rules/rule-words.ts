import type { Condition, RuleField, RuleOperator } from '../../api';

export const FIELDS: Record<RuleField, string> = {
  subject: 'Subject',
  from: 'Sender',
  to: 'Recipient',
};
export const OPERATORS: Record<RuleOperator, string> = {
  contains: 'contains',
  equals: 'is',
  starts_with: 'starts with',
  ends_with: 'ends with',
};
export const MAX_CONDITIONS = 5;

export function choices<V extends string>(words: Record<V, string>): { value: V; text: string }[] {
  return (Object.keys(words) as V[]).map((value) => ({ value, text: words[value] }));
}

// "Subject contains “invoice” and Sender ends with “@shop.example”".
export function sentence(conditions: readonly Condition[]): string {
  if (conditions.length === 0) return 'Every mail, also mail that other rules match';
  return conditions
    .map((it) => `${FIELDS[it.field]} ${OPERATORS[it.operator]} “${it.value}”`)
    .join(' and ');
}
