// Playwright's own runner, on projects in a folder of their own.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { FOLDER } from './package.mjs';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Debian's, where Playwright's own is not there. */
export const BROWSER = process.env.TEMPINBOX_BROWSER ?? '/usr/bin/chromium';

/** An empty folder that is gone when the test ends. */
export async function emptyFolder(t) {
  const folder = await mkdtemp(join(tmpdir(), 'tempinbox-ts-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder with these files, in which the package and Playwright are installed. */
export async function projectFolder(t, files) {
  const folder = await emptyFolder(t);
  await mkdir(join(folder, 'node_modules'));
  await symlink(FOLDER, join(folder, 'node_modules', 'tempinbox'));
  for (const name of ['@playwright', 'nodemailer'])
    await symlink(join(FOLDER, 'node_modules', name), join(folder, 'node_modules', name));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/** The configuration of a project that uses Debian's browser. */
export const CONFIG = `export default {
  use: { launchOptions: { executablePath: ${JSON.stringify(existsSync(BROWSER) ? BROWSER : undefined)} } },
  reporter: [['json', { outputFile: 'report.json' }]],
};
`;

/** Returns a program's output and its exit code. */
export async function run(command, args, folder, environment = {}) {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part));
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, said };
}

/** Runs a project's tests; what the runner reports of each. */
export async function runPlaywright(folder, args = [], environment = {}) {
  const program = join(FOLDER, 'node_modules', '@playwright', 'test', 'cli.js');
  const ended = await run(process.execPath, [program, 'test', ...args], folder, environment);
  const file = join(folder, 'report.json');
  if (!existsSync(file)) return { ...ended, results: [] };
  const report = JSON.parse(await readFile(file, 'utf8'));
  const specs = (suite) => [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specs)];
  const results = report.suites
    .flatMap(specs)
    .map(({ title, ok, tests }) => ({ title, ok, ...tests[0].results.at(-1) }));
  return { ...ended, results };
}

/** The sign-up application, which sends its mail to the suite. */
export async function signUpApplication(t, smtp) {
  const file = `${ROOT}examples/signup-app/signup_app.py`;
  const args = ['-B', file, '--listen', '127.0.0.1:0', '--smtp', `${smtp.host}:${smtp.port}`];
  const child = spawn('python3', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  return await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`the sign-up application ended with ${code}`)));
    child.stdout.on('data', (said) => {
      const found = /listening at (\S+)/.exec(said.toString());
      if (found) resolve(found[1]);
    });
  });
}
