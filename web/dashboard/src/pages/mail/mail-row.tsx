import type { EmailSummary } from '../../api';
import { useNow } from '../../clock';
import { paths } from '../../routes';
import { ago, moment } from '../../time';
import { Icon } from '../../ui/icon';

// The first of the recipients, and how many more there are.
function Recipients({ recipients }: { recipients: readonly string[] }) {
  const [first = '', ...others] = recipients;
  return (
    <span class="mail-to cut" title={recipients.join(', ')}>
      to <bdi>{first}</bdi>
      {others.length > 0 && ` and ${others.length} more`}
    </span>
  );
}

// One mail of a list: who, what, when, and the code it brought; where its inbox does not say to
// whom it came, that as well.
export function MailRow({
  email,
  isChosen = false,
  hasRecipients = false,
}: {
  email: EmailSummary;
  isChosen?: boolean;
  hasRecipients?: boolean;
}) {
  const now = useNow();
  const code = email.codes?.[0]?.value;
  return (
    <li class={email.isRead ? 'mail' : 'mail unread'}>
      <a
        href={paths.email(email.inboxId, email.emailId)}
        aria-current={isChosen ? 'true' : undefined}
      >
        <span class="mail-from cut">
          {!email.isRead && <span class="unseen">Unread: </span>}
          <bdi>{email.fromName || email.from || 'no sender'}</bdi>
        </span>
        <time class="mail-when" dateTime={email.receivedAt} title={moment(email.receivedAt)}>
          {ago(email.receivedAt, now)}
        </time>
        <span class="mail-subject cut">
          <bdi>{email.subject || '(no subject)'}</bdi>
        </span>
        <span class="mail-marks">
          {email.attachmentCount > 0 && (
            <>
              <Icon name="paperclip" />
              <span class="unseen">has attachments</span>
            </>
          )}
          {code && (
            <span class="badge accent mono">
              <span class="unseen">code </span>
              {code}
            </span>
          )}
        </span>
        {hasRecipients && <Recipients recipients={email.recipients} />}
        <span class="mail-preview cut">
          <bdi>{email.preview}</bdi>
        </span>
      </a>
    </li>
  );
}
