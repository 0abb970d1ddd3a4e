export * from './client.js';
export type { EmailConditions, LinkKind } from './conditions.js';
export * from './error-codes.js';
export * from './errors.js';
export type { EventFilter, EventList, EventPage, FeedEvent } from './events.js';
export { List } from './list.js';
export type { Page, Searched } from './list.js';
export type { components, operations } from './openapi.js';
export type { Fetch, Settings } from './settings.js';
export type { CallOptions } from './transport.js';
export type {
  CodeConditions,
  CountConditions,
  InboxReference,
  LinkConditions,
  Position,
  ResultConditions,
  WaitConditions,
  WaitResult,
} from './waiting.js';
export { verifyWebhook } from './webhooks.js';
export type { RequestHeaders, VerifyOptions, WebhookEvent } from './webhooks.js';
