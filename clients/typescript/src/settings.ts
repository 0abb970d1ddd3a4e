// Reads the service's address and the API key.
import { ConfigurationError, quoted } from './errors.js';

const BOTH_WAYS =
  'give it as new Tempinbox({ NAME: … }) or in the environment variable VARIABLE' as const;
const MAX_SECONDS = 86_400;

/** The settings of a client; those left out come from the environment. */
export interface Settings {
  /** The gateway's address, perhaps with a path: `https://host/prefix`. Or TEMPINBOX_BASE_URL. */
  readonly baseUrl?: string | undefined;
  /** Or TEMPINBOX_API_KEY. */
  readonly apiKey?: string | undefined;
  /** The timeout of a call with all its retries, unless the call has its own. 30. */
  readonly timeoutSeconds?: number | undefined;
}

/** The settings, complete and sound. */
export interface KnownSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutSeconds: number;
}

/** Reads and checks them; throws what names both ways to give what is wrong. */
export function readSettings(given: Settings): KnownSettings {
  for (const name of Object.keys(given))
    if (!['baseUrl', 'apiKey', 'timeoutSeconds'].includes(name))
      throw new ConfigurationError(
        `there is no setting ${quoted(name)}; there are: baseUrl, apiKey, timeoutSeconds`,
      );
  return {
    baseUrl: readBaseUrl(given.baseUrl ?? process.env['TEMPINBOX_BASE_URL']),
    apiKey: readApiKey(given.apiKey ?? process.env['TEMPINBOX_API_KEY']),
    timeoutSeconds: readTimeout(given.timeoutSeconds ?? 30),
  };
}

/** Refuses a timeout that is no number of seconds up to a day. */
export function isTimeout(seconds: unknown): seconds is number {
  return typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS;
}

function readTimeout(seconds: number): number {
  if (isTimeout(seconds)) return seconds;
  throw new ConfigurationError(
    `timeoutSeconds must be a number above 0 and up to ${MAX_SECONDS}, not ${String(seconds)}`,
  );
}

function readBaseUrl(text: string | undefined): string {
  const ways = bothWays('baseUrl', 'TEMPINBOX_BASE_URL');
  if (!text) throw new ConfigurationError(`The address of the service is missing: ${ways}`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && !url.username && !url.password && !url.search && !url.hash;
  if (!url || !isPlain || !['http:', 'https:'].includes(url.protocol))
    throw new ConfigurationError(
      'The address of the service must be http(s)://host[:port][/path], without user name, query ' +
        `and fragment: ${ways}`,
    );
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith('/v1'))
    throw new ConfigurationError(
      `The address of the service must be without /v1, not ${quoted(text)}: ${ways}`,
    );
  return url.origin + path;
}

function readApiKey(text: string | undefined): string {
  const ways = bothWays('apiKey', 'TEMPINBOX_API_KEY');
  if (!text)
    throw new ConfigurationError(
      `The API key is missing: make one in the dashboard under Settings, API Keys, and ${ways}`,
    );
  // The key itself is never in a message.
  if (!/^[\x21-\x7e]{1,200}$/.test(text))
    throw new ConfigurationError(
      `The API key must be 1 to 200 printable ASCII characters without spaces: ${ways}`,
    );
  return text;
}

function bothWays(name: string, variable: string): string {
  return BOTH_WAYS.replace('NAME', name).replace('VARIABLE', variable);
}
