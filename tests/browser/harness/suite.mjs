// The suite under test, known only by what `./dev env` says of it.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { scheduler } from 'node:timers/promises';
import { promisify } from 'node:util';

import nodemailer from 'nodemailer';

const run = promisify(execFile);
/** The folder of the tree, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

function variable(name) {
  const value = process.env[`TEMPINBOX_${name}`];
  if (value === undefined)
    throw new Error(`TEMPINBOX_${name} is not set: ./dev test browser, or eval "$(./dev env)"`);
  return value;
}

export const suite = {
  /** Origin of the first gateway. */
  get origin() {
    return variable('API');
  },
  get dashboard() {
    return variable('DASHBOARD');
  },
  get domain() {
    return variable('DOMAIN');
  },
  /** Origins of all gateways. */
  get gateways() {
    return Object.keys(process.env)
      .filter((name) => /^TEMPINBOX_GATEWAY_\d+_URL$/.test(name))
      .map((name) => process.env[name]);
  },
};

/** The operator's command line; its JSON answer. */
export async function operate(...verbs) {
  const { stdout } = await run(`${ROOT}dev`, ['ctl', ...verbs, '--output', 'json'], {
    timeout: 60_000,
  });
  return JSON.parse(stdout);
}

/** Returns a program's output and its exit code. */
export async function program(name, ...given) {
  try {
    const { stdout } = await run(name, given, { timeout: 60_000 });
    return { stdout, code: 0 };
  } catch (problem) {
    return { stdout: problem.stdout ?? '', code: problem.code };
  }
}

/** Sends the bytes as they are, by SMTP; answers the id the 250 named. */
export async function sendRaw(to, bytes, from = 'robot@sender.example') {
  const [host, port] = variable('SMTP').split(':');
  const transport = nodemailer.createTransport({
    host,
    port: Number(port),
    name: 'sender.example',
    tls: { rejectUnauthorized: false },
  });
  const sent = await transport.sendMail({ envelope: { from, to }, raw: bytes });
  transport.close();
  return sent.response.match(UUID)?.at(-1);
}

/** A mail of plain text. */
export function send(to, subject, text, from = 'robot@sender.example') {
  return sendRaw(
    to,
    Buffer.from(
      `From: Robot <${from}>\r\nTo: ${to}\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`,
    ),
    from,
  );
}

/** Sends a mail of plain text; returns the reply that refused it, or an empty text. */
export async function refusalOf(to, subject) {
  try {
    await send(to, subject, 'Hello');
    return '';
  } catch (error) {
    return error.response;
  }
}

/** Sends a mail of plain text with a login, `{host, port, user, password}`, as an application does. */
export async function sendByLogin({ host, port, user, password }, mail) {
  const transport = nodemailer.createTransport({
    host,
    port,
    name: 'sender.example',
    auth: { user, pass: password },
    tls: { ca: await readFile(variable('SUBMISSION_CA')) },
  });
  try {
    return await transport.sendMail({ from: 'shop@sender.example', text: 'Hello.', ...mail });
  } finally {
    transport.close();
  }
}

/** Asks again until the answer is truthy; fails with the last answer after the deadline. */
export async function eventually(ask, what, seconds = 15) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await scheduler.wait(50);
  }
}
