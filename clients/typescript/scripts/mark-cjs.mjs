// The package is ESM; without this file Node.js would take dist/cjs for ESM as well.
import { writeFileSync } from 'node:fs';

writeFileSync(new URL('../dist/cjs/package.json', import.meta.url), '{"type":"commonjs"}\n');
