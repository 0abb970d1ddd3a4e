import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, type Inbox } from '../../api';
import { useNow } from '../../clock';
import { useIsLive, useLiveUpdates } from '../../live';
import { useResource } from '../../resource';
import { paths } from '../../routes';
import { count, left, moment } from '../../time';
import { useAnnounce } from '../../ui/announce';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { Icon } from '../../ui/icon';
import { Empty, ErrorNotice, Loading, Notice } from '../../ui/notice';
import { PageHead, useTitle } from '../../ui/page';
import { MailResults, SearchBox, useMailListing } from '../mail/mail-search';
import { MailView } from '../mail/mail-view';
import { namesOthers } from '../mail/recipients';
import { DeleteInbox, EditInbox, EmptyInbox, ExtendInbox } from './inbox-dialogs';
import { Faults } from './faults';
import { Rejections } from './rejections';
import { SendHere } from './send-here';
import { SenderReportPanel } from './sender-report';

type OpenDialog = 'extend' | 'edit' | 'empty' | 'delete' | null;

function InboxHead({
  inbox,
  isReading,
  onOpenDialog,
}: {
  inbox: Inbox;
  isReading: boolean;
  onOpenDialog: (dialog: OpenDialog) => void;
}) {
  const now = useNow();
  const isActive = inbox.status === 'active';
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    // The heading that had the focus while the inbox was loading is gone.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <header class={isReading ? 'inbox-head reading' : 'inbox-head'}>
      <p class="crumb">
        <a href={paths.inboxes}>
          <Icon name="back" />
          Inboxes
        </a>
      </p>
      <div class="inbox-address">
        <h1 class="mono breaks" tabIndex={-1} ref={heading}>
          {inbox.emailAddress}
        </h1>
        <CopyButton text={inbox.emailAddress} what="address" isLabeled />
      </div>
      <div class="inbox-line">
        <p class="muted">
          {inbox.name && <strong class="inbox-name">{inbox.name} · </strong>}
          <span title={`Ends ${moment(inbox.expiresAt)}`}>
            {isActive ? left(inbox.expiresAt, now) : 'ended'}
          </span>{' '}
          · {count(inbox.emailCount, 'mail')}
        </p>
        {inbox.tags.map((tag) => (
          <span key={tag} class="badge">
            {tag}
          </span>
        ))}
        {Object.entries(inbox.metadata).map(([name, value]) => (
          <span key={name} class="badge">
            {name}: {value}
          </span>
        ))}
        {isActive && (
          <div class="row inbox-actions">
            <Button size="small" icon="clock" onClick={() => onOpenDialog('extend')}>
              Extend
            </Button>
            <Button size="small" onClick={() => onOpenDialog('edit')}>
              Edit
            </Button>
            {inbox.emailCount > 0 && (
              <Button size="small" onClick={() => onOpenDialog('empty')}>
                Delete all mail
              </Button>
            )}
            <Button size="small" kind="danger" icon="trash" onClick={() => onOpenDialog('delete')}>
              Delete
            </Button>
          </div>
        )}
      </div>
    </header>
  );
}

// What sends to the inbox, and what was refused.
function Senders({ inbox, onChanged }: { inbox: Inbox; onChanged: () => void }) {
  const { inboxId } = inbox;
  const rejections = useResource(`rejections ${inboxId}`, (signal) =>
    api.rejections(inboxId, signal),
  );
  return (
    <>
      {inbox.status === 'active' && (
        <SendHere
          inbox={inbox}
          rejections={rejections.value?.rejections ?? []}
          onChanged={onChanged}
        />
      )}
      {inbox.status === 'active' && <Faults inbox={inbox} />}
      {inbox.status === 'active' && <SenderReportPanel inbox={inbox} />}
      <Rejections found={rejections} />
    </>
  );
}

