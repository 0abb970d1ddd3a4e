// Why a command did not do what it should: an exit code, and a sentence that says what to do.
import { STATUS_CODES } from 'node:http';

import { type ErrorCode, errorCodes } from '../error-codes.js';
import {
  ApiError,
  ConfigurationError,
  ConnectionFailed,
  InvalidArgument,
  Redirected,
  TempinboxError,
} from '../errors.js';
import { toText } from './duration.js';
import { printableLine, quote } from './printable.js';

/** What a script can tell apart; the help and the page say the same. */
export const exitCodes = {
  done: 0,
  notInTime: 1, // no email matched, or with --none one came
  missedEvents: 1, // of listen: it would pass over events that are gone
  badUsage: 2, // the command line, a setting or a value is wrong
  refused: 3, // the API key or the plan
  notFound: 4, // no such inbox or email
  overLimit: 5, // requests of the day or the second, inboxes or logins of the plan
  unreachable: 6, // the service cannot be reached, or failed
  localFailure: 7, // this machine, or the target of listen
  conflict: 8, // the address is taken
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command; its message is for people. */
export class CommandFailure extends Error {
  constructor(
    readonly code: ExitCode,
    message: string,
    /** When the service asks to come again. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** A wrong value, of the command line or of a setting. */
export function badUsage(message: string): CommandFailure {
  return new CommandFailure(exitCodes.badUsage, message);
}

/** The service, and whose key it was given: what messages name. */
export interface Origin {
  readonly baseUrl: string;
  readonly keyOrigin: string;
}

const LIMITS_OF_PLAN: readonly ErrorCode[] = [errorCodes.inboxLimit, errorCodes.captureLimit];
const MAX_SHOWN_CHARACTERS = 500;
const UNRESOLVED = /^(?:ENOTFOUND|EAI_\w+)$/;
const NO_CERTIFICATE = /^(?:CERT_|DEPTH_ZERO|EPROTO|ERR_SSL|ERR_TLS|SELF_SIGNED|UNABLE_|HOSTNAME_)/;
const CUT = /^(?:ECONNABORTED|ECONNRESET|EPIPE)$/;
const MALFORMED = /^HPE_/;
const PERHAPS_WRONG = 'Is TEMPINBOX_BASE_URL or --base-url right?';

/** What the client threw, as a failure of a command. */
export function explain(error: unknown, origin: Origin): CommandFailure {
  if (error instanceof CommandFailure) return error;
  if (error instanceof ApiError) return explainRefusal(error, origin);
  if (error instanceof ConnectionFailed) return unreachable(explainConnection(error, origin));
  if (error instanceof Redirected)
    return unreachable(
      `${origin.baseUrl} leads to ${quote(error.location ?? 'another address')}: give that ` +
        'address as TEMPINBOX_BASE_URL or --base-url',
    );
  if (error instanceof InvalidArgument || error instanceof ConfigurationError)
    return badUsage(error.message);
  if (error instanceof TempinboxError) return unreachable(error.message);
  const message = error instanceof Error ? error.message : String(error);
  return new CommandFailure(exitCodes.localFailure, message);
}

/** The API's own sentence, or what is known of an answer that is not the API's. */
function messageOf({ status, reason, isFromApi }: ApiError): string {
  if (!isFromApi || reason === '') return `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  return Array.from(printableLine(reason)).slice(0, MAX_SHOWN_CHARACTERS).join('');
}

function explainRefusal(error: ApiError, { baseUrl, keyOrigin }: Origin): CommandFailure {
  const { status, retryAfterSeconds } = error;
  const message = messageOf(error);
  const later =
    retryAfterSeconds === undefined
      ? '; try again later'
      : `; try again in ${toText(Math.ceil(retryAfterSeconds))}`;
  const plan = `. What the plan allows: ${baseUrl}/dashboard/account`;
  if (!error.isFromApi && status < 500 && status !== 429)
    return unreachable(
      `${baseUrl} does not answer as the service does: ${message}, no JSON object of it. ` +
        PERHAPS_WRONG,
    );
  switch (status) {
    case 401:
      return new CommandFailure(
        exitCodes.refused,
        `the service refuses the API key of ${keyOrigin}: ${message}. Is it wrong, revoked or ` +
          `expired? You make one at ${baseUrl}/dashboard/settings/keys`,
      );
    case 403:
      if (LIMITS_OF_PLAN.some((limit) => limit === error.code))
        return new CommandFailure(exitCodes.overLimit, message + plan);
      return new CommandFailure(
        exitCodes.refused,
        `${message}${plan}; what a key may do: ${baseUrl}/dashboard/settings/keys`,
      );
    case 404:
    case 410:
      return new CommandFailure(
        exitCodes.notFound,
        `${message}. \`tempinbox list\` shows what there is`,
      );
    case 409:
    case 422:
      return new CommandFailure(exitCodes.conflict, message);
    case 429: {
      const advice = error.code === errorCodes.dailyLimit ? plan : '';
      return new CommandFailure(exitCodes.overLimit, message + later + advice, retryAfterSeconds);
    }
    default:
      break;
  }
  if (status < 500) return badUsage(message);
  const request =
    error.requestId === undefined ? '' : ` (request ${printableLine(error.requestId)})`;
  return unreachable(`the service failed: ${message}${later}${request}`, retryAfterSeconds);
}

function unreachable(message: string, retryAfterSeconds?: number): CommandFailure {
  return new CommandFailure(exitCodes.unreachable, message, retryAfterSeconds);
}

function explainConnection(error: ConnectionFailed, { baseUrl }: Origin): string {
  const { code, message } = describeCause(error.cause);
  const cannot = `cannot reach ${baseUrl}: ${message}`;
  if (UNRESOLVED.test(code))
    return `${cannot}. Is the host name in TEMPINBOX_BASE_URL or --base-url right?`;
  if (NO_CERTIFICATE.test(code))
    return (
      `${cannot}. If the service has a certificate of its own, give its authority with ` +
      '--ca-file FILE'
    );
  if (MALFORMED.test(code))
    return `${baseUrl} does not answer as the service does: ${message}. ${PERHAPS_WRONG}`;
  if (CUT.test(code))
    return (
      `the connection to ${baseUrl} was cut: ${message}. Try again; if it stays so, look whether ` +
      'the service restarts or a proxy ends long requests (--hold 25)'
    );
  return (
    `${cannot}. Does the service run there, and do TEMPINBOX_BASE_URL or --base-url and the ` +
    'network lead to it?'
  );
}

/** The system's code of what ended a request, and a sentence of it. */
export function describeCause(cause: unknown): { code: string; message: string } {
  if (!(cause instanceof Error)) return { code: '', message: 'no answer in time' };
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  const message = printableLine(cause.message) || code;
  if (UNRESOLVED.test(code)) return { code, message: `the host name does not resolve: ${message}` };
  if (NO_CERTIFICATE.test(code)) return { code, message: `TLS could not be agreed on: ${message}` };
  const isUnmade = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EACCES)$/.test(code);
  return { code, message: isUnmade ? `the connection was not made: ${message}` : message };
}
