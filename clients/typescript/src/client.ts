// The client: one method for each operation of the contract, and waits, codes and links by hand.
import { filtersOf, type EmailConditions } from './conditions.js';
import { NotFound, TempinboxError } from './errors.js';
import {
  followEvents,
  listEvents,
  type EventFilter,
  type EventList,
  type EventPage,
  type FeedEvent,
} from './events.js';
import { List, type Searched } from './list.js';
import type { components, operations } from './openapi.js';
import { readSettings, type Settings } from './settings.js';
import { Transport, type CallArguments, type CallOptions, type OperationId } from './transport.js';
import {
  expectNoEmail,
  idOf,
  pollForResult,
  sequenceOf,
  waitForCode,
  waitForEmail,
  waitForEmails,
  waitForLink,
  waitForResult,
  type CodeConditions,
  type CountConditions,
  type InboxReference,
  type LinkConditions,
  type Position,
  type ResultConditions,
  type WaitConditions,
  type WaitResult,
} from './waiting.js';

type Schemas = components['schemas'];
type Query<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;

export type Inbox = Schemas['Inbox'];
export type Email = Schemas['Email'];
export type EmailSummary = Schemas['EmailSummary'];
export type CreationResult = Schemas['CreationResult'];
export type Webhook = Schemas['Webhook'];
export type Delivery = Schemas['Delivery'];

/** Selects emails of an inbox, and says where a list of them begins and how it goes on. */
export interface InboxEmailsFilter
  extends EmailConditions, Omit<Query<'listInboxEmails'>, keyof EmailConditions | 'after'> {
  /** Only emails behind this position. */
  readonly after?: Position | undefined;
}

/** Selects emails of all inboxes, or of those with a tag. */
export interface EmailsFilter
  extends EmailConditions, Omit<Query<'listEmails'>, keyof EmailConditions> {}

/** An attachment with its bytes. */
export interface AttachmentContent extends Omit<Schemas['AttachmentContent'], 'content'> {
  readonly content: Uint8Array;
}

/**
 * A client of one account. It holds nothing that must be closed; every method may be called at the
 * same time as any other.
 */
export class Tempinbox {
  readonly #transport: Transport;

  constructor(settings: Settings = {}) {
    this.#transport = new Transport(readSettings(settings));
  }

  // Waiting.

