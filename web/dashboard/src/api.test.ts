import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { api, ApiError, onSignedOut, rememberSession, type ErrorCode, type Session } from './api';

const SESSION: Session = {
  accountId: '01934f00-1111-7abc-8def-001122334455',
  emailAddress: 'you@example.com',
  plan: 'free',
  planEndsAt: null,
  limits: {
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
  },
  csrfToken: 'old',
};

const gateway = vi.fn<(url: string, init: RequestInit) => Promise<Response>>();
const json = (status: number, body: unknown) => Promise.resolve(Response.json(body, { status }));
const refusal = (status: number, code: ErrorCode) =>
  json(status, { statusCode: status, error: 'Refused', message: 'In words.', code });
const sentTokens = () =>
  gateway.mock.calls.map(([, init]) => new Headers(init.headers).get('X-CSRF-Token'));

beforeEach(() => {
  vi.stubGlobal('fetch', gateway);
  rememberSession(SESSION);
});
afterEach(() => {
  gateway.mockReset();
  vi.unstubAllGlobals();
  onSignedOut(() => {});
});

describe('a request', () => {
  it('is made of the path, what fills it, and the query', async () => {
    gateway.mockReturnValueOnce(json(200, { emails: [], nextCursor: null }));

    await api.emails('a/b', { limit: 25, from: '' });

    expect(gateway.mock.calls[0]?.[0]).toBe(
      '/dashboard/api/inboxes/a%2Fb/emails?limit=25&include=codes',
    );
  });

  it('fails with the code of the refusal', async () => {
    gateway.mockReturnValueOnce(refusal(403, 'wrong_password'));

    const failure = await api.changePassword('a', 'b').catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({ status: 403, code: 'wrong_password', message: 'In words.' });
    expect(gateway).toHaveBeenCalledTimes(1);
  });
});

describe('an old CSRF token', () => {
  it.each(['csrf_token_mismatch', 'csrf_token_missing'] as const)(
    'is renewed once, and the request sent again (%s)',
    async (code) => {
      gateway
        .mockReturnValueOnce(refusal(403, code))
        .mockReturnValueOnce(json(200, { ...SESSION, csrfToken: 'new' }))
        .mockReturnValueOnce(json(200, { keyId: 'k', deleted: true }));

      await api.revokeKey('k');

      expect(sentTokens()).toEqual(['old', null, 'new']);
    },
  );

  it('does not keep anybody from signing out', async () => {
    gateway
      .mockReturnValueOnce(refusal(403, 'csrf_token_mismatch'))
      .mockReturnValueOnce(json(200, { ...SESSION, csrfToken: 'new' }))
      .mockReturnValueOnce(json(200, {}));

    await api.signOut();

    expect(sentTokens()).toEqual(['old', null, 'new']);
  });

  it('is not renewed for ever', async () => {
    gateway
      .mockReturnValueOnce(refusal(403, 'csrf_token_mismatch'))
      .mockReturnValueOnce(json(200, SESSION))
      .mockReturnValueOnce(refusal(403, 'csrf_token_mismatch'));

    await expect(api.revokeKey('k')).rejects.toMatchObject({ code: 'csrf_token_mismatch' });
    expect(gateway).toHaveBeenCalledTimes(3);
  });
});

describe('a session that ended', () => {
  it('is noticed by any request, but not by a wrong password at sign-in', async () => {
    const signedOut = vi.fn();
    onSignedOut(signedOut);
    gateway.mockReturnValueOnce(refusal(401, 'wrong_credentials'));
    await expect(api.signIn('a', 'b')).rejects.toMatchObject({ code: 'wrong_credentials' });
    expect(signedOut).not.toHaveBeenCalled();

    gateway
      .mockReturnValueOnce(refusal(401, 'session_ended'))
      .mockReturnValueOnce(refusal(401, 'session_ended'));
    await expect(api.keys()).rejects.toMatchObject({ code: 'session_ended' });
    expect(signedOut).toHaveBeenCalledTimes(1);
  });

  it('is replaced by the one that another tab began meanwhile', async () => {
    const signedOut = vi.fn();
    onSignedOut(signedOut);
    gateway
      .mockReturnValueOnce(refusal(401, 'session_ended'))
      .mockReturnValueOnce(json(200, { ...SESSION, csrfToken: 'new' }))
      .mockReturnValueOnce(json(200, { keyId: 'k', deleted: true }));

    await api.revokeKey('k');

    expect(sentTokens()).toEqual(['old', null, 'new']);
    expect(signedOut).not.toHaveBeenCalled();
  });

  it('is not replaced for ever', async () => {
    const signedOut = vi.fn();
    onSignedOut(signedOut);
    gateway
      .mockReturnValueOnce(refusal(401, 'session_ended'))
      .mockReturnValueOnce(json(200, SESSION))
      .mockReturnValueOnce(refusal(401, 'session_ended'));

    await expect(api.keys()).rejects.toMatchObject({ code: 'session_ended' });
    expect(gateway).toHaveBeenCalledTimes(3);
    expect(signedOut).toHaveBeenCalledTimes(1);
  });
});
