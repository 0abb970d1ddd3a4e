// The events of the account, page by page or for as long as somebody asks for the next one.
import { InvalidArgument } from './errors.js';
import type { components, operations } from './openapi.js';
import { ANSWER_SECONDS, type CallOptions, type Transport } from './transport.js';

export type FeedEvent = components['schemas']['FeedEvent'];
export type EventList = components['schemas']['EventList'];

/** Selects a page of events, and says how long to wait for one. */
export type EventPage = NonNullable<operations['listEvents']['parameters']['query']>;

/** Says where to begin, and which events to follow. */
export interface EventFilter extends Omit<EventPage, 'limit' | 'waitSeconds'> {
  /** Ends with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const HOLD_SECONDS = 55; // proxies often cut at 60
const MAX_OUTAGE_SECONDS = 86_400; // of the service, while events are followed

/** One page. */
export async function listEvents(
  transport: Transport,
  page: EventPage,
  options: CallOptions = {},
): Promise<EventList> {
  const hold = page.waitSeconds ?? 0;
  const query = () => page;
  if (!(hold > 0)) return await transport.json('listEvents', { query }, options);
  return await transport.json(
    'listEvents',
    { query, holdSeconds: () => hold },
    { ...options, timeoutSeconds: options.timeoutSeconds ?? hold + ANSWER_SECONDS },
  );
}

/** Asks for the next page with the last cursor, however often it is cut. */
export async function* followEvents(
  transport: Transport,
  filter: EventFilter,
): AsyncGenerator<FeedEvent, never> {
  const { signal, since, ...rest } = filter;
  if ('waitSeconds' in rest || 'limit' in rest)
    throw new InvalidArgument('waitSeconds', 'and limit are for listEvents: this waits by itself');
  const waitSeconds = Math.min(HOLD_SECONDS, transport.maxHoldSeconds);
  // Without a wait, so that there is a place to go on from, whatever happens to the next request.
  let page = await listEvents(
    transport,
    { ...rest, ...(since === undefined ? {} : { since }) },
    { signal },
  );
  for (;;) {
    yield* page.events;
    page = await listEvents(
      transport,
      { ...rest, after: page.nextCursor, waitSeconds },
      { signal, timeoutSeconds: MAX_OUTAGE_SECONDS },
    );
  }
}
