import { afterEach, expect, it, vi } from 'vitest';
import { loadSubdomains } from './subdomains';

const ROOT = '/dashboard/api';

function answer(responses: Record<string, unknown>) {
  vi.stubGlobal('fetch', (url: string) => Promise.resolve(Response.json(responses[url])));
}

afterEach(() => vi.unstubAllGlobals());

it('finds the catch-all of each subdomain that the account holds', async () => {
  const domain = (name: string, isSubdomain: boolean) => ({
    domain: name,
    isDefault: !isSubdomain,
    takesSubdomains: !isSubdomain,
    isSubdomain,
  });
  const catchAll = { inboxId: '01934f00-1111-7abc-8def-001122334455' };
  answer({
    [`${ROOT}/domains`]: {
      domains: [
        domain('example.com', false),
        domain('staging.example.com', true),
        domain('tests.example.com', true),
      ],
    },
    [`${ROOT}/inboxes?status=active&address=*%40staging.example.com`]: { inboxes: [catchAll] },
    [`${ROOT}/inboxes?status=active&address=*%40tests.example.com`]: { inboxes: [] },
  });

  expect(await loadSubdomains()).toEqual([
    { domain: 'staging.example.com', catchAll },
    { domain: 'tests.example.com', catchAll: null },
  ]);
});
