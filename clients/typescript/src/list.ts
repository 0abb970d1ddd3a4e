// Lists of the API, page by page.
import { TempinboxError } from './errors.js';

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** A list, newest first: `for await (const item of list)` asks for pages as they are needed. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #ask: (cursor: string | undefined) => Promise<Page<Item>>;
  readonly #begin: string | undefined;

  constructor(ask: (cursor: string | undefined) => Promise<Page<Item>>, begin?: string) {
    this.#ask = ask;
    this.#begin = begin;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (let cursor = this.#begin; ;) {
      const { items, nextCursor } = await this.#ask(cursor);
      yield* items;
      if (nextCursor == null) return;
      if (nextCursor === cursor)
        throw new TempinboxError('The list does not go on: its next page is the same one again');
      cursor = nextCursor;
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
