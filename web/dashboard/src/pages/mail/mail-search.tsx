import { useEffect, useId, useState } from 'preact/hooks';
import type { EmailSummary, SearchedEmails } from '../../api';
import { useListing, type Listing } from '../../resource';
import { count, moment } from '../../time';
import { Button } from '../../ui/button';
import { ErrorNotice, Loading } from '../../ui/notice';
import { MailRow } from './mail-row';
import { readSearch, type MailFilters, type MailSearch } from './search-words';

const TYPING_DELAY_MS = 300; // after the last key, for a search of texts takes a while
const PAGE_LIMIT = 25;

export interface MailPage {
  items: EmailSummary[];
  nextCursor: string | null;
  searched: SearchedEmails | undefined;
}

interface FetchedPage {
  emails: EmailSummary[];
  nextCursor: string | null;
  searched?: SearchedEmails;
}

export interface MailListing extends Listing<MailPage> {
  typed: string;
  type: (text: string) => void;
  search: MailSearch;
  isSearch: boolean;
  isFixed: boolean; // new mail does not appear in it
  refresh: () => void;
}

// The mail of one inbox or of all, as far as it matches what is typed.
export function useMailListing(
  scope: string,
  isOneInbox: boolean,
  fetchPage: (
    query: MailFilters & { limit: number; cursor: string | undefined },
    signal: AbortSignal,
  ) => Promise<FetchedPage>,
): MailListing {
  const [typed, type] = useState('');
  const [settled, settle] = useState('');
  useEffect(() => {
    const timer = window.setTimeout(() => settle(typed), TYPING_DELAY_MS);
    return () => window.clearTimeout(timer);
  }, [typed]);
  const { filters } = readSearch(settled, isOneInbox);
  const words = JSON.stringify(filters);
  const listing = useListing(`${scope} ${words}`, async (cursor, signal): Promise<MailPage> => {
    const found = await fetchPage({ ...filters, limit: PAGE_LIMIT, cursor }, signal);
    return { items: found.emails, nextCursor: found.nextCursor, searched: found.searched };
  });
  const isSearch = words !== '{}';
  // Each page of a search costs the server far more than one of a list.
  const isFixed = isSearch && (listing.value?.pages.length ?? 0) > 1;
  return {
    ...listing,
    typed,
    type,
    search: readSearch(typed, isOneInbox),
    isSearch,
    isFixed,
    refresh: () => (isFixed ? undefined : listing.reload()),
  };
}

export function SearchBox({
  typed,
  type,
  search,
  isOneInbox = false,
}: Pick<MailListing, 'typed' | 'type' | 'search'> & { isOneInbox?: boolean }) {
  const hintId = useId();
  return (
    <div class="mail-search">
      <input
        class="input"
        type="search"
        aria-label="Search"
        aria-describedby={hintId}
        placeholder="Search"
        maxLength={500}
        autoCapitalize="none"
        spellcheck={false}
        value={typed}
        onInput={(event) => type(event.currentTarget.value)}
      />
      <p class="hint" id={hintId}>
        {search.notes.length > 0
          ? search.notes.join(' ')
          : `Words of the text, or from: to: recipient: subject: has:code is:unread${isOneInbox ? '' : ' tag:'}`}
      </p>
    </div>
  );
}

// How far a search has looked, summed over its pages.
function lookedAt(pages: readonly MailPage[]): string {
  const emails = pages.reduce((sum, { searched }) => sum + (searched?.emails ?? 0), 0);
  const backTo = pages.at(-1)?.searched?.backTo;
  return `Looked at ${count(emails, 'mail')}${backTo ? `, back to ${moment(backTo)}` : ''}.`;
}

// The mail that was found, and what leads to more of it.
export function MailResults({
  listing,
  chosen,
  hasRecipients = () => false,
}: {
  listing: MailListing;
  chosen?: string;
  hasRecipients?: (email: EmailSummary) => boolean; // says to whom it was sent
}) {
  const { value: list, isSearch, isLoading } = listing;
  return (
    <>
      <ErrorNotice error={listing.error} onRetry={listing.reload} />
      {!list && isLoading && <Loading what="mail" />}
      {list && list.items.length > 0 && (
        <ul class="mails">
          {list.items.map((it) => (
            <MailRow
              key={it.emailId}
              email={it}
              isChosen={it.emailId === chosen}
              hasRecipients={hasRecipients(it)}
            />
          ))}
        </ul>
      )}
      {list && isSearch && (
        <p class="panel-empty searched" role="status">
          {list.items.length === 0 && (list.nextCursor ? 'Nothing found yet. ' : 'Nothing found. ')}
          {(list.nextCursor || list.items.length === 0) && lookedAt(list.pages)}
        </p>
      )}
      {list?.nextCursor && (
        <p class="more">
          <Button size="small" isBusy={isLoading} onClick={listing.more}>
            {isSearch ? 'Look further back' : 'Show older mail'}
          </Button>
        </p>
      )}
    </>
  );
}
