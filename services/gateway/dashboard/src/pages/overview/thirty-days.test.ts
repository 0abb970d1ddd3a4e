import { describe, expect, it } from 'vitest';
import { dayName, roundTop, thirtyDays } from './thirty-days';

const NOW = Date.parse('2026-03-01T00:30:00Z');

describe('the last 30 days', () => {
  it('end today, have no holes and are in order', () => {
    const days = thirtyDays([{ date: '2026-02-28', requests: 7, emails: 2, deliveries: 1 }], NOW);
    expect(days).toHaveLength(30);
    expect(days.at(-1)?.date).toBe('2026-03-01');
    expect(days.at(-2)?.requests).toBe(7);
    expect(days[0]).toEqual({ date: '2026-01-31', requests: 0, emails: 0, deliveries: 0 });
  });
});

describe('the top of the chart', () => {
  it('is round, halves to a whole number and is never below the largest value', () => {
    expect(roundTop(0)).toBe(4);
    expect(roundTop(5)).toBe(6);
    expect(roundTop(97)).toBe(100);
    expect(roundTop(1_201)).toBe(1_500);
    expect(roundTop(10_000)).toBe(10_000);
    for (let largest = 1; largest < 5_000; largest += 7) {
      expect(roundTop(largest)).toBeGreaterThanOrEqual(largest);
      expect(Number.isInteger(roundTop(largest) / 2)).toBe(true);
    }
  });
});

describe('a day', () => {
  it('is said by its UTC date', () => {
    expect(dayName('2026-11-01')).toBe('Nov 1');
  });
});
