// What the commands of one run share.
import { Tempinbox } from '../client.js';
import { version } from '../contract.js';
import type { Arguments } from './command.js';
import { badUsage, CommandFailure, exitCodes, type Origin } from './failure.js';
import { textOf } from './fields.js';
import { makeFetch } from './http.js';
import type { Platform } from './platform.js';
import { quote } from './printable.js';
import { readSettings, type CliSettings } from './settings.js';
import type { Fetch } from '../settings.js';

const CALL_SECONDS = 60;
const MAX_ADDRESS_LENGTH = 254; // RFC 5321 4.5.3.1.3
const STANDARD_HOLD_SECONDS = 55; // many proxies end a request at 60 s
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Names the program to servers. */
export const APPLICATION = `tempinbox-cli/${version}`;

/** Settings are read when a command first needs them: the completion needs none. */
export class Session {
  readonly isJson: boolean;
  readonly #given: Arguments;
  #settings: CliSettings | undefined;
  #client: Tempinbox | undefined;
  #fetch: Fetch | undefined;

  constructor(
    given: Arguments,
    readonly platform: Platform,
  ) {
    this.#given = given;
    this.isJson = given.has('json');
  }

  get client(): Tempinbox {
    this.#client ??= this.#makeClient();
    return this.#client;
  }

  /** The requests of this run, with the certificates that it trusts. */
  get fetch(): Fetch {
    this.#fetch ??= makeFetch(this.#chosen.caFile);
    return this.#fetch;
  }

  /** The longest single request of a wait. */
  get holdSeconds(): number {
    return this.#given.integer('hold', 1, 60) ?? STANDARD_HOLD_SECONDS;
  }

  /** What messages name; empty before the settings are read. */
  get origin(): Origin {
    return this.#settings ?? { baseUrl: '', keyOrigin: '' };
  }

  get #chosen(): CliSettings {
    this.#settings ??= readSettings(this.#given, this.platform);
    return this.#settings;
  }

  #makeClient(): Tempinbox {
    const { baseUrl, apiKey } = this.#chosen;
    return new Tempinbox({
      baseUrl,
      apiKey,
      timeoutSeconds: CALL_SECONDS,
      maxHoldSeconds: this.holdSeconds,
      application: APPLICATION,
      fetch: this.fetch,
    });
  }

  /** The id of the inbox that the word names, by id or by address. */
  async findInbox(idOrAddress: string): Promise<string> {
    if (UUID.test(idOrAddress)) return idOrAddress.toLowerCase();
    if (!idOrAddress.includes('@') || Buffer.byteLength(idOrAddress) > MAX_ADDRESS_LENGTH)
      throw badUsage(
        `INBOX must be an inbox's id (36 characters) or its address, not ${quote(idOrAddress)}`,
      );
    const { items } = await this.client.listInboxes({ address: idOrAddress }).page(1);
    if (items[0] === undefined)
      throw new CommandFailure(
        exitCodes.notFound,
        `no inbox of yours takes mail as ${quote(idOrAddress)}. \`tempinbox list\` shows those ` +
          'there are',
      );
    return textOf(items[0], 'inboxId');
  }
}

/** An id as the API writes it; refuses another word. */
export function readEmailId(word: string): string {
  if (UUID.test(word)) return word.toLowerCase();
  throw badUsage(`EMAIL must be an email's id (36 characters), not ${quote(word)}`);
}
