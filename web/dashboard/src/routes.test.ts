import { afterEach, expect, test, vi } from 'vitest';

// The modules read the page's base path when they are loaded.
async function loaded(content: string) {
  vi.stubGlobal('document', { querySelector: () => ({ content }) });
  vi.resetModules();
  return { ...(await import('./routes')), ...(await import('./base-path')) };
}

afterEach(() => vi.unstubAllGlobals());

test('at the root of a host the addresses begin with /dashboard', async () => {
  const { BASE_PATH, paths, SCOPE } = await loaded('/');

  expect(BASE_PATH).toBe('');
  expect(paths.email('a', 'b')).toBe('/dashboard/inboxes/a/b');
  expect(SCOPE.test('/dashboard/inboxes')).toBe(true);
  expect(SCOPE.test('/dashboard/api/inboxes')).toBe(false);
  expect(SCOPE.test('/docs')).toBe(false);
});

test('below a base path they begin with it', async () => {
  const { BASE_PATH, paths, SCOPE } = await loaded('/some/path.1/');

  expect(BASE_PATH).toBe('/some/path.1');
  expect(paths.overview).toBe('/some/path.1/dashboard');
  expect(SCOPE.test('/some/path.1/dashboard')).toBe(true);
  expect(SCOPE.test('/some/path.1/dashboard/api')).toBe(false);
  expect(SCOPE.test('/some/pathX1/dashboard')).toBe(false);
  expect(SCOPE.test('/dashboard')).toBe(false);
});
