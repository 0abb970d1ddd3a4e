// A clock that the test moves: delays and limits of minutes take no time, however busy the machine.

import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';

/**
 * Stops the clock that the client sees until the test ends. A pause of the client passes at once and
 * is noted in `delays`, in seconds; `pass(seconds)` moves the clock otherwise.
 */
export function clock(t) {
  let now = performance.now();
  const delays = [];
  const timers = new Map();
  const [start, stop] = [setTimeout, clearTimeout];
  const pass = (seconds) => {
    now += seconds * 1000;
    for (const [timer, { at, fire }] of timers)
      if (at <= now) {
        stop(timer);
        fire();
      }
  };
  t.mock.method(performance, 'now', () => now);
  // Real timers as well, for fetch has some of its own.
  t.mock.method(globalThis, 'setTimeout', (callback, milliseconds, ...given) => {
    const fire = () => {
      timers.delete(timer);
      callback(...given);
    };
    const timer = start(fire, milliseconds);
    timers.set(timer, { at: now + Math.trunc(milliseconds), fire }); // as Node.js does
    return timer;
  });
  t.mock.method(globalThis, 'clearTimeout', (timer) => {
    timers.delete(timer);
    stop(timer);
  });
  const paused = t.mock.method(promises, 'setTimeout', async (milliseconds) => {
    delays.push(milliseconds / 1000);
    pass(milliseconds / 1000);
    await promises.setImmediate();
  });
  syncBuiltinESMExports(); // for those who imported it by name
  t.after(() => {
    paused.mock.restore();
    syncBuiltinESMExports();
  });
  return { delays, pass };
}
