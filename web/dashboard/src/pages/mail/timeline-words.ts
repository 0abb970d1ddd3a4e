import type { Timeline, TimelineStep } from '../../api';
import { bytes } from '../../time';

// Returns the title of a step.
export function stepTitle(step: TimelineStep): string {
  switch (step.step) {
    case 'connected':
      return 'A mail server connected';
    case 'accepted':
      return 'The mail was received';
    case 'stored':
      return 'It was stored';
    case 'published':
      return step.isPublished ? 'Webhooks were told' : 'Webhooks are not told yet';
    case 'rules':
      return 'Routing rules were asked';
    case 'delivery':
      return 'A webhook was to get it';
    case 'attempt':
      return `Attempt ${step.number}`;
  }
}

// Returns the details of a step before the webhooks; the others have none.
export function stepDetail(step: TimelineStep): string | null {
  switch (step.step) {
    case 'connected': {
      const name = step.helo && `, which calls itself ${step.helo}`;
      const encryption = step.tls === null ? 'without encryption' : `encrypted with ${step.tls}`;
      return `${step.remoteAddress}${name}, ${encryption}`;
    }
    case 'accepted':
      return (
        `${bytes(step.sizeBytes)} from ${step.mailFrom || '(empty)'} ` +
        `for ${step.recipients.join(', ')}`
      );
    case 'stored':
      return 'It can be read from then on.';
    default:
      return null;
  }
}

// The addresses of webhooks by their ids. A deleted webhook has none.
export function webhookNames(timeline: Timeline): Map<string, string> {
  const names = new Map<string, string>();
  for (const step of timeline.steps)
    if (step.step === 'delivery') names.set(step.webhookId, step.url ?? 'a deleted webhook');
  return names;
}

// Returns why no webhook got the mail; null if one did, or if the reason is unknown.
export function whyNoWebhook(timeline: Timeline): string | null {
  if (timeline.missing.length > 0) return null;
  if (timeline.steps.some((it) => it.step === 'delivery')) return null;
  const published = timeline.steps.find((it) => it.step === 'published');
  if (published && !published.isPublished) return 'Webhooks get it once its event is published.';
  const rules = timeline.steps.find((it) => it.step === 'rules');
  if (rules && !rules.rules.some((it) => it.isMatch))
    return 'No webhook got it: none of the rules matched.';
  return (
    'No webhook got it: none listens to mail, the record is older than 30 days, ' +
    'or it is still being written.'
  );
}
