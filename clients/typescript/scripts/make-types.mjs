// Writes src/openapi.ts, the types of docs/openapi.yaml, where it is missing or older than these.
// The tool that makes them needs an older TypeScript than the client, so it has packages of its own.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const contract = path('../../../docs/openapi.yaml');
const types = path('../src/openapi.ts');
const packages = path('../../../tools/npm/types');
const tool = `${packages}/node_modules/.bin/openapi-typescript`;

const isCurrent = existsSync(types) && statSync(types).mtimeMs > statSync(contract).mtimeMs;
if (!isCurrent) {
  if (!existsSync(tool)) {
    execFileSync('npm', ['--prefix', packages, 'ci', '--silent'], { stdio: 'inherit' });
  }
  // What has a default may be left out of a request.
  execFileSync(tool, [contract, '--default-non-nullable=false', `--output=${types}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
