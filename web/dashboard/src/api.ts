// Every request of the page to the gateway, with the shapes of docs/dashboard-openapi.yaml. The
// calls throw ApiError and nothing else.

import type {
  Answer,
  RequestOf,
  DraftRule,
  ErrorCode,
  EventKind,
  InboxChange,
  NewInbox,
  Method,
  NewKey,
  NewWebhook,
  Operation,
  PathOf,
  Query,
  NewReplay,
  NewFaults,
  NewRotation,
  RuleFields,
  Sample,
  Session,
  WebhookChange,
} from './api-shapes';
import { BASE_PATH } from './base-path';

export type * from './api-shapes';

// An answer that is not a success; the status is 0 if no answer came at all. `code` is null if the
// answer is not the gateway's; a gateway newer than this page may send a code that the page does
// not know.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code: ErrorCode | null = null,
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

// Sets the handler that is called when the server no longer knows the session, whichever request
// finds out.
export function onSignedOut(handler: () => void): void {
  whenSignedOut = handler;
}

interface Sent {
  path?: Record<string, string> | undefined;
  query?: object | undefined;
  body?: unknown;
  accept?: string;
  signal?: AbortSignal | undefined;
}

function address(path: string, { path: names = {}, query = {} }: Sent): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(names[name] ?? ''),
  );
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return ROOT + filled + (text && `?${text}`);
}

async function problem(response: Response): Promise<ApiError> {
  let said: { message?: string; code?: ErrorCode } = {};
  try {
    said = (await response.json()) as typeof said;
  } catch {
    // A proxy's page is no sentence for people; the status has to do.
  }
  const wait = Number(response.headers.get('Retry-After'));
  return new ApiError(
    response.status,
    said.message ?? '',
    said.code ?? null,
    response.headers.get('X-Request-Id'),
    wait > 0 ? wait : null,
  );
}

// Returns whether our token is missing or belongs to an ended session, because another tab signed
// in again or changed the password.
function isOldToken({ code }: ApiError): boolean {
  return code === 'csrf_token_mismatch' || code === 'csrf_token_missing';
}

// Returns whether the request belonged to an ended session: another tab may have begun a new one
// while it was under way.
function isOldSession({ code }: ApiError): boolean {
  return accountId !== '' && (code === 'session_ended' || code === 'no_session');
}

async function exchange(
  method: Method,
  path: string,
  request: Sent,
  isRepeated = false,
): Promise<Response> {
  const headers: Record<string, string> = { Accept: request.accept ?? 'application/json' };
  if (method !== 'get' && csrfToken) headers['X-CSRF-Token'] = csrfToken;
  if (request.body !== undefined) headers['Content-Type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(address(path, request), {
      method: method.toUpperCase(),
      headers,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal: request.signal ?? null,
      credentials: 'same-origin',
      cache: 'no-store',
    });
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === 'AbortError') throw failure;
    throw new ApiError(0, '');
  }
  if (!response.ok) {
    const failure = await problem(response);
    const isRenewal = method === 'get' && path === '/session';
    const mayBeRenewed = !isRepeated && !isRenewal;
    if (!mayBeRenewed || !(isOldToken(failure) || isOldSession(failure))) {
      if (response.status === 401 && failure.code !== 'wrong_credentials') whenSignedOut();
      throw failure;
    }
    await api.session();
    return exchange(method, path, request, true);
  }
  return response;
}

async function ask<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P,
  request: RequestOf<Operation<M, P>>,
): Promise<Answer<Operation<M, P>>> {
  const response = await exchange(method, path, request);
  return (await response.json()) as Answer<Operation<M, P>>;
}

function remember<S extends Session | null>(session: S): S {
  csrfToken = session?.csrfToken ?? '';
  accountId = session?.accountId ?? '';
  return session;
}