  /** The matching email with the lowest sequence; throws WaitTimeout when none comes. */
  async waitForEmail(inbox: InboxReference, conditions: WaitConditions = {}): Promise<Email> {
    return await waitForEmail(this.#transport, inbox, conditions);
  }

  /**
   * Summaries of the matching emails in the order of their sequence, once there are `minCount`;
   * throws WaitTimeout, whose `emails` are those that came. For the next ones give the last one as
   * `after`.
   */
  async waitForEmails(inbox: InboxReference, conditions: CountConditions): Promise<EmailSummary[]> {
    return await waitForEmails(this.#transport, inbox, conditions);
  }

  /** The likeliest one-time code of the first matching email that has one. */
  async waitForCode(inbox: InboxReference, conditions: CodeConditions = {}): Promise<string> {
    return await waitForCode(this.#transport, inbox, conditions);
  }

  /** The address of a link to verify, to reset or another, in this order. */
  async waitForLink(inbox: InboxReference, conditions: LinkConditions = {}): Promise<string> {
    return await waitForLink(this.#transport, inbox, conditions);
  }

  /** Returns when none came in the whole time (5 s); throws UnexpectedEmail when one does. */
  async expectNoEmail(inbox: InboxReference, conditions: WaitConditions = {}): Promise<void> {
    await expectNoEmail(this.#transport, inbox, conditions);
  }

  /** The whole answer of the API, also where no email came: outcome, near misses and position. */
  async waitForResult(
    inbox: InboxReference,
    conditions: ResultConditions = {},
  ): Promise<WaitResult> {
    return await waitForResult(this.#transport, inbox, conditions);
  }

  /** One long poll, sent once, for loops of your own: at most `maxHoldSeconds` long. */
  async pollForResult(
    inbox: InboxReference,
    conditions: ResultConditions = {},
  ): Promise<WaitResult> {
    return await pollForResult(this.#transport, inbox, conditions);
  }

  /** The position behind all that is there now: take it before the trigger, give it as `after`. */
  async mark(inbox: InboxReference, options?: CallOptions): Promise<number> {
    return (await this.getInbox(inbox, options)).lastSequence;
  }

  /** Makes an inbox for the callback and ends it afterwards, also when the callback throws. */
  async withInbox<Result>(
    newInbox: Schemas['NewInbox'],
    use: (inbox: Inbox) => Promise<Result> | Result,
  ): Promise<Result>;
  async withInbox<Result>(use: (inbox: Inbox) => Promise<Result> | Result): Promise<Result>;
  async withInbox<Result>(
    first: Schemas['NewInbox'] | ((inbox: Inbox) => Promise<Result> | Result),
    second?: (inbox: Inbox) => Promise<Result> | Result,
  ): Promise<Result> {
    const use = typeof first === 'function' ? first : second;
    if (use === undefined) throw new TempinboxError('withInbox needs a callback');
    const inbox = await this.createInbox(typeof first === 'function' ? {} : first);
    let result: Result;
    try {
      result = await use(inbox);
    } catch (error) {
      // The callback's own error is the one to report; the inbox ends by its TTL at the latest.
      await this.deleteInbox(inbox).catch(() => undefined);
      throw error;
    }
    await this.deleteInbox(inbox).catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error; // the callback ended it
    });
    return result;
  }

  // Inboxes.

  /** Makes an inbox. */
  async createInbox(newInbox: Schemas['NewInbox'] = {}, options?: CallOptions): Promise<Inbox> {
    return await this.#json('createInbox', { body: newInbox }, options);
  }

  /** Makes up to 100 inboxes by one request of the day: for each the inbox, or why not. */
  async createInboxes(
    newInboxes: Schemas['NewInbox'][],
    options?: CallOptions,
  ): Promise<CreationResult[]> {
    const body = { inboxes: newInboxes };
    const made = await this.#json<Schemas['CreatedInboxes']>('createInboxes', { body }, options);
    return made.results;
  }

  /** The account's inboxes, newest first; those that take mail unless `status` says otherwise. */
  listInboxes(filter: Query<'listInboxes'> = {}, options?: CallOptions): List<Inbox> {
    return this.#list('listInboxes', 'inboxes', {}, filter, options);
  }

  /** Ends every live inbox with the tag. */
  async deleteInboxesByTag(tag: string, options?: CallOptions): Promise<Schemas['DeletedInboxes']> {
    return await this.#json('deleteInboxesByTag', { query: () => ({ tag }) }, options);
  }

  /** An inbox as it is now, also for 30 days after its end. */
  async getInbox(inbox: InboxReference, options?: CallOptions): Promise<Inbox> {
    return await this.#json('getInbox', { path: { inboxId: idOf(inbox) } }, options);
  }

  /** Changes what is given and leaves the rest. */
  async updateInbox(
    inbox: InboxReference,
    change: Schemas['InboxChange'],
    options?: CallOptions,
  ): Promise<Inbox> {
    const path = { inboxId: idOf(inbox) };
    return await this.#json('updateInbox', { path, body: change }, options);
  }

  /** Ends an inbox; its mail is gone. */
  async deleteInbox(
    inbox: InboxReference,
    options?: CallOptions,
  ): Promise<Schemas['DeletedInbox']> {
    return await this.#json('deleteInbox', { path: { inboxId: idOf(inbox) } }, options);
  }

  /** The emails of an inbox that match, newest first. */
  listInboxEmails(
    inbox: InboxReference,
    { after, ...filter }: InboxEmailsFilter = {},
    options?: CallOptions,
  ): List<EmailSummary> {
    const path = { inboxId: idOf(inbox) };
    const position = after === undefined ? {} : { after: sequenceOf(after) };
    return this.#list('listInboxEmails', 'emails', path, { ...filter, ...position }, options);
  }

  /** Deletes the mail that is there now; the inbox stays. */
  async emptyInbox(inbox: InboxReference, options?: CallOptions): Promise<Schemas['EmptiedInbox']> {
    return await this.#json('emptyInbox', { path: { inboxId: idOf(inbox) } }, options);
  }

  /** Gives an inbox a login: what is sent with it lands there. The password is shown this once. */
  async createCapture(inbox: InboxReference, options?: CallOptions): Promise<Schemas['Capture']> {
    return await this.#json('createCapture', { path: { inboxId: idOf(inbox) } }, options);
  }

  /** A new password of the login, shown this once; that before is good for `graceSeconds` more. */
  async rotateCapture(
    inbox: InboxReference,
    rotation: Schemas['NewRotation'] = {},
    options?: CallOptions,
  ): Promise<Schemas['Capture']> {
    const path = { inboxId: idOf(inbox) };
    return await this.#json('rotateCapture', { path, body: rotation }, options);
  }

  /** Ends the login of an inbox; its mail stays. */
  async endCapture(inbox: InboxReference, options?: CallOptions): Promise<Schemas['DeletedInbox']> {
    return await this.#json('endCapture', { path: { inboxId: idOf(inbox) } }, options);
  }

  /** What the inbox plays on purpose, in its order, with how often each step was played. */
  async getFaults(inbox: InboxReference, options?: CallOptions): Promise<Schemas['Faults']> {
    return await this.#json('getFaults', { path: { inboxId: idOf(inbox) } }, options);
  }

  /** Lets the inbox refuse, delay or cut mail on purpose, in place of the steps it has. */
  async setFaults(
    inbox: InboxReference,
    steps: Schemas['NewFaultStep'][],
    options?: CallOptions,
  ): Promise<Schemas['Faults']> {
    const path = { inboxId: idOf(inbox) };
    return await this.#json('setFaults', { path, body: { steps } }, options);
  }

  /** Lets the inbox take mail as ever. */
  async clearFaults(
    inbox: InboxReference,
    options?: CallOptions,
  ): Promise<Schemas['DeletedInbox']> {
    return await this.#json('clearFaults', { path: { inboxId: idOf(inbox) } }, options);
  }

  /** What senders did with an inbox that has a login or faults, or is a catch-all. */
  async getSenderReport(
    inbox: InboxReference,
    options?: CallOptions,
  ): Promise<Schemas['SenderReport']> {
    return await this.#json('getSenderReport', { path: { inboxId: idOf(inbox) } }, options);
  }

  /** Lists why mail did not arrive: the refusals of the mail server in the last 24 hours. */
  async listRejections(
    inbox: InboxReference,
    options?: CallOptions,
  ): Promise<Schemas['Rejection'][]> {
    const path = { inboxId: idOf(inbox) };
    const found = await this.#json<Schemas['RejectionList']>('listRejections', { path }, options);
    return found.rejections;
  }

  /** The domains an inbox can have, the default one first. */
  async listDomains(options?: CallOptions): Promise<Schemas['Domain'][]> {
    return (await this.#json<Schemas['DomainList']>('listDomains', {}, options)).domains;
  }

  // Emails.

  /** The emails of all live inboxes that match, newest first. */
  listEmails(filter: EmailsFilter = {}, options?: CallOptions): List<EmailSummary> {
    return this.#list('listEmails', 'emails', {}, filter, options);
  }

  /** The whole email, with its codes and links. */
  async getEmail(emailId: string, options?: CallOptions): Promise<Email> {
    return await this.#json('getEmail', { path: { emailId } }, options);
  }

  /** Marks an email as read or unread. */
  async updateEmail(
    emailId: string,
    change: Schemas['EmailChange'],
    options?: CallOptions,
  ): Promise<EmailSummary> {
    return await this.#json('updateEmail', { path: { emailId }, body: change }, options);
  }

  /** Deletes an email for good. */
  async deleteEmail(emailId: string, options?: CallOptions): Promise<Schemas['DeletedEmail']> {
    return await this.#json('deleteEmail', { path: { emailId } }, options);
  }

  /** The message as a mail program takes it (`.eml`), with Return-Path and Received in front. */
  async getRawEmail(emailId: string, options?: CallOptions): Promise<Uint8Array> {
    const values = { path: { emailId }, accept: 'message/rfc822' };
    return await this.#transport.bytes('getRawEmail', values, options);
  }

  /** Returns the history of an email, from the connection that brought it to its webhooks. */
  async getEmailTimeline(emailId: string, options?: CallOptions): Promise<Schemas['Timeline']> {
    return await this.#json('getEmailTimeline', { path: { emailId } }, options);
  }

  /** An attachment of an email, decoded. */
  async getAttachment(
    emailId: string,
    attachmentId: string,
    options?: CallOptions,
  ): Promise<AttachmentContent> {
    const path = { emailId, attachmentId };
    const found = await this.#json<Schemas['AttachmentContent']>(
      'getAttachment',
      { path },
      options,
    );
    return { ...found, content: Buffer.from(found.content, 'base64') };
  }

  // Events.

  /** A page of the account's events behind `after`; the first call begins the feed. */
  async listEvents(page: EventPage = {}, options?: CallOptions): Promise<EventList> {
    return await listEvents(this.#transport, page, options);
  }

  /**
   * Follows the account's events, each once: `for await (const event of client.events())`. Keep the
   * `cursor` of the last event that you are done with, and give it as `after` the next time.
   * CursorExpired and CursorReset say what would be skipped, or comes again.
   */
  events(filter: EventFilter = {}): AsyncGenerator<FeedEvent, never> {
    return followEvents(this.#transport, filter);
  }

  // Webhooks.

  /** Registers a webhook; the answer holds its secret, the only time it is shown. */
  async createWebhook(
    newWebhook: Schemas['NewWebhook'],
    options?: CallOptions,
  ): Promise<Schemas['CreatedWebhook']> {
    return await this.#json('createWebhook', { body: newWebhook }, options);
  }

  /** The account's webhooks, newest first. */
  listWebhooks(filter: Query<'listWebhooks'> = {}, options?: CallOptions): List<Webhook> {
    return this.#list('listWebhooks', 'webhooks', {}, filter, options);
  }

  /** A webhook, without its secret. */
  async getWebhook(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return await this.#json('getWebhook', { path: { webhookId } }, options);
  }

  /** Changes what is given and leaves the rest. */
  async updateWebhook(
    webhookId: string,
    change: Schemas['WebhookChange'],
    options?: CallOptions,
  ): Promise<Webhook> {
    return await this.#json('updateWebhook', { path: { webhookId }, body: change }, options);
  }

  /** Removes a webhook. */
  async deleteWebhook(
    webhookId: string,
    options?: CallOptions,
  ): Promise<Schemas['DeletedWebhook']> {
    return await this.#json('deleteWebhook', { path: { webhookId } }, options);
  }

  /**
   * Sends a made-up event now, by default of the first kind that the webhook subscribes to; what
   * the receiver answered.
   */
  async testWebhook(
    webhookId: string,
    body: Schemas['NewTest'] = {},
    options?: CallOptions,
  ): Promise<Delivery> {
    return await this.#json('testWebhook', { path: { webhookId }, body }, options);
  }

  /** Lists the deliveries of a webhook, newest event first. */
  listDeliveries(
    webhookId: string,
    filter: Query<'listDeliveries'> = {},
    options?: CallOptions,
  ): List<Delivery> {
    return this.#list('listDeliveries', 'deliveries', { webhookId }, filter, options);
  }

  /** A delivery with its attempts, as it is now. */
  async getDelivery(
    webhookId: string,
    deliveryId: string,
    options?: CallOptions,
  ): Promise<Delivery> {
    return await this.#json('getDelivery', { path: { webhookId, deliveryId } }, options);
  }

  /** Sends a delivery again now; what the receiver answered. */
  async retryDelivery(
    webhookId: string,
    deliveryId: string,
    options?: CallOptions,
  ): Promise<Delivery> {
    return await this.#json('retryDelivery', { path: { webhookId, deliveryId } }, options);
  }

  /** Sends all deliveries since a moment again that failed, or succeeded, in the background. */
  async replayDeliveries(
    webhookId: string,
    replay: Schemas['NewReplay'],
    options?: CallOptions,
  ): Promise<Schemas['Replay']> {
    return await this.#json('replayDeliveries', { path: { webhookId }, body: replay }, options);
  }

  /** A new secret, shown this once; the old one signs beside it for 24 hours. */
  async rotateWebhookSecret(
    webhookId: string,
    options?: CallOptions,
  ): Promise<Schemas['RotatedSecret']> {
    return await this.#json('rotateWebhookSecret', { path: { webhookId } }, options);
  }

  // Account.

  /** The account, what its plan allows, and what is in use now. */
  async getAccount(options?: CallOptions): Promise<Schemas['Account']> {
    return await this.#json('getAccount', {}, options);
  }

  /** The last 30 UTC days, newest first. */
  async getUsage(options?: CallOptions): Promise<Schemas['UsageOfDay'][]> {
    return (await this.#json<Schemas['Usage']>('getUsage', {}, options)).days;
  }

  /** The account's first page in the dashboard. */
  get dashboard(): string {
    return this.#transport.dashboard;
  }

  /** The page of an inbox, or of one of its emails, in the dashboard. */
  dashboardLink(inbox: InboxReference, emailId?: string): string {
    const link = `${this.#transport.dashboard}/inboxes/${idOf(inbox)}`;
    return emailId === undefined ? link : `${link}/${emailId}`;
  }

  async #json<Result>(
    id: OperationId,
    values: CallArguments,
    options: CallOptions | undefined,
  ): Promise<Result> {
    return await this.#transport.json(id, values, options);
  }

  #list<Item>(
    id: OperationId,
    field: string,
    path: Readonly<Record<string, string>>,
    filter: { readonly cursor?: string | undefined },
    options: CallOptions | undefined,
  ): List<Item> {
    const filters = filtersOf(filter);
    const ask = async (cursor: string | undefined, limit: number | undefined) => {
      const query = () => ({ ...filters, cursor, ...(limit === undefined ? {} : { limit }) });
      const values = { path, query };
      const page: Record<string, unknown> = await this.#json(id, values, options);
      return {
        items: page[field] as Item[],
        nextCursor: page['nextCursor'] as string | null,
        searched: page['searched'] as Searched | undefined,
      };
    };
    return new List<Item>(ask, filter.cursor);
  }
}
