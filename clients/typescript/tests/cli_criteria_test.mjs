import assert from 'node:assert/strict';
import { test } from 'node:test';

import { part, refusalOf } from './harness/cli.mjs';

const { commands } = await part('program');
const { parse } = await part('command-line');
const { describeCriteria, readCriteria } = await part('criteria');

const read = (...words) => readCriteria(parse(['wait', 'a', ...words], commands).given);

test('each option is a condition of the API', () => {
  assert.deepEqual(read(), {});
  assert.deepEqual(
    read(
      ...['--from', 'robot@', '--to', 'ann', '--recipient', '+signup', '--subject', 'code'],
      ...['--text', 'is on its way', '--header', 'X-Run: 4711', '--header', 'x-job:a: b'],
      ...['--has-code', '--has-link', '--link-kind', 'reset', '--has-attachment', '--unread'],
      ...['--since', '2026-11-21T10:00:00Z', '--until=2026-11-21T11:00:00+01:00'],
    ),
    {
      from: 'robot@',
      to: 'ann',
      recipient: '+signup',
      subject: 'code',
      hasCode: true,
      hasLink: true,
      linkKind: 'reset',
      hasAttachment: true,
      isRead: false,
      since: '2026-11-21T10:00:00Z',
      until: '2026-11-21T11:00:00+01:00',
      headers: { 'X-Run': '4711', 'x-job': 'a: b' },
      text: 'is on its way',
    },
  );
});

test('a duration is so long ago', () => {
  const { since, until } = read('--since', '1h', '--until', '5m');

  assert.ok(Math.abs(Date.parse(since) - (Date.now() - 3_600_000)) < 10_000, since);
  assert.ok(Math.abs(Date.parse(until) - (Date.now() - 300_000)) < 10_000, until);
});

test('a wrong condition is refused by what is allowed', () => {
  for (const [words, says] of [
    [['--text='], /^--text must be 1 to 500 characters long/],
    [['--header', 'X-Run'], /^--header must be a name, a colon and 1 to 500 characters/],
    [['--header', 'X Run: 1'], /^--header must be a name, a colon/],
    [['--header', 'X-Run:'], /^--header must be a name, a colon/],
    [['--header', `X-Run: ${'a'.repeat(501)}`], /^--header must be a name, a colon/],
    [['--header', 'X-Run: 1', '--header', 'x-run: 2'], /^--header "x-run" is given twice/],
    [['a', 'b', 'c', 'd', 'e'].flatMap((name) => ['--header', `${name}: 1`]), /4 times at most/],
    [['--since', 'yesterday'], /^--since must be a time ago such as 15m/],
    [['--until', '2026-13-01T00:00:00Z'], /^--until must be a time ago/],
  ])
    assert.match(
      refusalOf(() => read(...words)),
      says,
    );
  assert.deepEqual(parse(['wait', 'a', '--link-kind', 'login'], commands).problems, [
    '--link-kind must be one of verify, reset, unsubscribe, other, not "login"',
  ]);
});

test('a command has no option for what it decides by itself', () => {
  const problems = (...words) => parse(words, commands).problems;

  assert.deepEqual(problems('code', 'a', '--has-code'), ['there is no option "--has-code"']);
  assert.deepEqual(problems('link', 'a', '--has-link'), ['there is no option "--has-link"']);
  assert.deepEqual(problems('link', 'a', '--kind', 'reset', '--has-code'), []);
});

test('conditions are described for people', () => {
  assert.equal(describeCriteria({}), '');
  assert.equal(
    describeCriteria({ from: 'shop', hasCode: true, headers: { 'X-Run': '7' }, isRead: false }),
    'sender contains "shop", X-Run contains "7", with a code, unread',
  );
  assert.equal(
    describeCriteria({ recipient: '+a', linkKind: 'reset', text: 'b', since: 'T', until: 'U' }),
    'recipient contains "+a", text contains "b", with a reset link, since T, until U',
  );
});
