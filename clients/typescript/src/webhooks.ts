// Standard Webhooks: whether a request is from the service.
import { createHmac, timingSafeEqual } from 'node:crypto';

import { WebhookVerificationError } from './errors.js';
import type { components } from './openapi.js';

export type WebhookEvent =
  | components['schemas']['EmailReceivedEvent']
  | components['schemas']['InboxCreatedEvent']
  | components['schemas']['InboxExpiredEvent'];

/** Headers of a request, as fetch or node:http have them. */
export type RequestHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** The maximum age of the request, and how far ahead its time may be. 300. */
  readonly toleranceSeconds?: number;
}

const MAX_SIGNATURES = 20;

/**
 * The event of a webhook's request, or WebhookVerificationError. `body` is the request's body as it
 * was received; `secrets` are the webhook's `whsec_…`, both while one replaces the other.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: RequestHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300 }: VerifyOptions = {},
): WebhookEvent {
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookVerificationError('webhook-timestamp must be Unix seconds');
  const age = Date.now() / 1000 - Number(timestamp);
  if (Math.abs(age) > toleranceSeconds)
    throw new WebhookVerificationError(
      `webhook-timestamp is ${Math.round(Math.abs(age))} s ${age > 0 ? 'old' : 'ahead'}, more ` +
        `than ${toleranceSeconds} s: an old request sent again, or a clock that is wrong`,
    );
  const expected = (typeof secrets === 'string' ? [secrets] : secrets).map((secret) =>
    createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest(),
  );
  const given = signatures
    .slice(0, MAX_SIGNATURES)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice(3), 'base64'));
  // Every pair is compared, so that the time says nothing of which one fits.
  const fits = given.flatMap((one) =>
    expected.map((other) => one.length === other.length && timingSafeEqual(one, other)),
  );
  if (!fits.includes(true))
    throw new WebhookVerificationError(
      'webhook-signature is of another secret, or the body is not as it was received (it must be ' +
        'the bytes, not JSON written anew)',
    );
  return eventOf(body);
}

function eventOf(body: string | Uint8Array): WebhookEvent {
  try {
    const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
    return JSON.parse(text) as WebhookEvent;
  } catch (cause) {
    throw new WebhookVerificationError('The body is no JSON', { cause });
  }
}

function header(headers: RequestHeaders, name: string): string {
  const found = hasGet(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const value = typeof found === 'string' ? found : found?.[0];
  if (!value) throw new WebhookVerificationError(`Header ${name} is missing`);
  return value;
}

function hasGet(headers: RequestHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}

function keyOf(secret: string): Buffer {
  const text = typeof secret === 'string' ? secret.replace(/^whsec_/, '') : '';
  const key = Buffer.from(text, 'base64');
  if (key.length < 24 || key.length > 64 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw new WebhookVerificationError(
      'The secret must be whsec_ and 24 to 64 bytes in base64, as the webhook showed it once',
    );
  return key;
}
