import type { NewKey, Scope } from '../../api';

// The rights of a key, in the order of the API's documentation.
export const SCOPE_HINTS: Record<Scope, string> = {
  'inboxes:read': 'list and read inboxes',
  'inboxes:write': 'create, change and end inboxes',
  'emails:read': 'list, wait for and read mail, its codes and files',
  'emails:write': 'mark and delete mail',
  'webhooks:read': 'read webhooks and what was delivered',
  'webhooks:write': 'create, change, test and delete webhooks',
  'account:read': 'read the plan and its use',
};
export const SCOPES = Object.keys(SCOPE_HINTS) as Scope[];

export interface Typed {
  label: string;
  // True if the key has the chosen scopes alone.
  isLimited: boolean;
  scopes: Scope[];
  tag: string;
  expiresAt: string; // as <input type="datetime-local"> holds it
}

// A key with a tag cannot have webhooks: they receive the events of every inbox.
export function canHave(scope: Scope, tag: string): boolean {
  return !tag.trim() || !scope.startsWith('webhooks:');
}

// Builds the request from the fields that were filled in alone, since everything but the label has
// a default.
export function keyRequest(typed: Typed): NewKey {
  const tag = typed.tag.trim();
  return {
    label: typed.label.trim(),
    ...(typed.isLimited && {
      scopes: SCOPES.filter((it) => typed.scopes.includes(it) && canHave(it, tag)),
    }),
    ...(tag && { tag }),
    ...(typed.expiresAt && { expiresAt: new Date(typed.expiresAt).toISOString() }),
  };
}
