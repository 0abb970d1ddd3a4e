import { useEffect, useState } from 'preact/hooks';

const TICK_MS = 10_000;

// The present, anew every few seconds: enough for "3 min ago".
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), TICK_MS);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}
