// Where `listen` is in the feed: a file that outlasts the run, and that one run holds at a time.
import {
  closeSync,
  fdatasyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
  constants,
} from 'node:fs';
import path from 'node:path';

import { CommandFailure, exitCodes } from './failure.js';
import { currentPlatform, describeProcess } from './platform.js';
import { quote } from './printable.js';
import { reasonOf } from './settings.js';

// A cursor, spaces up to its longest, and the line's end: each takes the place of the one before in
// one write, so a process that is killed leaves one or the other.
const CURSOR_LENGTH = 64;
const RECORD_LENGTH = CURSOR_LENGTH + 1;
const CURSOR = new RegExp(`^[\\w-]{1,${CURSOR_LENGTH}}$`);
// Of earlier versions, which followed the emails of one inbox.
const SEQUENCE_DIGITS = 19;
const SEQUENCE_RECORD = new RegExp(`^\\d{${SEQUENCE_DIGITS}}\\n$`);
const MAX_TAKEOVERS = 5;

/** Behind an event of the account, or, of an older version, behind an email of one inbox. */
export type Position = { readonly cursor: string } | { readonly sequence: number };

/** A position on disk. Throws a CommandFailure where it cannot be kept, or another run has it. */
export class PositionFile {
  readonly #path: string;
  readonly #lock: string;
  readonly #descriptor: number;

  constructor(file: string) {
    this.#path = file;
    this.#lock = `${file}.lock`;
    this.#descriptor = this.#keeping(() => {
      mkdirSync(path.dirname(file), { recursive: true });
      takeLock(this.#lock);
      return openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
    });
  }

  read(): Position | undefined {
    const bytes = Buffer.alloc(RECORD_LENGTH);
    const count = this.#keeping(() => readSync(this.#descriptor, bytes, 0, bytes.length, 0));
    const text = bytes.toString('latin1', 0, count);
    if (SEQUENCE_RECORD.test(text)) {
      const sequence = Number(text);
      return Number.isSafeInteger(sequence) ? { sequence } : undefined;
    }
    const cursor = text.slice(0, -1).trimEnd();
    const isRecord = text.length === RECORD_LENGTH && text.endsWith('\n') && CURSOR.test(cursor);
    return isRecord ? { cursor } : undefined;
  }

  write(position: Position): void {
    this.#keeping(() => {
      const record = Buffer.from(recordOf(position));
      if (writeSync(this.#descriptor, record, 0, record.length, 0) !== record.length)
        throw new Error('the disk is full');
      fdatasyncSync(this.#descriptor);
    });
  }

  /** Lets another run have it. */
  close(): void {
    closeSync(this.#descriptor);
    rmSync(this.#lock, { force: true });
  }

  #keeping<Result>(use: () => Result): Result {
    try {
      return use();
    } catch (error) {
      if (error instanceof CommandFailure) throw error;
      throw new CommandFailure(
        exitCodes.localFailure,
        `the position of listen cannot be kept in ${quote(this.#path)}: ${reasonOf(error)}; ` +
          '--state-file FILE names another file',
      );
    }
  }
}

/** A sequence is written over one only: a record never becomes shorter. */
function recordOf(position: Position): string {
  if ('sequence' in position)
    return `${String(position.sequence).padStart(SEQUENCE_DIGITS, '0')}\n`;
  if (!CURSOR.test(position.cursor)) throw new Error('the service answered what is no cursor');
  return `${position.cursor.padEnd(CURSOR_LENGTH)}\n`;
}

/**
 * Node.js has no locks of files, so a file beside it names the process that has it. One of a
 * process that is gone is taken over.
 */
function takeLock(lock: string): void {
  const own = `${lock}.${process.pid}`;
  writeFileSync(own, describe(process.pid), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < MAX_TAKEOVERS; ++attempt) {
      if (isLinked(own, lock)) return; // at once, and with its content
      const holder = readText(lock);
      if (holder !== undefined && isRunning(holder)) break;
      // Another run may take it over in this moment: what it wrote is not removed.
      if (holder !== undefined && readText(lock) === holder) rmSync(lock, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
  }
  throw new CommandFailure(
    exitCodes.conflict,
    'another tempinbox listen forwards the same to this target already: it holds ' +
      `${quote(lock)}; if none runs, delete that file`,
  );
}

function isLinked(own: string, lock: string): boolean {
  try {
    linkSync(own, lock);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Whether the process that wrote this still runs, not another one with its number. */
function isRunning(description: string): boolean {
  const pid = Number(/^(\d{1,10}) /.exec(description)?.[1]);
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user counts: it is there.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return describe(pid) === description;
}

function describe(pid: number): string {
  return describeProcess(currentPlatform(), pid, readText);
}
