import type { UsageDay } from '../../api';

const DAY_MS = 86_400_000;
export const DAYS = 30;

export type Metric = 'requests' | 'emails' | 'deliveries';

// The last 30 UTC days, oldest first and without holes, whatever the server left out.
export function thirtyDays(days: readonly UsageDay[], now: number): UsageDay[] {
  const known = new Map(days.map((it) => [it.day, it]));
  return Array.from({ length: DAYS }, (_, index) => {
    const day = new Date(now - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return known.get(day) ?? { day, requests: 0, emails: 0, deliveries: 0 };
  });
}

// Returns the numbers beside the chart, from its top down; without data the ground line alone.
export function scaleFor(largest: number): number[] {
  if (largest === 0) return [0];
  const top = roundTop(largest);
  return [top, top / 2, 0];
}

// The smallest "round" number that is not below the largest value.
function roundTop(largest: number): number {
  if (largest <= 4) return 4;
  const size = 10 ** Math.floor(Math.log10(largest));
  return (
    [1, 1.5, 2, 3, 4, 5, 6, 8, 10]
      .map((factor) => factor * size)
      .find((top) => top >= largest && Number.isInteger(top / 2)) ?? size * 10
  );
}

export function dayName(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString('en-US', {
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  });
}
