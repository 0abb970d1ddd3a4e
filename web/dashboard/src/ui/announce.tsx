import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';

const Context = createContext<(text: string) => void>(() => {});
const SHOWN_FOR_MS = 4000;

// Shows a short message at the edge of the page; a screen reader reads it out politely, and it is
// gone after a few seconds.
export function Announcer({ children }: { children: ComponentChildren }) {
  const [text, setText] = useState('');
  const timer = useRef<number | undefined>(undefined);
  const announce = useCallback((message: string) => {
    window.clearTimeout(timer.current);
    setText(message);
    timer.current = window.setTimeout(() => setText(''), SHOWN_FOR_MS);
  }, []);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return (
    <Context.Provider value={announce}>
      {children}
      <div class="toasts" role="status">
        {text && <p class="toast">{text}</p>}
      </div>
    </Context.Provider>
  );
}

export function useAnnounce(): (text: string) => void {
  return useContext(Context);
}
