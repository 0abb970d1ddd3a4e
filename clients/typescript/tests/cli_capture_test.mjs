// The lines that a login is printed as.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { part, refusalOf } from './harness/cli.mjs';

const { commands } = await part('program');
const { parse } = await part('command-line');
const { loginText, newInboxText } = await part('capture-commands');

const user = 'cap_k3v9x2m4t7q1';
const password = 'tic_Xk2pQ7vR9sT1bN4mW8zL3cF6hJ5dG0ya4apA1K';
const login = {
  host: 'smtp.example.com',
  ports: { starttls: [587, 2525], tls: [465], clear: [] },
  user,
  password,
  url: `smtps://${user}:${password}@smtp.example.com:465`,
};
const tlsAlone = { ...login, ports: { starttls: [], tls: [465], clear: [] } };
const clearAlone = { ...login, ports: { starttls: [], tls: [], clear: [1025] } };

const options = (...words) => parse(['capture', ...words], commands).given;
const lines = (capture, ...words) =>
  loginText(capture, 'Inbox 1', options(...words))
    .trimEnd()
    .split('\n')
    .slice(1);

test('a login is five variables, with the port of STARTTLS where there is one', () => {
  assert.deepEqual(lines(login), [
    'SMTP_HOST=smtp.example.com',
    'SMTP_PORT=587',
    `SMTP_USER=${user}`,
    `SMTP_PASSWORD=${password}`,
    `SMTP_URL=${login.url}`,
  ]);
  assert.equal(lines(tlsAlone)[1], 'SMTP_PORT=465');
});

test("a framework's variables say how TLS begins", () => {
  const says = (name, line, lineOfTls) => {
    assert.ok(lines(login, '--env', name).includes(line), line);
    assert.ok(lines(tlsAlone, '--env', name).includes(lineOfTls), lineOfTls);
  };

  says('laravel', 'MAIL_SCHEME=smtp', 'MAIL_SCHEME=smtps');
  says('django', 'EMAIL_USE_TLS=True', 'EMAIL_USE_SSL=True');
  says(
    'symfony',
    `MAILER_DSN=smtp://${user}:${password}@smtp.example.com:587`,
    `MAILER_DSN=smtps://${user}:${password}@smtp.example.com:465`,
  );
  says(
    'spring',
    'SPRING_MAIL_PROPERTIES_MAIL_SMTP_STARTTLS_REQUIRED=true',
    'SPRING_MAIL_PROPERTIES_MAIL_SMTP_SSL_ENABLE=true',
  );
});

test('a port in the clear is named where there is no other, and no TLS is asked for', () => {
  const { choices } = commands
    .find(({ name }) => name === 'capture')
    .options.find(({ name }) => name === 'env');
  for (const name of choices) {
    const text = lines({ ...clearAlone, url: `smtp://${user}:${password}@h:1025` }, '--env', name);
    assert.match(text.join('\n'), /1025/, name);
    assert.doesNotMatch(text.join('\n'), /smtps|TLS|SSL/, name);
  }
});

test('every name of --env gives lines that name host, user and password', () => {
  const { choices } = commands
    .find(({ name }) => name === 'capture')
    .options.find(({ name }) => name === 'env');
  for (const name of choices) {
    const text = lines(login, '--env', name).join('\n');
    for (const value of [login.host, user, password]) assert.ok(text.includes(value), name);
    for (const line of text.split('\n')) assert.match(line, /^[A-Z_]+=[\w.:/@-]+$/);
  }
});

test('a comment says whose login it is, and stays one line', () => {
  const inbox = {
    inboxId: '1',
    emailAddress: 'a\nB=c@inbox.example.com',
    expiresAt: '2026-11-22T10:00:00.000Z',
    capture: login,
  };

  const [comment, first] = newInboxText(inbox, options()).split('\n');
  assert.equal(
    comment,
    '# Inbox 1, a B=c@inbox.example.com, until 2026-11-22T10:00:00.000Z; ' +
      'the password is shown this once',
  );
  assert.equal(first, 'SMTP_HOST=smtp.example.com');
});

test('a login that cannot be pasted is refused', () => {
  const refusal = (changes) => refusalOf(() => lines({ ...login, ...changes }));

  assert.match(refusal({ host: null }), /its host is missing/);
  assert.match(refusal({ password: undefined }), /its password is missing/);
  assert.match(refusal({ user: 'a\nPATH=b' }), /its user is missing, or is none to paste/);
  assert.match(refusal({ password: '$(id)' }), /its password is missing, or is none to paste/);
  assert.match(refusal({ ports: { starttls: [], tls: [], clear: [] } }), /it names no port/);
});
