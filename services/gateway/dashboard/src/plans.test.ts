import { expect, test } from 'vitest';
import { isPastPlan, priceText } from './plans';

test('a smaller plan keeps the oldest', () => {
  const newestFirst = ['fifth', 'fourth', 'third', 'second', 'first'];
  const past = (most: number) =>
    newestFirst.filter((_, index) => isPastPlan(index, newestFirst.length, most));
  expect(past(5)).toEqual([]);
  expect(past(3)).toEqual(['fifth', 'fourth']);
  expect(past(0)).toEqual(newestFirst);
});

test('a price says what it pays for', () => {
  expect(priceText({ amount: '0', period: 'none' })).toBe('free of charge');
  expect(priceText({ amount: '2', period: 'once' })).toBe('2, once');
  expect(priceText({ amount: '4.9', period: 'month' })).toBe('4.9 a month');
});