// Another account may have signed in meanwhile in another tab. Then nothing that is shown here is
// theirs, and nobody waits for this answer any more.
function rememberSame(session: Session): Session | Promise<never> {
  if (!accountId || session.accountId === accountId) return remember(session);
  location.reload();
  return new Promise<never>(() => {});
}

export const api = {
  session: (signal?: AbortSignal) => ask('get', '/session', { signal }).then(rememberSame),
  signIn: (email: string, password: string) =>
    ask('post', '/session', { body: { email, password } }).then(remember),
  settings: (signal?: AbortSignal) => ask('get', '/settings', { signal }),
  signUp: (email: string, password: string) =>
    ask('post', '/accounts', { body: { email, password } }),
  confirmSignUp: (email: string, code: string, password: string) =>
    ask('post', '/accounts/confirm', { body: { email, code, password } }),
  signOut: () => ask('delete', '/session', {}).then(() => remember(null)),

  account: (signal?: AbortSignal) => ask('get', '/account', { signal }),
  plans: (signal?: AbortSignal) => ask('get', '/plans', { signal }),
  usage: (signal?: AbortSignal) => ask('get', '/account/usage', { signal }),

  domains: (signal?: AbortSignal) => ask('get', '/domains', { signal }),
  inboxes: (query: Query<'/inboxes'>, signal?: AbortSignal) =>
    ask('get', '/inboxes', { query, signal }),
  inbox: (inboxId: string, signal?: AbortSignal) =>
    ask('get', '/inboxes/{inboxId}', { path: { inboxId }, signal }),
  createInbox: (body: NewInbox) => ask('post', '/inboxes', { body }),
  changeInbox: (inboxId: string, body: InboxChange) =>
    ask('patch', '/inboxes/{inboxId}', { path: { inboxId }, body }),
  deleteInbox: (inboxId: string) => ask('delete', '/inboxes/{inboxId}', { path: { inboxId } }),
  emptyInbox: (inboxId: string) =>
    ask('delete', '/inboxes/{inboxId}/emails', { path: { inboxId } }),
  createCapture: (inboxId: string) =>
    ask('post', '/inboxes/{inboxId}/capture', { path: { inboxId } }),
  rotateCapture: (inboxId: string, body: NewRotation) =>
    ask('post', '/inboxes/{inboxId}/capture/rotate', { path: { inboxId }, body }),
  endCapture: (inboxId: string) =>
    ask('delete', '/inboxes/{inboxId}/capture', { path: { inboxId } }),
  faults: (inboxId: string, signal?: AbortSignal) =>
    ask('get', '/inboxes/{inboxId}/faults', { path: { inboxId }, signal }),
  setFaults: (inboxId: string, body: NewFaults) =>
    ask('put', '/inboxes/{inboxId}/faults', { path: { inboxId }, body }),
  clearFaults: (inboxId: string) =>
    ask('delete', '/inboxes/{inboxId}/faults', { path: { inboxId } }),
  senderReport: (inboxId: string, signal?: AbortSignal) =>
    ask('get', '/inboxes/{inboxId}/sender-report', { path: { inboxId }, signal }),
  rejections: (inboxId: string, signal?: AbortSignal) =>
    ask('get', '/inboxes/{inboxId}/rejections', { path: { inboxId }, signal }),
  emails: (inboxId: string, query: Query<'/inboxes/{inboxId}/emails'>, signal?: AbortSignal) =>
    ask('get', '/inboxes/{inboxId}/emails', {
      path: { inboxId },
      query: { ...query, include: ['codes'] },
      signal,
    }),
  allEmails: (query: Query<'/emails'>, signal?: AbortSignal) =>
    ask('get', '/emails', { query: { ...query, include: ['codes'] }, signal }),
  email: (emailId: string, signal?: AbortSignal) =>
    ask('get', '/emails/{emailId}', { path: { emailId }, signal }),
  timeline: (emailId: string, signal?: AbortSignal) =>
    ask('get', '/emails/{emailId}/timeline', { path: { emailId }, signal }),
  markRead: (emailId: string, isRead: boolean) =>
    ask('patch', '/emails/{emailId}', { path: { emailId }, body: { isRead } }),
  deleteEmail: (emailId: string) => ask('delete', '/emails/{emailId}', { path: { emailId } }),
  source: (emailId: string, signal?: AbortSignal) =>
    exchange('get', '/emails/{emailId}/raw' satisfies PathOf<'get'>, {
      path: { emailId },
      accept: 'message/rfc822',
      signal,
    }).then((it) => it.arrayBuffer()),
  attachment: (emailId: string, attachmentId: string, signal?: AbortSignal) =>
    ask('get', '/emails/{emailId}/attachments/{attachmentId}', {
      path: { emailId, attachmentId },
      signal,
    }),
  attachmentFile: (emailId: string, attachmentId: string) =>
    exchange('get', '/emails/{emailId}/attachments/{attachmentId}' satisfies PathOf<'get'>, {
      path: { emailId, attachmentId },
      query: { download: '1' },
    }).then((it) => it.arrayBuffer()),

  keys: (signal?: AbortSignal) => ask('get', '/keys', { signal }),
  createKey: (made: NewKey) => ask('post', '/keys', { body: made }),
  revokeKey: (keyId: string) => ask('delete', '/keys/{keyId}', { path: { keyId } }),

  webhooks: (signal?: AbortSignal) => ask('get', '/webhooks', { query: { limit: 100 }, signal }),
  createWebhook: (body: NewWebhook) => ask('post', '/webhooks', { body }),
  changeWebhook: (webhookId: string, body: WebhookChange) =>
    ask('patch', '/webhooks/{webhookId}', { path: { webhookId }, body }),
  deleteWebhook: (webhookId: string) =>
    ask('delete', '/webhooks/{webhookId}', { path: { webhookId } }),
  rotateSecret: (webhookId: string) =>
    ask('post', '/webhooks/{webhookId}/rotate-secret', { path: { webhookId } }),
  testWebhook: (webhookId: string, event: EventKind) =>
    ask('post', '/webhooks/{webhookId}/test', { path: { webhookId }, body: { event } }),
  deliveries: (
    webhookId: string,
    query: Query<'/webhooks/{webhookId}/deliveries'>,
    signal?: AbortSignal,
  ) => ask('get', '/webhooks/{webhookId}/deliveries', { path: { webhookId }, query, signal }),
  retry: (webhookId: string, deliveryId: string) =>
    ask('post', '/webhooks/{webhookId}/deliveries/{deliveryId}/retry', {
      path: { webhookId, deliveryId },
    }),
  replay: (webhookId: string, body: NewReplay) =>
    ask('post', '/webhooks/{webhookId}/replay', { path: { webhookId }, body }),

  rules: (signal?: AbortSignal) => ask('get', '/rules', { signal }),
  createRule: (body: RuleFields) => ask('post', '/rules', { body }),
  changeRule: (ruleId: string, body: Partial<RuleFields>) =>
    ask('patch', '/rules/{ruleId}', { path: { ruleId }, body }),
  deleteRule: (ruleId: string) => ask('delete', '/rules/{ruleId}', { path: { ruleId } }),
  testRules: (sample: Sample, rules?: DraftRule[]) =>
    ask('post', '/rules/test', { body: rules ? { ...sample, rules } : sample }),

  changePassword: (currentPassword: string, newPassword: string) =>
    ask('post', '/account/password', { body: { currentPassword, newPassword } }).then(remember),
  signOutEverywhere: () => ask('delete', '/sessions', {}).then(() => remember(null)),
  askForReset: (email: string) => ask('post', '/password-resets', { body: { email } }),
  resetPassword: (token: string, newPassword: string) =>
    ask('post', '/password-resets/confirm', { body: { token, newPassword } }),

  eventsUrl: `${ROOT}/events`,
};

export { remember as rememberSession };
