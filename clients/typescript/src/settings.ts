// Reads the service's address and the API key.
import { ConfigurationError, quoted } from './errors.js';

const BOTH_WAYS =
  'give it as new Tempinbox({ NAME: … }) or in the environment variable VARIABLE' as const;
const MAX_SECONDS = 86_400;
const MAX_HOLD_SECONDS = 55; // the API's is 60, but many proxies end a request at 60

/** What a client asks of `fetch`: a function of this shape may take its place. */
export type Fetch = (
  url: string,
  request: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}>;

/** The settings of a client; those left out come from the environment. */
export interface Settings {
  /** The gateway's address, perhaps with a path: `https://host/prefix`. Or TEMPINBOX_BASE_URL. */
  readonly baseUrl?: string | undefined;
  /** Or TEMPINBOX_API_KEY. */
  readonly apiKey?: string | undefined;
  /** The timeout of a call with all its retries, unless the call has its own. 30. */
  readonly timeoutSeconds?: number | undefined;
  /** The longest single request of a wait, 1 to 60: less where a proxy ends long ones. 55. */
  readonly maxHoldSeconds?: number | undefined;
  /** What `User-Agent` names before the client, such as `my-tests/1.2`. */
  readonly application?: string | undefined;
  /** In place of the global `fetch`: for a proxy, or for certificates of your own. */
  readonly fetch?: Fetch | undefined;
}

/** The settings, complete and sound. */
export interface KnownSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutSeconds: number;
  readonly maxHoldSeconds: number;
  readonly application: string;
  readonly fetch: Fetch;
}

const NAMES = ['baseUrl', 'apiKey', 'timeoutSeconds', 'maxHoldSeconds', 'application', 'fetch'];

/** Reads and checks them; throws what names both ways to give what is wrong. */
export function readSettings(given: Settings): KnownSettings {
  for (const name of Object.keys(given))
    if (!NAMES.includes(name))
      throw new ConfigurationError(
        `there is no setting ${quoted(name)}; there are: ${NAMES.join(', ')}`,
      );
  return {
    baseUrl: readBaseUrl(given.baseUrl ?? process.env['TEMPINBOX_BASE_URL']),
    apiKey: readApiKey(given.apiKey ?? process.env['TEMPINBOX_API_KEY']),
    timeoutSeconds: readTimeout(given.timeoutSeconds ?? 30),
    maxHoldSeconds: readHold(given.maxHoldSeconds ?? MAX_HOLD_SECONDS),
    application: readApplication(given.application),
    fetch: given.fetch ?? (async (url, request) => await fetch(url, request)),
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

function readHold(seconds: number): number {
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 60) return seconds;
  throw new ConfigurationError(
    `maxHoldSeconds must be an integer from 1 to 60, not ${String(seconds)}`,
  );
}

function readApplication(text: string | undefined): string {
  if (text === undefined || /^[\x21-\x7e]{1,100}$/.test(text)) return text ?? '';
  throw new ConfigurationError(
    'application must be 1 to 100 printable ASCII characters without spaces',
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
