// The name of a test run, the same in all its processes.
import { randomUUID } from 'node:crypto';

import { ConfigurationError, quoted } from './errors.js';

/**
 * The tag of every inbox of this run. TEMPINBOX_RUN names the run; otherwise the first process that
 * asks makes a name up, and those that it starts inherit it.
 */
export function runTag(): string {
  const name = (process.env['TEMPINBOX_RUN'] ||= randomUUID().slice(-12));
  if (!/^[\w.-]{1,40}$/.test(name))
    throw new ConfigurationError(
      `TEMPINBOX_RUN must be 1 to 40 letters, digits, ".", "_" and "-", not ${quoted(name)}`,
    );
  return `run-${name}`;
}
