// An event as its webhook would bring it.
import { createHmac } from 'node:crypto';

import { badUsage } from './failure.js';
import { textOf } from './fields.js';
import { APPLICATION } from './session.js';

const PREFIX = 'whsec_';
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

/** The body of the webhook for an email of the API. */
export function webhookPayload(email: unknown): string {
  const data = Object.fromEntries(
    ['emailId', 'inboxId', 'from', 'subject'].map((name) => [name, textOf(email, name)]),
  );
  return JSON.stringify({
    event: 'email.received',
    timestamp: textOf(email, 'receivedAt'),
    data,
  });
}

/** The bytes behind `whsec_…`, as webhooks are signed with. */
export function readWebhookSecret(text: string): Buffer {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  const key = Buffer.from(encoded, 'base64');
  const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded);
  if (!isBase64 || key.length < MIN_SECRET_BYTES || key.length > MAX_SECRET_BYTES)
    throw badUsage("--secret must be a webhook's secret: whsec_ and 24 to 64 bytes in base64");
  return key;
}

/**
 * Standard Webhooks' three headers, signed with the key if there is one, and the attempt's number.
 * The id is the event's, as a webhook's is.
 */
export function webhookHeaders(
  eventId: string,
  unixSeconds: number,
  body: string,
  key: Buffer | undefined,
  attempt: number,
): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': APPLICATION,
    'webhook-id': eventId,
    'webhook-timestamp': String(unixSeconds),
  };
  if (key) {
    // Standard Webhooks, "Signature scheme".
    const signed = createHmac('sha256', key).update(`${eventId}.${unixSeconds}.${body}`);
    headers['webhook-signature'] = `v1,${signed.digest('base64')}`;
  }
  headers['webhook-attempt'] = String(attempt);
  return headers;
}
