import type { Limits, OfferedPlan, Plan, Price } from './api';
import { bytes, life } from './time';

// A page that was opened before a release may be told of a plan it does not know.
const NAMES: Record<string, string> = {
  free: 'Free',
  starter: 'Starter',
  pass7: '7-Day Pass',
  pro: 'Pro',
  business: 'Business',
  premium: 'Premium',
} satisfies Record<Plan, string>;

export function planName(plan: Plan): string {
  return NAMES[plan] ?? plan;
}

const PAYS_FOR: Record<string, string> = {
  none: '',
  once: ', once',
  month: ' a month',
} satisfies Record<Price['period'], string>;

// The amount is in the operator's currency, which the page is not told.
export function priceText({ amount, period }: Price): string {
  return Number(amount) === 0 ? 'free of charge' : amount + (PAYS_FOR[period] ?? '');
}

export function requestsADay({ apiKeys, requestsPerDay }: Limits): string {
  return apiKeys === 0 ? 'no API' : (requestsPerDay?.toLocaleString('en-US') ?? 'no limit');
}

function requestsASecond({ apiKeys, burstPerSecond }: Limits): string {
  return apiKeys === 0 ? 'no API' : (burstPerSecond?.toLocaleString('en-US') ?? 'no limit');
}

const orNone = (amount: number) => (amount ? String(amount) : 'none');

const SAID: Partial<Record<keyof Limits, [name: string, value: (limits: Limits) => string]>> = {
  liveInboxes: ['Live inboxes', (it) => it.liveInboxes.toLocaleString('en-US')],
  maxTtlSeconds: ['Longest life of an inbox', (it) => life(it.maxTtlSeconds)],
  maxMessageBytes: ['Largest mail', (it) => bytes(it.maxMessageBytes)],
  requestsPerDay: ['API requests a day', requestsADay],
  burstPerSecond: ['API requests a second and key', requestsASecond],
  apiKeys: ['API keys', (it) => orNone(it.apiKeys)],
  webhooks: ['Webhooks', (it) => orNone(it.webhooks)],
  routingRules: ['Routing rules', (it) => orNone(it.routingRules)],
  captures: ['Inboxes with a login', (it) => orNone(it.captures)],
  catchAlls: ['Subdomains', (it) => orNone(it.catchAlls)],
};

// "maxTags" is "Max tags".
function nameOf(limit: string): string {
  const words = limit.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function valueOf(limit: unknown): string {
  if (typeof limit === 'boolean') return limit ? 'yes' : 'no';
  return typeof limit === 'number' ? limit.toLocaleString('en-US') : 'no limit';
}

// Every limit by name and value. One that has no words of its own above is said in plain ones.
export function limitFacts(limits: Limits): [name: string, value: string][] {
  const said = Object.values(SAID).map<[string, string]>(([name, value]) => [name, value(limits)]);
  const others = Object.entries(limits).filter(([limit]) => !(limit in SAID));
  return [
    ...said,
    ...others.map<[string, string]>(([limit, value]) => [nameOf(limit), valueOf(value)]),
  ];
}

export type Feature = 'api' | 'webhooks' | 'rules' | 'captures';

export function hasFeature(limits: Limits, feature: Feature): boolean {
  return {
    api: limits.apiKeys > 0,
    webhooks: limits.webhooks > 0,
    rules: limits.routingRules > 0,
    captures: limits.captures > 0,
  }[feature];
}

// Among resources that outlive their plan the oldest keep working, as many as the plan now allows.
// Lists are newest first.
export function isPastPlan(index: number, length: number, most: number): boolean {
  return length - index > most;
}

// "Pro, Business and Premium"; nothing where no plan has it.
export function plansWith(plans: readonly OfferedPlan[], feature: Feature): string {
  const names = plans.filter((it) => hasFeature(it.limits, feature)).map((it) => planName(it.plan));
  return new Intl.ListFormat('en-GB').format(names);
}
