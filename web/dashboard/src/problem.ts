import { ApiError } from './api';

export interface Problem {
  title: string;
  detail: string;
  requestId: string | null;
}

// What somebody typed and the page itself refuses; the message is a sentence for them.
export class InvalidInput extends Error {}

const REFUSED = 'That was not accepted';
const FAILED = 'Something went wrong on our side';
const TITLES: Record<number, string> = {
  0: 'The service cannot be reached',
  400: REFUSED,
  401: 'You are not signed in',
  403: 'That is not allowed',
  404: 'That does not exist any more',
  409: 'That clashes with something that is there already',
  413: 'That is too large',
  422: REFUSED,
  429: 'Too many requests',
  500: FAILED,
  503: 'The service is busy',
};

function wait(seconds: number | null): string {
  if (seconds === null) return 'Please try again in a moment.';
  if (seconds < 90)
    return `Please try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return `Please try again in ${Math.ceil(seconds / 60)} minutes.`;
}

// Turns a failure into a heading, a sentence and, if the server gave one, the request id that its
// log has.
export function describe(failure: unknown): Problem {
  if (failure instanceof InvalidInput)
    return { title: REFUSED, detail: failure.message, requestId: null };
  if (!(failure instanceof ApiError))
    return {
      title: 'Something went wrong on this page',
      detail: 'Reload it and try again.',
      requestId: null,
    };
  const { status, requestId, retryAfter } = failure;
  const title = TITLES[status] ?? (status >= 500 ? FAILED : REFUSED);
  const said =
    failure.message && (/[.!?]$/.test(failure.message) ? failure.message : `${failure.message}.`);
  if (status === 0) return { title, detail: 'Check your connection, then try again.', requestId };
  if (status === 429 || status === 503)
    return { title, detail: [said, wait(retryAfter)].filter(Boolean).join(' '), requestId };
  if (status >= 500)
    return {
      title,
      detail: [said, 'If it happens again, tell the operator the request id.']
        .filter(Boolean)
        .join(' '),
      requestId,
    };
  return { title, detail: said || 'The server gave no reason.', requestId };
}
