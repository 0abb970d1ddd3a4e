import { useState } from 'preact/hooks';
import { api, type Inbox } from '../../api';
import { useNow } from '../../clock';
import { useLiveUpdates } from '../../live';
import { useListing } from '../../resource';
import { paths } from '../../routes';
import { useSession } from '../../session';
import { ago, count, left, moment } from '../../time';
import { Button, IconButton } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { Empty, ErrorNotice, Loading } from '../../ui/notice';
import { PageHead } from '../../ui/page';
import { CreateInbox } from './create-inbox';
import { DeleteInbox, ExtendInbox } from './inbox-dialogs';

type Shown = 'active' | 'expired';
type OpenDialog = { what: 'extend' | 'delete'; inbox: Inbox } | null;

function InboxRow({
  inbox,
  onOpenDialog,
}: {
  inbox: Inbox;
  onOpenDialog: (dialog: OpenDialog) => void;
}) {
  const now = useNow();
  const isActive = inbox.status === 'active';
  return (
    <li class="row-item">
      <div class="row-main">
        <div class="row-head">
          <a class="cut mono row-title" href={paths.inbox(inbox.inboxId)}>
            {inbox.emailAddress}
          </a>
          <CopyButton text={inbox.emailAddress} what={`address ${inbox.emailAddress}`} />
        </div>
        <p class="row-note">
          {inbox.name && <strong>{inbox.name} · </strong>}
          {count(inbox.emailCount, 'mail')}
          {inbox.lastEmailAt && `, last ${ago(inbox.lastEmailAt, now)}`} ·{' '}
          <span title={moment(inbox.expiresAt)}>
            {isActive ? left(inbox.expiresAt, now) : `ended ${ago(inbox.expiredAt, now)}`}
          </span>
        </p>
        {inbox.tags.length > 0 && (
          <ul class="tags" aria-label="Tags">
            {inbox.tags.map((tag) => (
              <li key={tag} class="badge">
                {tag}
              </li>
            ))}
          </ul>
        )}
      </div>
      {isActive && (
        <div class="row-actions">
          <IconButton
            icon="clock"
            label={`Extend ${inbox.emailAddress}`}
            onClick={() => onOpenDialog({ what: 'extend', inbox })}
          />
          <IconButton
            icon="trash"
            label={`Delete ${inbox.emailAddress}`}
            onClick={() => onOpenDialog({ what: 'delete', inbox })}
          />
        </div>
      )}
    </li>
  );
}

export function Inboxes() {
  const { limits } = useSession();
  const [shown, setShown] = useState<Shown>('active');
  const [search, setSearch] = useState('');
  const [isCreating, setCreating] = useState(false);
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const tag = search.trim();
  const inboxes = useListing(`${shown} ${tag}`, async (cursor, signal) => {
    const found = await api.inboxes(
      { status: shown, limit: 25, cursor, ...(tag && { tag }) },
      signal,
    );
    return { items: found.inboxes, nextCursor: found.nextCursor };
  });
  useLiveUpdates(() => inboxes.reload());
  const close = () => setDialog(null);
  const list = inboxes.value;

  return (
    <>
      <PageHead
        title="Inboxes"
        lead={
          'Addresses that receive for a while and then end. ' +
          `Your plan allows ${count(limits.liveInboxes, 'live inbox', 'live inboxes')}.`
        }
      >
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New inbox
        </Button>
      </PageHead>
      <div class="filters">
        <div class="segments" role="group" aria-label="Which inboxes">
          {(['active', 'expired'] as const).map((it) => (
            <button key={it} type="button" aria-pressed={shown === it} onClick={() => setShown(it)}>
              {it === 'active' ? 'Live' : 'Ended'}
            </button>
          ))}
        </div>
        <input
          class="input"
          type="search"
          aria-label="Only inboxes with the tag"
          placeholder="Filter by tag"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      <ErrorNotice error={inboxes.error} onRetry={inboxes.reload} />
      {!list && inboxes.isLoading && <Loading what="your inboxes" />}
      {list && list.items.length > 0 && (
        <ul class="panel rows">
          {list.items.map((it) => (
            <InboxRow key={it.inboxId} inbox={it} onOpenDialog={setDialog} />
          ))}
        </ul>
      )}
      {list && list.items.length === 0 && tag && (
        <Empty
          icon="search"
          title="No inbox has this tag"
          action={<Button onClick={() => setSearch('')}>Show all</Button>}
        >
          Tags must match whole: <strong>{tag}</strong> finds inboxes tagged exactly so.
        </Empty>
      )}
      {list && list.items.length === 0 && !tag && shown === 'active' && (
        <Empty
          icon="inbox"
          title="No live inbox"
          action={
            <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
              Create an inbox
            </Button>
          }
        >
          Create one and give its address to whoever is to write to it: a sign-up form, a test run,
          a shop.
        </Empty>
      )}
      {list && list.items.length === 0 && !tag && shown === 'expired' && (
        <Empty icon="clock" title="Nothing has ended">
          Inboxes that ended or were deleted stand here for 30 days, without their mail.
        </Empty>
      )}
      {list?.nextCursor && (
        <p class="more">
          <Button isBusy={inboxes.isLoading} onClick={inboxes.more}>
            Show more
          </Button>
        </p>
      )}
      {isCreating && <CreateInbox onClose={() => setCreating(false)} />}
      {dialog?.what === 'extend' && (
        <ExtendInbox inbox={dialog.inbox} onClose={close} onDone={inboxes.reload} />
      )}
      {dialog?.what === 'delete' && (
        <DeleteInbox inbox={dialog.inbox} onClose={close} onDone={inboxes.reload} />
      )}
    </>
  );
}
