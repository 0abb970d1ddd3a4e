// Formats times and amounts as people say them. Every function takes the present as an argument, so
// that none reads a clock.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// "3 h 20 min": the two largest units that say something.
export function span(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE) return `${whole} s`;
  const parts: [number, string][] = [
    [Math.floor(whole / DAY), 'd'],
    [Math.floor((whole % DAY) / HOUR), 'h'],
    [Math.floor((whole % HOUR) / MINUTE), 'min'],
  ];
  const first = parts.findIndex(([n]) => n > 0);
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(' ');
}

// Returns the time left until then; "ended" once it is past, "no end" if there is none.
export function left(until: string | null, now: number): string {
  if (until === null) return 'no end';
  const seconds = (Date.parse(until) - now) / 1000;
  return seconds <= 0 ? 'ended' : `${span(seconds)} left`;
}

export function ago(then: string | null, now: number): string {
  if (then === null) return 'never';
  const seconds = Math.max(0, (now - Date.parse(then)) / 1000);
  if (seconds < 45) return 'just now';
  if (seconds < HOUR) return `${Math.max(1, Math.round(seconds / MINUTE))} min ago`;
  if (seconds < DAY) return `${Math.round(seconds / HOUR)} h ago`;
  const days = Math.round(seconds / DAY);
  return days < 60
    ? `${days} ${days === 1 ? 'day' : 'days'} ago`
    : new Date(then).toLocaleDateString();
}

// The exact moment, for hints and details, in the reader's own zone.
export function moment(when: string | null): string {
  if (when === null) return '–';
  return new Date(when).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

// Formats a time for <input type="datetime-local">.
export function localInput(when: number): string {
  const shifted = new Date(when - new Date(when).getTimezoneOffset() * MINUTE * 1000);
  return shifted.toISOString().slice(0, 16);
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} ${count === 1 ? 'byte' : 'bytes'}`;
  const units = ['KB', 'MB', 'GB'];
  let amount = count / 1024;
  let unit = 0;
  for (; amount >= 1000 && unit < units.length - 1; ++unit) amount /= 1024;
  return `${amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount)} ${units[unit]}`;
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;
}

const LIVES = [10 * MINUTE, HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY, 30 * DAY];

// Returns the lifetimes to choose from on a plan; its maximum is always among them.
export function lives(maxSeconds: number): number[] {
  const within = LIVES.filter((seconds) => seconds < maxSeconds);
  return [...within, maxSeconds];
}

const WORDS: [number, string][] = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [1, 'second'],
];

// "7 days", for choices: exact, in the largest unit that divides it.
export function life(seconds: number): string {
  const [unit, word] = WORDS.find(([size]) => seconds % size === 0) ?? [1, 'second'];
  return count(seconds / unit, word);
}
