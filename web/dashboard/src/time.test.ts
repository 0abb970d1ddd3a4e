import { describe, expect, it } from 'vitest';
import { ago, bytes, count, left, life, lives, span } from './time';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

describe('span', () => {
  it('names the two largest units', () => {
    expect(span(42)).toBe('42 s');
    expect(span(60)).toBe('1 min');
    expect(span(12_000)).toBe('3 h 20 min');
    expect(span(7 * 86_400)).toBe('7 d');
    expect(span(86_400 + 59)).toBe('1 d');
    expect(span(-5)).toBe('0 s');
  });
});

describe('left', () => {
  it('says what is left, that it ended, or that there is no end', () => {
    expect(left(at(3_600), NOW)).toBe('1 h left');
    expect(left(at(0), NOW)).toBe('ended');
    expect(left(null, NOW)).toBe('no end');
  });
});

describe('ago', () => {
  it('is coarse, as people are', () => {
    expect(ago(at(-10), NOW)).toBe('just now');
    expect(ago(at(10), NOW)).toBe('just now');
    expect(ago(at(-50), NOW)).toBe('1 min ago');
    expect(ago(at(-7_200), NOW)).toBe('2 h ago');
    expect(ago(at(-86_400), NOW)).toBe('1 day ago');
    expect(ago(null, NOW)).toBe('never');
  });
});

describe('bytes', () => {
  it('rounds to what matters', () => {
    expect(bytes(1)).toBe('1 byte');
    expect(bytes(900)).toBe('900 bytes');
    expect(bytes(1_536)).toBe('1.5 KB');
    expect(bytes(25 * 1024 * 1024)).toBe('25 MB');
  });
});

describe('lives', () => {
  it('ends with the longest of the plan', () => {
    expect(lives(3_600)).toEqual([600, 3_600]);
    expect(lives(7 * 86_400).at(-1)).toBe(7 * 86_400);
  });

  it('are said exactly', () => {
    expect(life(600)).toBe('10 minutes');
    expect(life(3_600)).toBe('1 hour');
    expect(life(90_000)).toBe('25 hours');
  });
});

describe('count', () => {
  it('knows one from many', () => {
    expect(count(1, 'mail')).toBe('1 mail');
    expect(count(10_000, 'mail')).toBe('10,000 mails');
  });
});
