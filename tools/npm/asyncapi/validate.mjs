// `node validate.mjs FILE` prints what the AsyncAPI project's parser says against a file; exit code 1
// where there is an error or a warning. Nothing is fetched: a reference to another host is an error.
import { readFileSync } from 'node:fs';
import { Parser } from '@asyncapi/parser';

const [file] = process.argv.slice(2);
const { document, diagnostics } = await new Parser().parse(readFileSync(file, 'utf8'), {
  source: file,
});

// 0 is an error, 1 a warning; 2 and 3 are advice.
const SERIOUS = new Set([0, 1]);
const problems = diagnostics.filter(({ severity }) => SERIOUS.has(severity));
for (const { path, message, range } of problems) {
  console.log(`${file}:${range.start.line + 1}: ${path.join('.')}: ${message}`);
}
if (!document && problems.length === 0) {
  console.log(`${file}: no AsyncAPI document`);
}
process.exitCode = document && problems.length === 0 ? 0 : 1;
