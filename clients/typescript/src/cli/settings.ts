// Where the service is and who calls it.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
} from 'node:fs';

import type { Arguments } from './command.js';
import { badUsage } from './failure.js';
import {
  canOthersRead,
  keyFile,
  protectionAdvice,
  systemCertificateFiles,
  type Platform,
} from './platform.js';
import { quote } from './printable.js';

export interface CliSettings {
  readonly baseUrl: string; // without a slash at the end
  readonly apiKey: string;
  readonly keyOrigin: string; // where the key was found, for messages
  readonly caFile: string | undefined; // otherwise those that Node.js trusts
}

const MAX_KEY_FILE_BYTES = 4_096;
const MAX_KEY_LENGTH = 200;

/** Throws what names the missing or wrong setting, and each way to give it. */
export function readSettings(given: Arguments, platform: Platform): CliSettings {
  const baseUrl = readBaseUrl(given, platform);
  const { apiKey, keyOrigin } = readKey(baseUrl, given, platform);
  return { baseUrl, apiKey, keyOrigin, caFile: readCaFile(given, platform) };
}

/** Refuses what is no address of HTTP; `name` is the setting it is of. */
export function checkUrl(name: string, text: string): URL {
  const refuse = (why: string) => badUsage(`${name}: the URL ${quote(text)} ${why}`);
  if (!URL.canParse(text) || /[\s\p{Cc}]/u.test(text)) throw refuse('is not a URL');
  const url = new URL(text);
  if (!['http:', 'https:'].includes(url.protocol))
    throw refuse('must begin with http:// or https://');
  if (url.username !== '' || url.password !== '') throw refuse('must not carry a user name');
  return url;
}

function readBaseUrl(given: Arguments, { variables }: Platform): string {
  const option = given.value('base-url');
  const name = option === undefined ? 'TEMPINBOX_BASE_URL' : '--base-url';
  const text = (option ?? variables('TEMPINBOX_BASE_URL'))?.replace(/\/{1,100}$/, '');
  if (text === undefined)
    throw badUsage(
      'where the service is must be said: export TEMPINBOX_BASE_URL=https://mail.example.com, or ' +
        'give --base-url https://mail.example.com',
    );
  const { pathname } = checkUrl(name, text);
  if (/[?#]/.test(text))
    throw badUsage(`${name} must be an address without a query, not ${quote(text)}`);
  // Each request would be answered 404, as if the inbox did not exist.
  if (pathname.endsWith('/v1')) throw badUsage(`${name} must be without /v1, not ${quote(text)}`);
  return text;
}

function checkKey(key: string, origin: string): string {
  if (key.length <= MAX_KEY_LENGTH && /^[\x21-\x7e]+$/.test(key)) return key;
  throw badUsage(`${origin} holds no API key: a key is one word such as ti_live_…`);
}

function readKey(
  baseUrl: string,
  given: Arguments,
  platform: Platform,
): { apiKey: string; keyOrigin: string } {
  const named = given.value('key-file');
  if (named !== undefined) {
    const apiKey = readKeyFile(named, platform);
    if (apiKey === undefined) throw badUsage(`the key file ${quote(named)} does not exist`);
    return { apiKey, keyOrigin: named };
  }
  const variable = platform.variables('TEMPINBOX_API_KEY');
  if (variable !== undefined) {
    const keyOrigin = 'TEMPINBOX_API_KEY';
    return { apiKey: checkKey(variable, keyOrigin), keyOrigin };
  }
  const file = keyFile(platform);
  const apiKey = file === undefined ? undefined : readKeyFile(file, platform);
  if (file !== undefined && apiKey !== undefined) return { apiKey, keyOrigin: file };
  const protection = platform.name === 'win32' ? '' : ' (chmod 600)';
  throw badUsage(
    'an API key is needed: export TEMPINBOX_API_KEY=ti_live_…, or put it into a file of yours ' +
      `alone${protection}: ${file ?? '--key-file FILE'}. You make one at ` +
      `${baseUrl}/dashboard/settings/keys`,
  );
}

/** The first line of a file that nobody but its owner can read; absent if there is no file. */
function readKeyFile(file: string, platform: Platform): string | undefined {
  const name = `the key file ${quote(file)}`;
  let descriptor: number;
  try {
    // A pipe of that name must not keep the program waiting. Windows has no such flag.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw badUsage(`${name} cannot be read: ${reasonOf(error)}`);
  }
  try {
    const { mode, isFile } = statsOf(descriptor);
    if (!isFile) throw badUsage(`${name} is no file`);
    if (canOthersRead(platform, mode))
      throw badUsage(`others can read ${name}; type: ${protectionAdvice(platform, file)}`);
    const bytes = Buffer.alloc(MAX_KEY_FILE_BYTES);
    const count = readSync(descriptor, bytes);
    const [line = ''] = bytes.toString('utf8', 0, count).split('\n', 1);
    return checkKey(line.trim(), name);
  } finally {
    closeSync(descriptor);
  }
}

function statsOf(descriptor: number): { mode: number; isFile: boolean } {
  const stats = fstatSync(descriptor);
  return { mode: stats.mode, isFile: stats.isFile() };
}

function readCaFile(given: Arguments, platform: Platform): string | undefined {
  const named = given.value('ca-file');
  if (named === undefined) return systemCertificateFiles(platform).find((file) => existsSync(file));
  try {
    accessSync(named, constants.R_OK);
  } catch (error) {
    throw badUsage(`--ca-file ${quote(named)} cannot be read: ${reasonOf(error)}`);
  }
  return named;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The system's words for an error of a file: `permission denied`. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^\w+: ([^,]+),/.exec(message)?.[1] ?? message;
}
