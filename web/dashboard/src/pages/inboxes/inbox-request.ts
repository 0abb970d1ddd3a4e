import type { Domain, NewInbox } from '../../api';

export interface Typed {
  localPart: string;
  domain: string;
  ttlSeconds: number;
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

// Builds the request from the fields that were filled in alone, since everything has a default.
export function inboxRequest(typed: Typed): NewInbox {
  const tags = tagsOf(typed.tags);
  const metadata = Object.fromEntries(
    typed.metadata.filter((it) => it.name.trim()).map((it) => [it.name.trim(), it.value]),
  );
  return {
    ...(typed.localPart.trim() && { localPart: typed.localPart.trim() }),
    ...(typed.domain && { domain: typed.domain }),
    ttlSeconds: typed.ttlSeconds,
    ...(typed.name.trim() && { name: typed.name.trim() }),
    ...(tags.length > 0 && { tags }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}
