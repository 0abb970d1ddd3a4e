// The suite under test, known only by the environment of `./dev test clients`.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';

import nodemailer from 'nodemailer';

const run = promisify(execFile);

function variable(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: ./dev test clients`);
  return value;
}

export const suite = {
  get baseUrl() {
    return variable('TEMPINBOX_BASE_URL');
  },
  get apiKey() {
    return variable('TEMPINBOX_API_KEY');
  },
  /** The address of the SMTP server. */
  get smtp() {
    const [, host, port] = /^(.*):(\d+)$/.exec(variable('TEMPINBOX_TEST_SMTP'));
    return { host, port: Number(port) };
  },
};

/** Sends mail; returns when the server has it. */
export async function send(to, { subject = 'Hello', text = 'Hello', ...more } = {}) {
  const transport = nodemailer.createTransport({
    ...suite.smtp,
    secure: false,
    ignoreTLS: true,
  });
  try {
    await transport.sendMail({ from: 'Robot <robot@sender.example>', to, subject, text, ...more });
  } finally {
    transport.close();
  }
}

/** The operator's command line; its answer as JSON. */
export async function operate(...words) {
  const command = `${variable('TEMPINBOX_TEST_CTL')} "$@"`;
  const { stdout } = await run('sh', ['-c', command, 'ctl', ...words, '--output=json']);
  return JSON.parse(stdout);
}

/** An account of its own with a key. */
export async function newAccount(plan) {
  const email = `${randomUUID()}@example.com`;
  await operate('account', 'create', '--email', email, '--plan', plan);
  const made = await operate('key', 'create', email, '--label', 'test');
  return { email, apiKey: made.key };
}

/** Waits until the check says yes, with a deadline. */
export async function eventually(check, what, seconds = 60) {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
