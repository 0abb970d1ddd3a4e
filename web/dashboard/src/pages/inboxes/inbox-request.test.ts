import { describe, expect, it } from 'vitest';
import { domainFor, tagsOf, inboxRequest, type Typed } from './inbox-request';

const nothing: Typed = {
  localPart: '',
  domain: '',
  ttlSeconds: 3_600,
  name: ' ',
  tags: '',
  metadata: [],
};

describe('what is asked of the server', () => {
  it('holds only what was typed', () => {
    expect(inboxRequest(nothing)).toEqual({ ttlSeconds: 3_600 });
  });

  it('holds everything that was typed, trimmed', () => {
    const typed = {
      ...nothing,
      localPart: ' shop ',
      domain: 'example.com',
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
      ttlSeconds: 3_600,
      name: 'Shop',
      tags: ['ci', 'staging'],
      metadata: { run: '7' },
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
