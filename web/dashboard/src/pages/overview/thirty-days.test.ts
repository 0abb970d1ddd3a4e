import { describe, expect, it } from 'vitest';
import { dayName, scaleFor, thirtyDays } from './thirty-days';

const NOW = Date.parse('2026-03-01T00:30:00Z');

describe('the last 30 days', () => {
  it('end today, have no holes and are in order', () => {
    const days = thirtyDays([{ day: '2026-02-28', requests: 7, emails: 2, deliveries: 1 }], NOW);
    expect(days).toHaveLength(30);
    expect(days.at(-1)?.day).toBe('2026-03-01');
    expect(days.at(-2)?.requests).toBe(7);
    expect(days[0]).toEqual({ day: '2026-01-31', requests: 0, emails: 0, deliveries: 0 });
  });
});

describe('the scale of the chart', () => {
  it('is 0 alone where there is nothing to show', () => {
    expect(scaleFor(0)).toEqual([0]);
  });

  it('has a round top that halves to a whole number and is never below the largest value', () => {
    expect(scaleFor(1)).toEqual([4, 2, 0]);
    expect(scaleFor(5)).toEqual([6, 3, 0]);
    expect(scaleFor(97)).toEqual([100, 50, 0]);
    expect(scaleFor(1_201)).toEqual([1_500, 750, 0]);
    expect(scaleFor(10_000)).toEqual([10_000, 5_000, 0]);
    for (let largest = 1; largest < 5_000; largest += 7) {
      const [top, half] = scaleFor(largest);
      expect(top).toBeGreaterThanOrEqual(largest);
      expect(Number.isInteger(half)).toBe(true);
    }
  });
});

describe('a day', () => {
  it('is said by its UTC date', () => {
    expect(dayName('2026-11-01')).toBe('Nov 1');
  });
});
