// Addresses of the page, in one place.
import { BASE_PATH } from './base-path';

const ROOT = `${BASE_PATH}/dashboard`;

export const paths = {
  overview: ROOT,
  inboxes: `${ROOT}/inboxes`,
  inbox: (inboxId: string) => `${ROOT}/inboxes/${inboxId}`,
  mail: `${ROOT}/mail`,
  email: (inboxId: string, emailId: string) => `${ROOT}/inboxes/${inboxId}/${emailId}`,
  keys: `${ROOT}/settings/keys`,
  webhooks: `${ROOT}/settings/webhooks`,
  webhook: (webhookId: string) => `${ROOT}/settings/webhooks/${webhookId}`,
  rules: `${ROOT}/settings/webhooks/rules`,
  rulesBefore: `${ROOT}/settings/rules`, // where they were: links and bookmarks still have it
  account: `${ROOT}/account`,
  signIn: `${ROOT}/sign-in`,
  signUp: `${ROOT}/sign-up`,
  reset: `${ROOT}/reset-password`,
};

// The addresses of the page; the API below the same root is the server's.
export const SCOPE = new RegExp(`^${ROOT.replaceAll('.', '\\.')}(?!/api(/|$))`);

export function isPublic(path: string): boolean {
  return [paths.signIn, paths.signUp, paths.reset].includes(path);
}
