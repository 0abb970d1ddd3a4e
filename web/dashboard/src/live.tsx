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

// `again`: something may have been missed, so what is shown should be read anew.
export type News =
  { kind: 'mail'; mail: NewMail } | { kind: 'expired'; inboxId: string } | { kind: 'again' };
// What the stream carries, by the event's name.
interface Events {
  ready: unknown;
  refetch: unknown;
  'email.received': NewMail;
  'inbox.expired': { inboxId: string };
}

type Listener = (news: News) => void;

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

interface Stream {
  listeners: Set<Listener>;
  isLive: boolean;
}

const Context = createContext<Stream>({ listeners: new Set(), isLive: false });

// One stream of events for the whole page, while it is looked at: a browser has six connections to a host in all, so tabs behind others must hold none.
// The browser connects again by itself unless the server refused; then we do, ever slower.
export function LiveProvider({ children }: { children: ComponentChildren }) {
  const listeners = useRef(new Set<Listener>()).current;
  const [isLive, setLive] = useState(false);

  useEffect(() => {
    let source: EventSource | undefined;
    let timer: number | undefined;
    let pause = FIRST_PAUSE_MS;
    const tell = (news: News) => listeners.forEach((listener) => listener(news));

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
        pause = FIRST_PAUSE_MS;
        tell({ kind: 'again' });
      });
      on('refetch', () => tell({ kind: 'again' }));
      on('email.received', (mail) => tell({ kind: 'mail', mail }));
      on('inbox.expired', ({ inboxId }) => tell({ kind: 'expired', inboxId }));
      opened.onerror = () => {
        setLive(false);
        if (opened.readyState !== EventSource.CLOSED) return;
        // Refused: perhaps the session is over, which this question finds out.
        void api.session().catch(() => {});
        timer = window.setTimeout(connect, pause);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
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

export function useNews(listener: Listener): void {
  const { listeners } = useContext(Context);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const hear: Listener = (news) => latest.current(news);
    listeners.add(hear);
    return () => {
      listeners.delete(hear);
    };
  }, [listeners]);
}
