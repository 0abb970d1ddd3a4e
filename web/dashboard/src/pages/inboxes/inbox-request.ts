import type { Domain, Inbox, NewInbox } from '../../api';

type Retention = Inbox['retention'];

export interface Typed {
  localPart: string;
  domain: string;
  capture: boolean;
  ttlSeconds: number;
  renewOnUse: boolean | null; // null: as inboxes of its kind have it
  retention: Partial<Retention>; // the rest: as inboxes of its kind have it
  name: string;
  tags: string;
  metadata: { name: string; value: string }[];
}

// Tags as typed, between commas; each once.
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter(Boolean);
}

// A catch-all is on a subdomain: one that the account holds, or a random one if none is named.
export function domainFor(localPart: string, domain: string, known: Domain[]): string {
  const isHeld = known.some((it) => it.domain === domain && it.isSubdomain);
  return localPart.trim() === '*' && !isHeld ? '' : domain;
}

const OF_CAPTURES: Retention = { maxAgeSeconds: 7 * 86_400, whenFull: 'dropOldest' };
const OF_OTHERS: Retention = { maxAgeSeconds: null, whenFull: 'refuse' };

// What the inbox is going to have: what was chosen, else what the server gives to its kind.
export function optionsOf({ capture, renewOnUse, retention }: Typed) {
  return {
    renewOnUse: renewOnUse ?? capture,
    retention: { ...(capture ? OF_CAPTURES : OF_OTHERS), ...retention },
  };
}

// Builds the request from the fields that were filled in alone, since everything has a default.
export function inboxRequest(typed: Typed): NewInbox {
  const tags = tagsOf(typed.tags);
  const metadata = Object.fromEntries(
    typed.metadata.filter((it) => it.name.trim()).map((it) => [it.name.trim(), it.value]),
  );
  return {
    ...(typed.localPart.trim() && { localPart: typed.localPart.trim() }),
    ...(typed.domain && { domain: typed.domain }),
    ...(typed.capture && { capture: true }),
    ttlSeconds: typed.ttlSeconds,
    ...(typed.renewOnUse !== null && { renewOnUse: typed.renewOnUse }),
    ...(Object.keys(typed.retention).length > 0 && { retention: typed.retention }),
    ...(typed.name.trim() && { name: typed.name.trim() }),
    ...(tags.length > 0 && { tags }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}
