import { expect, test } from 'vitest';
import type { OfferedPlan } from './api';
import { isPastPlan, plansWith, priceText } from './plans';

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

test('plans with a feature are named from what is offered', () => {
  const offered = (plan: OfferedPlan['plan'], apiKeys: number, routingRules = 0): OfferedPlan => ({
    plan,
    price: { amount: '0', period: 'none' },
    limits: {
      requestsPerDay: null,
      liveInboxes: 1,
      maxTtlSeconds: 3600,
      maxMessageBytes: 1024,
      webhooks: apiKeys,
      apiKeys,
      routingRules,
    },
  });
  const plans = [
    offered('free', 0),
    offered('pass7', 1),
    offered('pro', 2),
    offered('premium', 5, 20),
  ];
  expect(plansWith(plans, 'api')).toBe('7-Day Pass, Pro and Premium');
  expect(plansWith(plans, 'rules')).toBe('Premium');
  expect(plansWith(plans.slice(0, 1), 'webhooks')).toBe('');
});
