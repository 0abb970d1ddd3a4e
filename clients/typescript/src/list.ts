// Lists of the API, page by page.
import { TempinboxError } from './errors.js';
import type { components } from './openapi.js';

/** How far a list with conditions looked. */
export type Searched = components['schemas']['SearchedEmails'];

/** A part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the list goes on, for `cursor`; null at its end. */
  readonly nextCursor: string | null;
  /** Of emails with conditions: how far this page looked. It may be short, or empty. */
  readonly searched?: Searched | undefined;
}

type Ask<Item> = (cursor: string | undefined, limit: number | undefined) => Promise<Page<Item>>;

const MAX_PAGE = 100; // of one request

/** A list, newest first unless its `order` is `asc`: `for await (const item of list)` asks for pages as they are needed. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #ask: Ask<Item>;
  readonly #begin: string | undefined;

  constructor(ask: Ask<Item>, begin?: string) {
    this.#ask = ask;
    this.#begin = begin;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  /** Its pages, a request each: to stop a search that has looked far enough. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    for (let cursor = this.#begin; ;) {
      const page = await this.#ask(cursor, undefined);
      yield page;
      if (page.nextCursor == null) return;
      cursor = following(cursor, page.nextCursor);
    }
  }

  /** Its first items, by as many requests as they take, and the cursor of what follows them. */
  async page(maxItems: number): Promise<Page<Item>> {
    const found: Item[] = [];
    for (let cursor = this.#begin; ;) {
      const limit = Math.min(maxItems - found.length, MAX_PAGE);
      const { items, nextCursor } = await this.#ask(cursor, limit);
      found.push(...items);
      if (nextCursor == null || found.length >= maxItems) return { items: found, nextCursor };
      cursor = following(cursor, nextCursor);
    }
  }

  /** All of it, or its first items. */
  async toArray(maxItems = Infinity): Promise<Item[]> {
    const found: Item[] = [];
    if (maxItems <= 0) return found;
    for await (const item of this) if (found.push(item) >= maxItems) break;
    return found;
  }
}

function following(cursor: string | undefined, next: string): string {
  if (next === cursor)
    throw new TempinboxError('The list does not go on: its next page is the same one again');
  return next;
}