// Shows one inbox: its mail at the left, the chosen mail at the right, or one after the other on a
// narrow screen.
export function InboxPage({ params }: { params: { inboxId: string; emailId?: string } }) {
  const { inboxId, emailId } = params;
  const { route } = useLocation();
  const announce = useAnnounce();
  const isLive = useIsLive();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const inbox = useResource(inboxId, (signal) => api.inbox(inboxId, signal));
  const emails = useMailListing(inboxId, true, (query, signal) =>
    api.emails(inboxId, query, signal),
  );
  useTitle(inbox.value?.emailAddress ?? 'Inbox');

  function reload() {
    inbox.reload();
    emails.reload();
  }
  useLiveUpdates((update) => {
    if (update.kind === 'mail' && update.mail.inboxId !== inboxId) return;
    if (update.kind === 'expired' && update.inboxId !== inboxId) return;
    if (update.kind === 'mail')
      announce(
        `New mail from ${update.mail.from || 'nobody'}: ${update.mail.subject || '(no subject)'}`,
      );
    inbox.reload();
    emails.refresh();
  });

  if (!inbox.value) {
    return (
      <>
        <PageHead title="Inbox" />
        {inbox.error ? (
          <ErrorNotice error={inbox.error} onRetry={inbox.reload} />
        ) : (
          <Loading what="the inbox" />
        )}
      </>
    );
  }
  const { emailAddress, capture, retention } = inbox.value;
  const isActive = inbox.value.status === 'active';
  const isWaiting = emails.value?.items.length === 0 && !emails.isSearch && !emailId;
  const close = () => setDialog(null);

  return (
    <>
      <InboxHead inbox={inbox.value} isReading={emailId !== undefined} onOpenDialog={setDialog} />
      {!isActive && (
        <Notice kind="warn">
          This inbox has ended. Its mail is gone and new mail to it is refused.
        </Notice>
      )}
      {inbox.value.isFull && (
        <Notice kind="warn">
          {retention.whenFull === 'dropOldest'
            ? 'This inbox is full for a moment: its oldest mail is dropped, and senders try again.'
            : 'This inbox is full: new mail is refused. Delete mail to make room.'}
        </Notice>
      )}
      {isActive && (
        <div class={emailId ? 'mailbox reading' : isWaiting ? 'mailbox waits' : 'mailbox'}>
          <section class="panel mail-list" aria-label="Mail">
            <SearchBox {...emails} isOneInbox />
            <MailResults
              listing={emails}
              hasRecipients={(it) => capture !== null || namesOthers(it.recipients, emailAddress)}
              {...(emailId ? { chosen: emailId } : {})}
            />
            {isWaiting && (
              <div class="waiting">
                <span class="pulse" aria-hidden="true" />
                <p>
                  <strong>Waiting for mail</strong>
                </p>
                <p class="muted">
                  Copy the address and send something to it. It appears here by itself.
                </p>
              </div>
            )}
            <p class="live-line" role="status">
              <span class={isLive ? 'dot live' : 'dot'} aria-hidden="true" />
              {emails.isFixed
                ? 'New mail appears when the search is cleared'
                : isLive
                  ? 'New mail appears by itself'
                  : 'Connecting …'}
            </p>
          </section>
          {emailId ? (
            <MailView
              key={emailId}
              inboxId={inboxId}
              emailId={emailId}
              onRead={() =>
                emails.change((was) => ({
                  ...was,
                  items: was.items.map((it) =>
                    it.emailId === emailId ? { ...it, isRead: true } : it,
                  ),
                }))
              }
              onDeleted={() => {
                route(paths.inbox(inboxId));
                reload();
              }}
            />
          ) : isWaiting ? null : (
            <div class="mail-none">
              <Empty icon="inbox" title="No mail chosen">
                Choose one at the left to read it.
              </Empty>
            </div>
          )}
        </div>
      )}
      {!emailId && <Senders key={inboxId} inbox={inbox.value} onChanged={inbox.reload} />}
      {dialog === 'extend' && (
        <ExtendInbox inbox={inbox.value} onClose={close} onDone={inbox.reload} />
      )}
      {dialog === 'edit' && <EditInbox inbox={inbox.value} onClose={close} onDone={inbox.reload} />}
      {dialog === 'empty' && <EmptyInbox inbox={inbox.value} onClose={close} onDone={reload} />}
      {dialog === 'delete' && (
        <DeleteInbox inbox={inbox.value} onClose={close} onDone={() => route(paths.inboxes)} />
      )}
    </>
  );
}
