import { describe, expect, it } from 'vitest';
import { domainFor, inboxRequest, optionsOf, tagsOf, type Typed } from './inbox-request';

const nothing: Typed = {
  localPart: '',
  domain: '',
  capture: false,
  ttlSeconds: 3_600,
  renewOnUse: null,
  retention: {},
  name: ' ',
  tags: '',
  metadata: [],
};

describe('what is asked of the server', () => {
  it('holds only what was typed', () => {
    expect(inboxRequest(nothing)).toEqual({ ttlSeconds: 3_600 });
  });

  it('holds everything that was typed, trimmed', () => {
    const typed: Typed = {
      ...nothing,
      localPart: ' shop ',
      domain: 'example.com',
      capture: true,
      renewOnUse: false,
      retention: { maxAgeSeconds: null, whenFull: 'dropOldest' },
      name: 'Shop',
      tags: 'ci, staging,ci,',
      metadata: [
        { name: 'run', value: '7' },
        { name: '', value: 'x' },
      ],
    };
    expect(inboxRequest(typed)).toEqual({
      localPart: 'shop',
      domain: 'example.com',
      capture: true,
      ttlSeconds: 3_600,
      renewOnUse: false,
      retention: { maxAgeSeconds: null, whenFull: 'dropOldest' },
      name: 'Shop',
      tags: ['ci', 'staging'],
      metadata: { run: '7' },
    });
  });
});

describe('what an inbox is going to have', () => {
  it('is what its kind has', () => {
    expect(optionsOf(nothing)).toEqual({
      renewOnUse: false,
      retention: { maxAgeSeconds: null, whenFull: 'refuse' },
    });
    expect(optionsOf({ ...nothing, capture: true })).toEqual({
      renewOnUse: true,
      retention: { maxAgeSeconds: 604_800, whenFull: 'dropOldest' },
    });
  });

  it('is what was chosen, whatever its kind', () => {
    const typed: Typed = {
      ...nothing,
      capture: true,
      renewOnUse: false,
      retention: { maxAgeSeconds: null },
    };
    expect(optionsOf(typed)).toEqual({
      renewOnUse: false,
      retention: { maxAgeSeconds: null, whenFull: 'dropOldest' },
    });
    expect(inboxRequest(typed)).toEqual({
      capture: true,
      ttlSeconds: 3_600,
      renewOnUse: false,
      retention: { maxAgeSeconds: null },
    });
  });
});

describe('the domain of a catch-all', () => {
  const known = [
    { domain: 'example.com', isDefault: true, takesSubdomains: true, isSubdomain: false },
    { domain: 'ci.example.com', isDefault: false, takesSubdomains: false, isSubdomain: true },
  ];

  it('is a subdomain of the account, or left to the server', () => {
    expect(domainFor(' * ', 'example.com', known)).toBe('');
    expect(domainFor('*', 'ci.example.com', known)).toBe('ci.example.com');
    expect(domainFor('shop', 'example.com', known)).toBe('example.com');
  });
});

describe('tags', () => {
  it('stand between commas', () => {
    expect(tagsOf(' a b ,c')).toEqual(['a b', 'c']);
    expect(tagsOf(' , ')).toEqual([]);
  });
});
