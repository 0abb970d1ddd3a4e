import type { Limits, OfferedPlan, Plan, Price } from './api';

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

export type Feature = 'api' | 'webhooks' | 'rules';

export function hasFeature(limits: Limits, feature: Feature): boolean {
  return { api: limits.apiKeys > 0, webhooks: limits.webhooks > 0, rules: limits.routingRules > 0 }[
    feature
  ];
}

// Of what outlives its plan the oldest keep working, as many as the plan now allows. Lists are newest first.
export function isPastPlan(index: number, length: number, most: number): boolean {
  return length - index > most;
}

// "Pro, Business and Premium"; nothing where no plan has it.
export function plansWith(plans: readonly OfferedPlan[], feature: Feature): string {
  const names = plans.filter((it) => hasFeature(it.limits, feature)).map((it) => planName(it.plan));
  return new Intl.ListFormat('en-GB').format(names);
}
