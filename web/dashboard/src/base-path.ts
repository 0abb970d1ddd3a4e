// The gateway's path on this host: '' at its root, '/some/path' behind a proxy. The gateway writes
// it into the page it serves, since one build serves everywhere.
function readBasePath(): string {
  if (typeof document === 'undefined') return '/'; // in tests
  return document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? '/';
}

export const BASE_PATH = readBasePath().replace(/\/$/, '');
