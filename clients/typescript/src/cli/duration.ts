// Times as people type them: 90s, 15m, 2h, 7d.

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
];
// 100,000 days: past every bound.
const MAX_SECONDS = 100_000 * 86_400;

/** Seconds; a number without a unit is seconds. Absent where it is no time. */
export function parseDuration(text: string): number | undefined {
  const [, digits, letter] = /^(\d{1,12})([dhms]?)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const unit = UNITS.find(([name]) => name === letter)?.[1] ?? 1;
  const seconds = Number(digits) * unit;
  return seconds <= MAX_SECONDS ? seconds : undefined;
}

/** In the largest unit that keeps it whole. */
export function toText(seconds: number): string {
  for (const [letter, unit] of UNITS)
    if (seconds >= unit && seconds % unit === 0) return `${seconds / unit}${letter}`;
  return `${seconds}s`;
}
