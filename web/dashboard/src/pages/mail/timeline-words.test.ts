import { describe, expect, it } from 'vitest';
import type { Timeline, TimelineStep } from '../../api';
import { stepDetail, stepTitle, webhookNames, whyNoWebhook } from './timeline-words';

const published = (isPublished: boolean): TimelineStep => ({
  step: 'published',
  at: null,
  note: null,
  isPublished,
});
const rules = (isMatch: boolean): TimelineStep => ({
  step: 'rules',
  at: null,
  note: null,
  rules: [{ ruleId: 'r', name: 'Codes', isMatch }],
});
const delivery = (url: string | null): TimelineStep => ({
  step: 'delivery',
  at: '2026-11-21T10:00:00.000Z',
  note: null,
  deliveryId: 'd',
  webhookId: 'w',
  url,
  status: 'pending',
  nextAttemptAt: null,
  reason: null,
  ruleIds: [],
});
const timeline = (steps: TimelineStep[], missing: Timeline['missing'] = []): Timeline => ({
  emailId: 'e',
  inboxId: 'i',
  steps,
  missing,
  isTruncated: false,
});

describe('a step in words', () => {
  it('says where the mail came from', () => {
    const step: TimelineStep = {
      step: 'connected',
      at: null,
      note: 'not stored',
      remoteAddress: '192.0.2.7',
      helo: 'mx.example',
      tls: null,
      login: null,
    };
    expect(stepTitle(step)).toBe('A mail server connected');
    expect(stepDetail(step)).toBe('192.0.2.7, which calls itself mx.example, without encryption');
  });

  it('tells an event that waits from one that is published', () => {
    expect(stepTitle(published(false))).not.toBe(stepTitle(published(true)));
  });
});

describe('why no webhook got a mail', () => {
  it('says nothing where one did', () => {
    expect(whyNoWebhook(timeline([published(true), delivery('https://a.example/')]))).toBeNull();
  });

  it('says nothing where it is not known', () => {
    expect(whyNoWebhook(timeline([published(true)], ['webhooks_unavailable']))).toBeNull();
  });

  it('names the rules where none matched', () => {
    expect(whyNoWebhook(timeline([published(true), rules(false)]))).toContain('rules matched');
    expect(whyNoWebhook(timeline([published(true), rules(true)]))).not.toContain('rules matched');
    expect(whyNoWebhook(timeline([published(false)]))).toContain('once its event is published');
  });
});

it('a deleted webhook has a name, too', () => {
  expect(webhookNames(timeline([delivery(null)])).get('w')).toBe('a deleted webhook');
});
