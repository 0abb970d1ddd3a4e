import { api, type Inbox } from '../api';

export interface Subdomain {
  domain: string;
  catchAll: Inbox | null; // null: only inboxes with names live in it
}

// The subdomains that the account holds: at most as many as its plan has.
export async function loadSubdomains(signal?: AbortSignal): Promise<Subdomain[]> {
  const { domains } = await api.domains(signal);
  return Promise.all(
    domains
      .filter((it) => it.isSubdomain)
      .map(async ({ domain }) => {
        const found = await api.inboxes({ status: 'active', address: `*@${domain}` }, signal);
        return { domain, catchAll: found.inboxes[0] ?? null };
      }),
  );
}
