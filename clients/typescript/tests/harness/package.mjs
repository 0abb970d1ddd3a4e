// The built package, as its users import it; built first where a source is newer.

import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The package's folder, with a slash at its end. */
export const FOLDER = fileURLToPath(new URL('../../', import.meta.url));

build();
export const {
  ApiError,
  BadRequest,
  ConfigurationError,
  Conflict,
  ConnectionFailed,
  CursorExpired,
  CursorReset,
  Forbidden,
  InvalidArgument,
  NotFound,
  RateLimited,
  Redirected,
  ServiceUnavailable,
  Tempinbox,
  TempinboxError,
  Unauthorized,
  UnexpectedEmail,
  WaitTimeout,
  WebhookVerificationError,
  errorCodes,
  verifyWebhook,
} = await import('tempinbox');

function build() {
  const newest = Math.max(
    ...['package.json', 'tsconfig.json', 'tsconfig.cjs.json'].map(changed),
    ...readdirSync(`${FOLDER}src`, { recursive: true }).map((name) => changed(`src/${name}`)),
  );
  // Written last.
  if (changed('dist/cjs/package.json') > newest) return;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: FOLDER, stdio: 'inherit' });
}

function changed(name) {
  return statSync(FOLDER + name, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
