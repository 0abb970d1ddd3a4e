import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, type Email } from '../../api';
import { useNow } from '../../clock';
import { useResource } from '../../resource';
import { paths } from '../../routes';
import { ago, moment } from '../../time';
import { useAnnounce } from '../../ui/announce';
import { IconButton } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { FormDialog } from '../../ui/dialog';
import { Icon } from '../../ui/icon';
import { ErrorNotice, Loading } from '../../ui/notice';
import { Tabs, type Tab } from '../../ui/tabs';
import { MailAttachments, MailDetails, MailHeaders, MailSource } from './mail-details';
import { MailHtml } from './mail-html';
import { MailRouting } from './mail-routing';
import { MailTimeline } from './mail-timeline';

type Part =
  'html' | 'text' | 'attachments' | 'headers' | 'timeline' | 'routing' | 'details' | 'source';

function partsOf(email: Email): Tab<Part>[] {
  const attachments = email.attachments.length;
  return [
    ...(email.html !== null ? [{ name: 'html' as const, title: 'HTML' }] : []),
    { name: 'text', title: 'Text' },
    {
      name: 'attachments',
      title: attachments > 0 ? `Attachments (${attachments})` : 'Attachments',
    },
    { name: 'headers', title: 'Headers' },
    { name: 'timeline', title: 'What happened' },
    { name: 'routing', title: 'Why it was routed' },
    { name: 'details', title: 'Details' },
    { name: 'source', title: 'Source' },
  ];
}

function Shown({ email, part }: { email: Email; part: Part }) {
  switch (part) {
    case 'html':
      return <MailHtml email={email} html={email.html ?? ''} />;
    case 'text':
      return email.text ? (
        <pre class="mail-text">{email.text}</pre>
      ) : (
        <p class="muted">This mail has no text.</p>
      );
    case 'attachments':
      return <MailAttachments email={email} />;
    case 'headers':
      return <MailHeaders email={email} />;
    case 'timeline':
      return <MailTimeline email={email} />;
    case 'routing':
      return <MailRouting email={email} />;
    case 'details':
      return <MailDetails email={email} />;
    case 'source':
      return <MailSource email={email} />;
  }
}

function CodeFound({ value }: { value: string }) {
  return (
    <div class="code-found">
      <div>
        <p class="code-label">Code in this mail</p>
        <p class="code-value mono">{value}</p>
      </div>
      <CopyButton text={value} what="code" isLabeled kind="primary" />
    </div>
  );
}

// `Ann <ann@example.com>, bob@example.com`
function named(addresses: Email['to']): string {
  return addresses
    .map(({ address, name }) => (name === '' ? address : `${name} <${address}>`))
    .join(', ');
}

function MailHead({ email }: { email: Email }) {
  const now = useNow();
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <>
      <h2 class="mail-title breaks" tabIndex={-1} data-focus ref={heading}>
        <bdi>{email.subject || '(no subject)'}</bdi>
      </h2>
      <dl class="mail-people">
        <div>
          <dt>From</dt>
          <dd class="breaks">
            {email.fromName && (
              <strong>
                <bdi>{email.fromName}</bdi>{' '}
              </strong>
            )}
            <bdi class="muted">{email.from ? `<${email.from}>` : 'no sender'}</bdi>
          </dd>
        </div>
        <div>
          <dt>To</dt>
          <dd class="breaks">
            <bdi>{named(email.to) || email.recipients.join(', ')}</bdi>
          </dd>
        </div>
        {email.cc.length > 0 && (
          <div>
            <dt>Copy</dt>
            <dd class="breaks">
              <bdi>{named(email.cc)}</bdi>
            </dd>
          </div>
        )}
        {email.bcc.length > 0 && email.to.length > 0 && (
          <div>
            <dt>Hidden copy</dt>
            <dd class="breaks">
              <bdi>{named(email.bcc)}</bdi>
            </dd>
          </div>
        )}
        <div>
          <dt>Received</dt>
          <dd>
            <time dateTime={email.receivedAt} title={moment(email.receivedAt)}>
              {moment(email.receivedAt)} <span class="muted">({ago(email.receivedAt, now)})</span>
            </time>
          </dd>
        </div>
      </dl>
    </>
  );
}

interface MailViewProps {
  inboxId: string;
  emailId: string;
  onRead: () => void;
  onDeleted: () => void;
}

// One mail with all there is to know about it. Opening it marks it as read.
export function MailView({ inboxId, emailId, onRead, onDeleted }: MailViewProps) {
  const announce = useAnnounce();
  const [chosen, setChosen] = useState<Part | null>(null);
  const [isDeleting, setDeleting] = useState(false);
  const found = useResource(`email ${emailId}`, async (signal) => {
    const email = await api.email(emailId, signal);
    // Not worth a word when it fails: the mail is there to be read all the same.
    if (!email.isRead) void api.markRead(emailId, true).then(onRead, () => {});
    return email;
  });
  const email = found.value;
  if (!email) {
    return (
      <section class="panel mail-view" aria-label="Chosen mail">
        <p class="crumb narrow-only">
          <a href={paths.inbox(inboxId)}>
            <Icon name="back" />
            All mail of this inbox
          </a>
        </p>
        {found.error ? (
          <ErrorNotice error={found.error} onRetry={found.reload} />
        ) : (
          <Loading what="the mail" />
        )}
      </section>
    );
  }
  const parts = partsOf(email);
  const part = chosen ?? (email.html === null ? 'text' : 'html');
  const code = email.codes[0]?.value;
  return (
    <section class="panel mail-view" aria-label="Chosen mail">
      <div class="mail-bar">
        <p class="crumb narrow-only">
          <a href={paths.inbox(inboxId)}>
            <Icon name="back" />
            All mail of this inbox
          </a>
        </p>
        <IconButton icon="trash" label="Delete this mail" onClick={() => setDeleting(true)} />
      </div>
      <MailHead email={email} />
      {code && <CodeFound value={code} />}
      <Tabs label="Parts of the mail" tabs={parts} chosen={part} onChoose={setChosen}>
        <Shown email={email} part={part} />
      </Tabs>
      {isDeleting && (
        <FormDialog
          title="Delete this mail?"
          submit="Delete mail"
          kind="danger"
          onClose={() => setDeleting(false)}
          onSubmit={async () => {
            await api.deleteEmail(emailId);
            announce('The mail is deleted');
            setDeleting(false);
            onDeleted();
          }}
        >
          <p class="breaks">“{email.subject || '(no subject)'}” is gone then, for good.</p>
        </FormDialog>
      )}
    </section>
  );
}
