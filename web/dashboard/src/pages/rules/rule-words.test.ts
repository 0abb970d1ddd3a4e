import { describe, expect, it } from 'vitest';
import { choices, OPERATORS, sentence } from './rule-words';

describe('a rule as a sentence', () => {
  it('joins its conditions', () => {
    expect(
      sentence([
        { field: 'subject', operator: 'contains', value: 'invoice' },
        { field: 'from', operator: 'ends_with', value: '@shop.example' },
      ]),
    ).toBe('Subject contains “invoice” and Sender ends with “@shop.example”');
  });

  it('says that a catch-all takes every mail, not only what is left', () => {
    expect(sentence([])).toBe('Every mail, also mail that other rules match');
  });
});

describe('choices', () => {
  it('keep the order of the words', () => {
    expect(choices(OPERATORS).map((it) => it.value)).toEqual([
      'contains',
      'equals',
      'starts_with',
      'ends_with',
    ]);
  });
});
