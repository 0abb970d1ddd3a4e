import { describe, expect, it } from 'vitest';
import { SCOPES, wishesOf, type Typed } from './key-wishes';

const plain: Typed = { label: ' CI ', isLimited: false, scopes: [], tag: ' ', expiresAt: '' };

describe('what is asked of the server', () => {
  it('is the label alone where nothing else was typed', () => {
    expect(wishesOf(plain)).toEqual({ label: 'CI' });
  });

  it('holds scopes only where the key is limited, in their order', () => {
    const scopes: Typed['scopes'] = ['emails:read', 'inboxes:write'];
    expect(wishesOf({ ...plain, scopes })).toEqual({ label: 'CI' });
    expect(wishesOf({ ...plain, scopes, isLimited: true })).toEqual({
      label: 'CI',
      scopes: ['inboxes:write', 'emails:read'],
    });
  });

  it('leaves the scopes of webhooks out where there is a tag', () => {
    expect(wishesOf({ ...plain, isLimited: true, scopes: [...SCOPES], tag: ' run 7 ' })).toEqual({
      label: 'CI',
      scopes: ['inboxes:read', 'inboxes:write', 'emails:read', 'emails:write', 'account:read'],
      tag: 'run 7',
    });
  });

  it('gives the end in UTC', () => {
    const expiresAt = '2027-01-31T10:00';
    expect(wishesOf({ ...plain, expiresAt })).toEqual({
      label: 'CI',
      expiresAt: new Date(2027, 0, 31, 10).toISOString(),
    });
  });
});
