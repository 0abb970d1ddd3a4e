#!/usr/bin/env node
// `tempinbox`, the command line of users.
import { run } from './program.js';

// What is under way no longer matters, such as connections that are kept for the next request. A
// pipe or a file is written by then; standard error may be a terminal of Windows, which is not.
const code = await run(process.argv.slice(2));
process.stderr.write('', () => process.exit(code));
