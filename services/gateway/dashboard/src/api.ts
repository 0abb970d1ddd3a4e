// Everything the page says to the gateway, with the shapes of docs/api.md. Fails with ApiError alone.

import type {
  Account,
  Attachment,
  Delivery,
  DeliveryStatus,
  Email,
  EmailSummary,
  Inbox,
  InboxWishes,
  Key,
  OfferedPlan,
  Page,
  Rule,
  RuleWishes,
  Sample,
  Session,
  UsageDay,
  Verdict,
  Webhook,
  WebhookWishes,
} from './api-shapes';
import { BASE_PATH } from './base-path';

export * from './api-shapes';

// What the server answered instead of what was asked for; status 0 when nothing answered at all.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly requestId: string | null = null,
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}

const ROOT = `${BASE_PATH}/dashboard/api`;
let csrfToken = '';
let accountId = '';
let whenSignedOut = () => {};

// Called when the server no longer knows the session, whichever request finds out.
export function onSignedOut(handler: () => void): void {
  whenSignedOut = handler;
}

interface Asked {
  body?: unknown;
  query?: Record<string, string | number | undefined>;
  accept?: string;
  signal?: AbortSignal;
}

function address(path: string, query: Asked['query'] = {}): string {
  const given = Object.entries(query).filter(
    (it): it is [string, string | number] => it[1] !== undefined && it[1] !== '',
  );
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return ROOT + path + (text && `?${text}`);
}

async function problem(response: Response): Promise<ApiError> {
  let message = '';
  try {
    message = ((await response.json()) as { message?: string }).message ?? '';
  } catch {
    // A proxy's page is no sentence for people; the status has to do.
  }
  const wait = Number(response.headers.get('Retry-After'));
  return new ApiError(
    response.status,
    message,
    response.headers.get('X-Request-Id'),
    wait > 0 ? wait : null,
  );
}

// Whether another tab signed in again or changed the password, so that our token is of a session that is over.
function isOldToken(method: string, failure: ApiError): boolean {
  return (
    method !== 'GET' && failure.status === 403 && failure.message.startsWith('Header X-CSRF-Token')
  );
}

async function exchange(
  method: string,
  path: string,
  asked: Asked,
  isRepeated = false,
): Promise<Response> {
  const headers: Record<string, string> = { Accept: asked.accept ?? 'application/json' };
  if (method !== 'GET' && csrfToken) headers['X-CSRF-Token'] = csrfToken;
  if (asked.body !== undefined) headers['Content-Type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(address(path, asked.query), {
      method,
      headers,
      body: asked.body === undefined ? null : JSON.stringify(asked.body),
      signal: asked.signal ?? null,
      credentials: 'same-origin',
      cache: 'no-store',
    });
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === 'AbortError') throw failure;
    throw new ApiError(0, '');
  }
  if (!response.ok) {
    if (response.status === 401 && !(method === 'POST' && path === '/session')) whenSignedOut();
    const failure = await problem(response);
    if (isRepeated || !isOldToken(method, failure)) throw failure;
    await api.session();
    return exchange(method, path, asked, true);
  }
  return response;
}

async function ask<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
  const response = await exchange(method, path, asked);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

function remember<S extends Session | null>(session: S): S {
  csrfToken = session?.csrfToken ?? '';
  accountId = session?.accountId ?? '';
  return session;
}

// Another account may have signed in meanwhile, in another tab: then all that is shown here is not theirs, and nobody waits for this answer any more.
function rememberSame(session: Session): Session | Promise<never> {
  if (!accountId || session.accountId === accountId) return remember(session);
  location.reload();
  return new Promise<never>(() => {});
}

type Listed<Name extends string, T> = { [key in Name]: T[] } & { nextCursor: string | null };
const id = encodeURIComponent;

