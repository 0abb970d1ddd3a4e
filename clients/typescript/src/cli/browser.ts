// Opens an address in the user's browser.
import { spawn } from 'node:child_process';

import { CommandFailure, exitCodes } from './failure.js';
import { browserCommands, type Platform } from './platform.js';

// A program that still runs after this time is the browser itself.
const START_MS = 3_000;

/** Throws what names the address where no program opens it. */
export async function openInBrowser(platform: Platform, url: string): Promise<void> {
  for (const [program, words] of browserCommands(platform, url))
    if (await starts(program, words)) return;
  const programs = browserCommands(platform, url).map(([program]) => program);
  throw new CommandFailure(
    exitCodes.localFailure,
    `no browser can be started from here (${programs.join(', ')}): open this address yourself: ` +
      url,
  );
}

/** Whether the program ended well, or still runs. */
async function starts(program: string, words: readonly string[]): Promise<boolean> {
  return await new Promise((resolve) => {
    const child = spawn(program, words, { stdio: 'ignore', detached: true });
    const timer = setTimeout(() => resolve(true), START_MS);
    const end = (isOpen: boolean) => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once('error', () => end(false));
    child.once('exit', (code) => end(code === 0));
    child.unref();
  });
}
