import { expect, test } from 'vitest';
import type { Limits, OfferedPlan } from './api';
import { isPastPlan, limitFacts, plansWith, priceText } from './plans';

const LIMITS: Limits = {
  requestsPerDay: null,
  burstPerSecond: null,
  liveInboxes: 1,
  maxTtlSeconds: 3600,
  maxMessageBytes: 1024,
  webhooks: 0,
  apiKeys: 0,
  routingRules: 0,
  captures: 0,
  catchAlls: 0,
};

test('every limit of a plan is said', () => {
  expect(limitFacts({ ...LIMITS, liveInboxes: 2000, apiKeys: 5 })).toEqual([
    ['Live inboxes', '2,000'],
    ['Longest life of an inbox', '1 hour'],
    ['Largest mail', '1 KB'],
    ['API requests a day', 'no limit'],
    ['API requests a second and key', 'no limit'],
    ['API keys', '5'],
    ['Webhooks', 'none'],
    ['Routing rules', 'none'],
    ['Inboxes with a login', 'none'],
    ['Subdomains', 'none'],
  ]);
});

test('a limit without words of its own is said in plain ones', () => {
  const newer = { ...LIMITS, maxTags: 1500, sharedInboxes: true };
  expect(limitFacts(newer).slice(-2)).toEqual([
    ['Max tags', '1,500'],
    ['Shared inboxes', 'yes'],
  ]);
});

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
    limits: { ...LIMITS, webhooks: apiKeys, apiKeys, routingRules },
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
