import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { api, ApiError, onSignedOut, rememberSession, type Session } from './api';

type Standing =
  | { is: 'unknown' }
  | { is: 'unreachable'; error: unknown }
  | { is: 'out'; hasEnded: boolean }
  | { is: 'in'; session: Session; isFresh: boolean };

interface Holder {
  standing: Standing;
  enter: (session: Session) => void;
  refresh: () => void;
  leave: () => void;
  ask: () => void;
}

const Context = createContext<Holder | null>(null);

// The signed-in account, read once when the page opens and changed by signing in and out.
export function SessionProvider({ children }: { children: ComponentChildren }) {
  const [standing, setStanding] = useState<Standing>({ is: 'unknown' });

  const ask = useCallback(() => {
    setStanding({ is: 'unknown' });
    api.session().then(
      (session) => setStanding({ is: 'in', session, isFresh: false }),
      (error: unknown) =>
        setStanding(
          error instanceof ApiError && error.status === 401
            ? { is: 'out', hasEnded: false }
            : { is: 'unreachable', error },
        ),
    );
  }, []);

  useEffect(() => {
    onSignedOut(() => {
      rememberSession(null);
      setStanding((was) => (was.is === 'in' ? { is: 'out', hasEnded: true } : was));
    });
    ask();
  }, [ask]);

  const holder = useMemo<Holder>(
    () => ({
      standing,
      ask,
      enter: (session) =>
        setStanding({ is: 'in', session: rememberSession(session), isFresh: true }),
      // The plan may have changed meanwhile; a failure changes nothing but what a 401 does anyway.
      refresh: () =>
        void api.session().then(
          (session) => setStanding((was) => (was.is === 'in' ? { ...was, session } : was)),
          () => {},
        ),
      leave: () => {
        rememberSession(null);
        setStanding({ is: 'out', hasEnded: false });
      },
    }),
    [standing, ask],
  );
  return <Context.Provider value={holder}>{children}</Context.Provider>;
}

export function useStanding(): Holder {
  const holder = useContext(Context);
  if (!holder) throw new Error('outside of SessionProvider');
  return holder;
}

// For pages that are shown only to someone who is signed in.
export function useSession(): Session {
  const { standing } = useStanding();
  if (standing.is !== 'in') throw new Error('nobody is signed in');
  return standing.session;
}
