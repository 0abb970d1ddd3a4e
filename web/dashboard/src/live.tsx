import { createContext, type ComponentChildren } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { api } from './api';

export interface NewMail {
  emailId: string;
  inboxId: string;
  sequence: number;
  from: string;
  subject: string;
  hasCode: boolean;
}

// `again` means that events may have been missed, so the listener should load its data again.
export type LiveUpdate =
  { kind: 'mail'; mail: NewMail } | { kind: 'expired'; inboxId: string } | { kind: 'again' };
// The data of each event of the stream, by the event's name.
interface Events {
  ready: unknown;
  refetch: unknown;
  'email.received': NewMail;
  'inbox.expired': { inboxId: string };
}

type Listener = (update: LiveUpdate) => void;

const FIRST_RETRY_DELAY_MS = 2_000;
const MAX_RETRY_DELAY_MS = 60_000;

interface Stream {
  listeners: Set<Listener>;
  isLive: boolean;
}

const Context = createContext<Stream>({ listeners: new Set(), isLive: false });

// Holds one stream of events for the whole page while the page is visible: a browser has six
// connections to a host in all, so hidden tabs must hold none. The browser reconnects by itself
// unless the server refused; then we reconnect, with a delay that doubles.
export function LiveProvider({ children }: { children: ComponentChildren }) {
  const listeners = useRef(new Set<Listener>()).current;
  const [isLive, setLive] = useState(false);

  useEffect(() => {
    let source: EventSource | undefined;
    let timer: number | undefined;
    let retryDelay = FIRST_RETRY_DELAY_MS;
    const notify = (update: LiveUpdate) => listeners.forEach((listener) => listener(update));

    function disconnect() {
      window.clearTimeout(timer);
      source?.close();
      setLive(false);
    }

    function connect() {
      disconnect();
      const opened = new EventSource(api.eventsUrl);
      source = opened;
      function on<Name extends keyof Events>(event: Name, read: (data: Events[Name]) => void) {
        opened.addEventListener(event, (message) =>
          read(JSON.parse((message as MessageEvent<string>).data) as Events[Name]),
        );
      }
      on('ready', () => {
        setLive(true);
        retryDelay = FIRST_RETRY_DELAY_MS;
        notify({ kind: 'again' });
      });
      on('refetch', () => notify({ kind: 'again' }));
      on('email.received', (mail) => notify({ kind: 'mail', mail }));
      on('inbox.expired', ({ inboxId }) => notify({ kind: 'expired', inboxId }));
      opened.onerror = () => {
        setLive(false);
        if (opened.readyState !== EventSource.CLOSED) return;
        // The session may be over; this request finds out.
        void api.session().catch(() => {});
        timer = window.setTimeout(connect, retryDelay);
        retryDelay = Math.min(retryDelay * 2, MAX_RETRY_DELAY_MS);
      };
    }

    const follow = () => (document.visibilityState === 'hidden' ? disconnect() : connect());
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      disconnect();
    };
  }, [listeners]);

  return <Context.Provider value={{ listeners, isLive }}>{children}</Context.Provider>;
}

export function useIsLive(): boolean {
  return useContext(Context).isLive;
}

export function useLiveUpdates(listener: Listener): void {
  const { listeners } = useContext(Context);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const receive: Listener = (update) => latest.current(update);
    listeners.add(receive);
    return () => {
      listeners.delete(receive);
    };
  }, [listeners]);
}
