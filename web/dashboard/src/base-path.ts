// Where the gateway is on this host: '' at its root, '/some/path' behind a proxy. The page that the gateway serves says it, since one build serves everywhere.
function told(): string {
  if (typeof document === 'undefined') return '/'; // in tests
  return document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? '/';
}

export const BASE_PATH = told().replace(/\/$/, '');
