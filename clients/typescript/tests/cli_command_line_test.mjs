import assert from 'node:assert/strict';
import { test } from 'node:test';

import { part, refusalOf } from './harness/cli.mjs';

const { commands } = await part('program');
const { helpOf, overview, parse } = await part('command-line');
const { completionScript } = await part('completion');
const { parseDuration, toText } = await part('duration');
const { printable, printableLine, quote, toFields, toTable } = await part('printable');

const parsed = (...words) => parse(words, commands);
const problems = (...words) => parsed(...words).problems;

test('options of all commands stand before or behind the command', () => {
  for (const line of [
    parsed('--json', '--base-url', 'http://a', 'list'),
    parsed('list', '--base-url=http://a', '--json'),
  ]) {
    assert.deepEqual(line.problems, []);
    assert.equal(line.command.name, 'list');
    assert.ok(line.given.has('json'));
    assert.equal(line.given.value('base-url'), 'http://a');
  }
});

test('a value that is called like a command, or begins with a dash, stays a value', () => {
  const line = parsed('create', '--name', 'list', '--tag', 'a', '--tag', 'rm', '--domain', '-1');

  assert.deepEqual(line.problems, []);
  assert.equal(line.command.name, 'create');
  assert.equal(line.given.value('name'), 'list');
  assert.deepEqual(line.given.values('tag'), ['a', 'rm']);
  assert.equal(line.given.value('domain'), '-1');
  assert.deepEqual(parsed('wait', '--', '--quiet').given.words, ['--quiet']);
});

test('what is wrong in a command line is named', () => {
  assert.equal(problems('creat')[0], 'there is no command "creat"');
  assert.deepEqual(problems('wait'), ['INBOX is missing: An inbox: its id or its address']);
  assert.deepEqual(problems('wait', 'a', 'b'), ['unexpected argument "b"']);
  assert.deepEqual(problems('create', '--tll', '1h'), ['there is no option "--tll"']);
  assert.deepEqual(problems('create', '-t'), ['there is no option "-t"']);
  assert.deepEqual(problems('create', '--ttl'), ['--ttl needs a value']);
  assert.deepEqual(problems('create', '--ttl', '--json'), ['--ttl needs a value']);
  assert.deepEqual(problems('create', '--ttl', '1h', '--ttl', '2h'), ['--ttl is given twice']);
  assert.deepEqual(problems('list', '--status', 'dead'), [
    '--status must be one of active, expired, all, not "dead"',
  ]);
  assert.deepEqual(problems('listen', '--inbox', 'a'), [
    '--forward-to is missing: Gets a POST for each event, such as http://localhost:3000/hook',
  ]);
  assert.deepEqual(problems('completion', 'tcsh'), [
    'SHELL must be one of bash, zsh, fish, not "tcsh"',
  ]);
  assert.deepEqual(problems('list', '--json=no'), ['--json takes no value']);
  assert.deepEqual(problems('--json'), [
    `the commands are ${commands.map(({ name }) => name).join(', ')}`,
  ]);
});

test('every command has its help', () => {
  const program = overview(commands, '/srv/a/key');
  for (const command of commands) {
    const { name, purpose, options } = command;
    for (const words of [
      [name, '--help'],
      [name, '-h'],
      ['help', name],
    ]) {
      assert.equal(parsed(...words).wantsHelp, true);
      assert.equal(parsed(...words).command, command);
    }
    const help = helpOf(command);
    assert.ok(help.startsWith(`${purpose}\n`));
    for (const option of options) assert.ok(help.includes(`--${option.name}`));
    assert.ok(program.includes(`  ${name} `));
  }
  assert.match(program, /the file \/srv\/a\/key\n/);
  assert.equal(parsed('--version').wantsVersion, true);
  for (const words of [[], ['--help'], ['help']]) {
    assert.equal(parsed(...words).wantsHelp, true);
    assert.equal(parsed(...words).command, undefined);
  }
});

test('a value out of its bounds is refused by what is allowed', () => {
  const { given } = parsed('wait', 'a', '--timeout', 'soon', '--hold', '61', '--subject=');

  assert.equal(
    refusalOf(() => given.duration('timeout', 1, 86_400)),
    '--timeout must be a time from 1s to 1d such as 90s, 15m, 2h or 7d, not "soon"',
  );
  assert.equal(
    refusalOf(() => given.integer('hold', 1, 60)),
    '--hold must be an integer from 1 to 60, not "61"',
  );
  assert.equal(
    refusalOf(() => given.text('subject', 1, 500)),
    '--subject must be 1 to 500 characters long, not ""',
  );
  assert.equal(given.integer('after', 0, 1), undefined);
});

test("every shell's script knows every command and option", () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = completionScript(shell, commands);
    const dashes = shell === 'fish' ? '-l ' : '--';
    for (const { name, options } of commands) {
      assert.ok(script.includes(name));
      for (const option of options) assert.ok(script.includes(dashes + option.name));
    }
  }
});

test('a time has one unit, seconds without', () => {
  for (const [text, seconds] of [
    ['90', 90],
    ['90s', 90],
    ['15m', 900],
    ['2h', 7_200],
    ['7d', 604_800],
  ])
    assert.equal(parseDuration(text), seconds);
  for (const wrong of [
    '',
    's',
    '-1',
    '+1',
    '1.5h',
    '1h30m',
    '1 h',
    '1w',
    '9'.repeat(20),
    '100001d',
  ])
    assert.equal(parseDuration(wrong), undefined, wrong);
});

test('a time is shown in the largest unit that keeps it whole', () => {
  assert.deepEqual([90, 900, 604_800, 0].map(toText), ['90s', '15m', '7d', '0s']);
});

test('mail cannot command the terminal', () => {
  assert.equal(printable('a\u001b[2Jb\u0007\u007f\u009b31mc'), 'a[2Jb31mc');
  assert.equal(printable('one\r\ntwo\tthree\n'), 'one\ntwo\tthree\n');
  assert.equal(printableLine('one\r\ntwo\tthree'), 'one two three');
  assert.equal(printable('grün 日本 🙂'), 'grün 日本 🙂');
});

test('mail cannot turn the direction of writing', () => {
  assert.equal(printable('pay\u202emoc.live\u2066'), 'paymoc.live');
});

test('a quoted text is one line and cut', () => {
  assert.equal(quote('a\nb'), '"a b"');
  assert.equal(quote('🙂'.repeat(61)), `"${'🙂'.repeat(60)}…"`);
});

test('columns are as wide as their widest text', () => {
  const rows = [
    ['grün', '1'],
    ['longer', '2'],
  ];
  assert.equal(toTable(['NAME', 'N'], rows), 'NAME    N\ngrün    1\nlonger  2\n');
  assert.equal(
    toFields([
      ['From', 'a'],
      ['Subject', 'b'],
    ]),
    'From:     a\nSubject:  b\n',
  );
});
