import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

// The data that a page has loaded. The old value stays while it reloads, so that nothing flickers.
export interface Resource<T> {
  value: T | undefined;
  error: unknown;
  isLoading: boolean;
  reload: () => void;
  change: (how: (value: T) => T) => void;
}

const RELOAD_INTERVAL_MS = 400; // Limits how often a burst of live updates reloads from the server.

// Loads when the page appears and whenever `key` changes (then from nothing). Drops an answer that
// comes too late. Reload requests during a load are coalesced into one.
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
): Resource<T> {
  const [shown, show] = useState<{ key: string; value?: T; error?: unknown; isLoading: boolean }>({
    key,
    isLoading: true,
  });
  const latest = useRef(load);
  latest.current = load;
  const again = useRef(() => {});

  useEffect(() => {
    const abort = new AbortController();
    let timer: number | undefined;
    let isBusy = false;
    let isRequested = false;

    async function run() {
      isBusy = true;
      isRequested = false;
      show((was) => (was.key === key ? { ...was, isLoading: true } : { key, isLoading: true }));
      let next: (was: { value?: T }) => { value?: T; error?: unknown };
      try {
        const value = await latest.current(abort.signal);
        next = () => ({ value });
      } catch (error) {
        next = (was) => ({ ...was, error });
      }
      if (abort.signal.aborted) return;
      show((was) => ({
        ...next(was.key === key && was.value !== undefined ? { value: was.value } : {}),
        key,
        isLoading: false,
      }));
      timer = window.setTimeout(() => {
        isBusy = false;
        if (isRequested) void run();
      }, RELOAD_INTERVAL_MS);
    }

    again.current = () => {
      isRequested = true;
      if (!isBusy) void run();
    };
    void run();
    return () => {
      abort.abort();
      window.clearTimeout(timer);
    };
  }, [key]);

  const reload = useCallback(() => again.current(), []);
  const change = useCallback(
    (how: (value: T) => T) =>
      show((was) => (was.value === undefined ? was : { ...was, value: how(was.value) })),
    [],
  );
  const isCurrent = shown.key === key;
  return {
    value: isCurrent ? shown.value : undefined,
    error: isCurrent ? shown.error : undefined,
    isLoading: !isCurrent || shown.isLoading,
    reload,
    change,
  };
}

// Runs the action of a button or a form, one at a time, and keeps its failure for showing.
export function useAction(): {
  isBusy: boolean;
  error: unknown;
  run: (what: () => Promise<void>) => Promise<boolean>;
  clear: () => void;
} {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const isBusy = useRef(false);
  const run = useCallback(async (what: () => Promise<void>) => {
    if (isBusy.current) return false;
    isBusy.current = true;
    setState({ isBusy: true });
    try {
      await what();
      setState({ isBusy: false });
      return true;
    } catch (error) {
      setState({ isBusy: false, error });
      return false;
    } finally {
      isBusy.current = false;
    }
  }, []);
  return {
    isBusy: state.isBusy,
    error: state.error,
    run,
    clear: useCallback(() => setState({ isBusy: false }), []),
  };
}

// A part of a list; a list may say more of each of its pages.
export interface Page {
  items: unknown[];
  nextCursor: string | null;
}

export interface Listing<P extends Page> extends Resource<{
  items: P['items'];
  nextCursor: string | null;
  pages: P[];
}> {
  more: () => void;
}

// Reads a list page by page; a reload reads as many pages as are shown.
export function useListing<P extends Page>(
  key: string,
  fetchPage: (cursor: string | undefined, signal: AbortSignal) => Promise<P>,
): Listing<P> {
  const shown = useRef({ key, pages: 1 });
  if (shown.current.key !== key) shown.current = { key, pages: 1 };
  const resource = useResource(key, async (signal) => {
    const pages: P[] = [];
    let nextCursor: string | null = null;
    do {
      const page: P = await fetchPage(nextCursor ?? undefined, signal);
      pages.push(page);
      ({ nextCursor } = page);
    } while (nextCursor !== null && pages.length < shown.current.pages);
    const items = pages.flatMap((page) => page.items) as P['items'];
    return { items, nextCursor, pages };
  });
  const more = () => {
    shown.current.pages += 1;
    resource.reload();
  };
  return { ...resource, more };
}
