import { api } from '../../api';
import { useLiveUpdates } from '../../live';
import { PageHead } from '../../ui/page';
import { MailResults, SearchBox, useMailListing } from './mail-search';

// The mail of all live inboxes, to find what came without knowing where.
export function MailPage() {
  const listing = useMailListing('all', false, (query, signal) => api.allEmails(query, signal));
  useLiveUpdates(listing.refresh);
  const isEmpty = listing.value?.items.length === 0 && !listing.isSearch;
  return (
    <>
      <PageHead title="Mail" lead="What came to all of your live inboxes, newest first." />
      <section class="panel" aria-label="Mail">
        <SearchBox {...listing} />
        <MailResults listing={listing} />
        {isEmpty && (
          <p class="panel-empty">
            Nothing yet. Send a mail to one of your inboxes: it appears here by itself.
          </p>
        )}
      </section>
    </>
  );
}
