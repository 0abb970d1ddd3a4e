import { describe, expect, it } from 'vitest';
import { SCOPES, keyRequest, type Typed } from './key-request';

const plain: Typed = { label: ' CI ', isLimited: false, scopes: [], tag: ' ', expiresAt: '' };

describe('what is asked of the server', () => {
  it('is the label alone where nothing else was typed', () => {
    expect(keyRequest(plain)).toEqual({ label: 'CI' });
  });

  it('holds scopes only where the key is limited, in their order', () => {
    const scopes: Typed['scopes'] = ['emails:read', 'inboxes:write'];
    expect(keyRequest({ ...plain, scopes })).toEqual({ label: 'CI' });
    expect(keyRequest({ ...plain, scopes, isLimited: true })).toEqual({
      label: 'CI',
      scopes: ['inboxes:write', 'emails:read'],
    });
  });

  it('leaves the scopes of webhooks out where there is a tag', () => {
    expect(keyRequest({ ...plain, isLimited: true, scopes: [...SCOPES], tag: ' run 7 ' })).toEqual({
      label: 'CI',
      scopes: ['inboxes:read', 'inboxes:write', 'emails:read', 'emails:write', 'account:read'],
      tag: 'run 7',
    });
  });

  it('gives the end in UTC', () => {
    const expiresAt = '2027-01-31T10:00';
    expect(keyRequest({ ...plain, expiresAt })).toEqual({
      label: 'CI',
      expiresAt: new Date(2027, 0, 31, 10).toISOString(),
    });
  });
});
