import { expect, test } from 'vitest';
import { isPastPlan } from './plans';

test('a smaller plan keeps the oldest', () => {
  const newestFirst = ['fifth', 'fourth', 'third', 'second', 'first'];
  const past = (most: number) =>
    newestFirst.filter((_, index) => isPastPlan(index, newestFirst.length, most));
  expect(past(5)).toEqual([]);
  expect(past(3)).toEqual(['fifth', 'fourth']);
  expect(past(0)).toEqual(newestFirst);
});
