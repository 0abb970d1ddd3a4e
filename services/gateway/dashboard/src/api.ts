// Everything the page says to the gateway, with the shapes of docs/api.md. Fails with ApiError alone.

export type Plan = 'free' | 'starter' | 'pass7' | 'pro' | 'business' | 'premium';

export interface Limits {
  requestsPerDay: number | null; // null: no daily limit
  liveInboxes: number;
  maxTtlSeconds: number;
  maxMessageBytes: number;
  webhooks: number;
  apiKeys: number;
  routingRules: number;
}

export interface Session {
  accountId: string;
  email: string;
  plan: Plan;
  planEndsAt: string | null;
  limits: Limits;
  csrfToken: string;
}

export interface Account extends Omit<Session, 'csrfToken'> {
  usage: { requestsToday: number; liveInboxes: number; webhooks: number };
}

export interface UsageDay {
  date: string;
  requests: number;
  emails: number;
  deliveries: number;
}

export interface Inbox {
  inboxId: string;
  emailAddress: string;
  name: string | null;
  tags: string[];
  metadata: Record<string, string>;
  status: 'active' | 'expired';
  emailCount: number;
  lastSequence: number;
  lastEmailAt: string | null;
  createdAt: string;
  expiresAt: string | null;
  expiredAt: string | null;
  isFull?: boolean; // of one inbox, not in lists
}

export interface InboxWishes {
  localPart?: string;
  domain?: string;
  ttlSeconds?: number;
  name?: string;
  tags?: string[];
  metadata?: Record<string, string>;
}

export interface EmailSummary {
  emailId: string;
  inboxId: string;
  sequence: number;
  from: string;
  fromName: string;
  to: string[];
  subject: string;
  preview: string;
  receivedAt: string;
  sizeBytes: number;
  attachmentCount: number;
  isRead: boolean;
  codes?: Code[];
}

export interface Code {
  value: string;
  score: number;
  part: string;
  offset: number;
}

export interface Attachment {
  attachmentId: string;
  filename: string;
  contentType: string;
  sizeBytes: number;
  contentId: string | null;
  inline: boolean;
}

export interface Email extends EmailSummary {
  toHeader: string[];
  cc: string[];
  replyTo: string[];
  messageId: string | null;
  date: string | null;
  headers: { name: string; value: string }[];
  text: string | null;
  html: string | null;
  attachments: Attachment[];
  codes: Code[];
  links: { url: string; text: string; kind: 'verify' | 'reset' | 'unsubscribe' | 'other' }[];
  authentication: Record<string, string | null> | null;
  envelope: {
    mailFrom: string;
    rcptTo: string[];
    remoteAddress: string;
    helo: string;
    tls: string | null;
  };
  routing: { ruleId: string; matched: boolean }[] | null;
  defects: string[];
}

export type EventKind = 'email.received' | 'inbox.created' | 'inbox.expired';
export const EVENT_KINDS: readonly EventKind[] = [
  'email.received',
  'inbox.created',
  'inbox.expired',
];

export interface Webhook {
  webhookId: string;
  url: string;
  events: EventKind[];
  description: string | null;
  isEnabled: boolean;
  disabledReason: string | null;
  createdAt: string;
  secret?: string;
}

export type WebhookWishes = Partial<Pick<Webhook, 'url' | 'events' | 'description' | 'isEnabled'>>;
export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

export interface Attempt {
  at: string;
  statusCode: number | null;
  durationMs: number;
  error: string | null;
  responseBody: string | null;
}

export interface Delivery {
  deliveryId: string;
  eventId: string;
  event: string;
  status: DeliveryStatus;
  attempts: Attempt[];
  nextAttemptAt: string | null;
  createdAt: string;
  ruleIds: string[];
}

export interface Key {
  keyId: string;
  label: string;
  prefix: string;
  createdAt: string;
  lastUsedAt: string | null;
  isActive: boolean;
  key?: string;
}

export type RuleField = 'subject' | 'from' | 'to';
export type RuleOperator = 'contains' | 'equals' | 'starts_with' | 'ends_with';

export interface Condition {
  field: RuleField;
  operator: RuleOperator;
  value: string;
}

export interface RuleWishes {
  name: string;
  webhookId: string;
  conditions: Condition[];
  isEnabled: boolean;
}

export interface Rule extends RuleWishes {
  id: string;
  createdAt: string;
}

export type Sample = { from: string; to: string; subject: string } | { emailId: string };

export interface TestedRule {
  id: string | null;
  name: string;
  isEnabled: boolean;
  matched: boolean;
  conditions: (Condition & { actual: string; matched: boolean })[];
}

export interface Verdict {
  rules: TestedRule[];
  webhookIds: string[];
}

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

const ROOT = '/dashboard/api';
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

export interface Page {
  limit?: number;
  cursor?: string;
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