export const api = {
  session: (signal?: AbortSignal) => ask<Session>('GET', '/session', { signal }).then(rememberSame),
  signIn: (email: string, password: string) =>
    ask<Session>('POST', '/session', { body: { email, password } }).then(remember),
  settings: (signal?: AbortSignal) =>
    ask<{ signUp: 'open' | 'closed'; mailRelay: boolean }>('GET', '/settings', { signal }),
  signUp: (email: string, password: string) =>
    ask<Session | { email: string; codeSent: true }>('POST', '/accounts', {
      body: { email, password },
    }),
  confirmSignUp: (email: string, code: string, password: string) =>
    ask<Session>('POST', '/accounts/confirm', { body: { email, code, password } }),
  signOut: () => ask<unknown>('DELETE', '/session').then(() => remember(null)),

  account: (signal?: AbortSignal) => ask<Account>('GET', '/account', { signal }),
  plans: (signal?: AbortSignal) => ask<{ plans: OfferedPlan[] }>('GET', '/plans', { signal }),
  usage: (signal?: AbortSignal) => ask<{ days: UsageDay[] }>('GET', '/account/usage', { signal }),

  domains: (signal?: AbortSignal) =>
    ask<{ domains: { domain: string; default: boolean }[] }>('GET', '/domains', { signal }),
  inboxes: (
    query: Page & { status?: string; tag?: string; address?: string },
    signal?: AbortSignal,
  ) => ask<Listed<'inboxes', Inbox>>('GET', '/inboxes', { query: { ...query }, signal }),
  inbox: (inboxId: string, signal?: AbortSignal) =>
    ask<Inbox>('GET', `/inboxes/${id(inboxId)}`, { signal }),
  createInbox: (wishes: InboxWishes) => ask<Inbox>('POST', '/inboxes', { body: wishes }),
  changeInbox: (
    inboxId: string,
    wishes: { ttlSeconds?: number; name?: string | null; tags?: string[] },
  ) => ask<Inbox>('PATCH', `/inboxes/${id(inboxId)}`, { body: wishes }),
  deleteInbox: (inboxId: string) => ask<unknown>('DELETE', `/inboxes/${id(inboxId)}`),
  emptyInbox: (inboxId: string) => ask<unknown>('DELETE', `/inboxes/${id(inboxId)}/emails`),
  emails: (
    inboxId: string,
    query: Page & { from?: string; subject?: string },
    signal?: AbortSignal,
  ) =>
    ask<Listed<'emails', EmailSummary>>('GET', `/inboxes/${id(inboxId)}/emails`, {
      query: { ...query, include: 'codes' },
      signal,
    }),
  allEmails: (query: Page, signal?: AbortSignal) =>
    ask<Listed<'emails', EmailSummary>>('GET', '/emails', {
      query: { ...query, include: 'codes' },
      signal,
    }),
  email: (emailId: string, signal?: AbortSignal) =>
    ask<Email>('GET', `/emails/${id(emailId)}`, { signal }),
  markRead: (emailId: string, isRead: boolean) =>
    ask<EmailSummary>('PATCH', `/emails/${id(emailId)}`, { body: { isRead } }),
  deleteEmail: (emailId: string) => ask<unknown>('DELETE', `/emails/${id(emailId)}`),
  source: (emailId: string, signal?: AbortSignal) =>
    exchange('GET', `/emails/${id(emailId)}/raw`, { accept: 'message/rfc822', signal }).then((it) =>
      it.arrayBuffer(),
    ),
  attachment: (emailId: string, attachmentId: string, signal?: AbortSignal) =>
    ask<Attachment & { content: string }>(
      'GET',
      `/emails/${id(emailId)}/attachments/${id(attachmentId)}`,
      { signal },
    ),

  keys: (signal?: AbortSignal) => ask<{ keys: Key[] }>('GET', '/keys', { signal }),
  createKey: (label: string) => ask<Key>('POST', '/keys', { body: { label } }),
  revokeKey: (keyId: string) => ask<unknown>('DELETE', `/keys/${id(keyId)}`),

  webhooks: (signal?: AbortSignal) =>
    ask<Listed<'webhooks', Webhook>>('GET', '/webhooks', { query: { limit: 100 }, signal }),
  createWebhook: (wishes: WebhookWishes) => ask<Webhook>('POST', '/webhooks', { body: wishes }),
  changeWebhook: (webhookId: string, wishes: WebhookWishes) =>
    ask<Webhook>('PATCH', `/webhooks/${id(webhookId)}`, { body: wishes }),
  deleteWebhook: (webhookId: string) => ask<unknown>('DELETE', `/webhooks/${id(webhookId)}`),
  rotateSecret: (webhookId: string) =>
    ask<{ webhookId: string; secret: string; previousSecretValidUntil: string }>(
      'POST',
      `/webhooks/${id(webhookId)}/rotate-secret`,
    ),
  testWebhook: (webhookId: string) => ask<Delivery>('POST', `/webhooks/${id(webhookId)}/test`),
  deliveries: (webhookId: string, query: Page & { status?: string }, signal?: AbortSignal) =>
    ask<Listed<'deliveries', Delivery>>('GET', `/webhooks/${id(webhookId)}/deliveries`, {
      query: { ...query },
      signal,
    }),
  retry: (webhookId: string, deliveryId: string) =>
    ask<Delivery>('POST', `/webhooks/${id(webhookId)}/deliveries/${id(deliveryId)}/retry`),
  replay: (webhookId: string, body: { since: string; status?: DeliveryStatus }) =>
    ask<{ webhookId: string; replayed: number }>('POST', `/webhooks/${id(webhookId)}/replay`, {
      body,
    }),

  rules: (signal?: AbortSignal) => ask<{ rules: Rule[] }>('GET', '/rules', { signal }),
  createRule: (wishes: RuleWishes) => ask<Rule>('POST', '/rules', { body: wishes }),
  changeRule: (ruleId: string, wishes: Partial<RuleWishes>) =>
    ask<Rule>('PATCH', `/rules/${id(ruleId)}`, { body: wishes }),
  deleteRule: (ruleId: string) => ask<unknown>('DELETE', `/rules/${id(ruleId)}`),
  testRules: (sample: Sample, rules?: Partial<Rule>[]) =>
    ask<Verdict>('POST', '/rules/test', { body: rules ? { ...sample, rules } : sample }),

  changePassword: (currentPassword: string, newPassword: string) =>
    ask<Session>('POST', '/account/password', { body: { currentPassword, newPassword } }).then(
      remember,
    ),
  signOutEverywhere: () => ask<unknown>('DELETE', '/sessions').then(() => remember(null)),
  askForReset: (email: string) => ask<unknown>('POST', '/password-resets', { body: { email } }),
  resetPassword: (token: string, newPassword: string) =>
    ask<unknown>('POST', '/password-resets/confirm', { body: { token, newPassword } }),

  eventsUrl: `${ROOT}/events`,
};

export { remember as rememberSession };
