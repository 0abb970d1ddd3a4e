import { useState } from 'preact/hooks';
import { api, type Attachment, type Email } from '../../api';
import { useAction, useResource } from '../../resource';
import { bytes, moment } from '../../time';
import { Button } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { ErrorNotice, Loading } from '../../ui/notice';
import { save, sourceText } from './source-text';

const MAX_SOURCE_SHOWN = 200_000; // characters; all of it is in the download

export function MailHeaders({ email }: { email: Email }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Headers">
      <table class="table headers">
        <thead class="unseen">
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {email.headers.map((it, index) => (
            <tr key={index}>
              <th scope="row">{it.name}</th>
              <td class="mono breaks">{it.value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AttachmentRow({ emailId, attachment }: { emailId: string; attachment: Attachment }) {
  const saving = useAction();
  const name = attachment.filename || 'unnamed part';
  return (
    <li class="row-item">
      <div class="row-main">
        <p class="row-title breaks">
          <bdi>{name}</bdi>
        </p>
        <p class="row-note breaks">
          {attachment.contentType} · {bytes(attachment.sizeBytes)}
          {attachment.isInline && ' · shown within the mail'}
        </p>
        <ErrorNotice error={saving.error} />
      </div>
      <Button
        size="small"
        icon="download"
        isBusy={saving.isBusy}
        label={`Download ${name}`}
        onClick={() =>
          void saving.run(async () => {
            const found = await api.attachmentFile(emailId, attachment.attachmentId);
            save(found, attachment.filename);
          })
        }
      >
        Download
      </Button>
    </li>
  );
}

export function MailAttachments({ email }: { email: Email }) {
  if (email.attachments.length === 0) return <p class="muted">This mail has no attachments.</p>;
  return (
    <ul class="rows framed">
      {email.attachments.map((it) => (
        <AttachmentRow key={it.attachmentId} emailId={email.emailId} attachment={it} />
      ))}
    </ul>
  );
}

export function MailSource({ email }: { email: Email }) {
  const source = useResource(`source ${email.emailId}`, (signal) =>
    api.source(email.emailId, signal),
  );
  const [isWrapped, setWrapped] = useState(true);
  if (!source.value)
    return source.error ? (
      <ErrorNotice error={source.error} onRetry={source.reload} />
    ) : (
      <Loading what="the source" />
    );
  const raw = source.value;
  const text = sourceText(raw);
  return (
    <div class="stack tight">
      <div class="row">
        <Button size="small" icon="download" onClick={() => save(raw, `${email.emailId}.eml`)}>
          Download .eml
        </Button>
        <Button size="small" onClick={() => setWrapped(!isWrapped)}>
          {isWrapped ? 'Keep long lines' : 'Wrap long lines'}
        </Button>
        <span class="muted small">{bytes(raw.byteLength)}</span>
      </div>
      {text.length > MAX_SOURCE_SHOWN && (
        <p class="muted small">Only the beginning is shown; the download has all of it.</p>
      )}
      <pre
        class={isWrapped ? 'source wrapped' : 'source'}
        tabIndex={0}
        role="region"
        aria-label="Source"
      >
        {text.slice(0, MAX_SOURCE_SHOWN)}
      </pre>
    </div>
  );
}

// Shows how the mail came, and the codes and links found in it.
export function MailDetails({ email }: { email: Email }) {
  const { envelope } = email;
  const facts: [string, string][] = [
    ['Received', moment(email.receivedAt)],
    ['Sent, as it says', moment(email.date)],
    ['Envelope sender', envelope.mailFrom || '(empty)'],
    ['Envelope recipients', email.recipients.join(', ')],
    [
      'Came from',
      `${envelope.remoteAddress}${envelope.helo && `, which calls itself ${envelope.helo}`}`,
    ],
    ['Encrypted', envelope.tls ?? 'no'],
    ['Size', bytes(email.sizeBytes)],
    ['Sequence in the inbox', String(email.sequence)],
    ['Message-ID', email.messageId ?? '–'],
    ['Email id', email.emailId],
  ];
  return (
    <div class="stack">
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="breaks">{value}</dd>
          </div>
        ))}
      </dl>
      {email.links.length > 0 && (
        <section class="stack tight">
          <h3>Links found</h3>
          <ul class="stack tight">
            {email.links.map((it, index) => (
              <li key={index} class="link-found">
                {it.kind !== 'other' && <span class="badge accent">{it.kind}</span>}
                {/^https?:/i.test(it.url) ? (
                  <a class="breaks" href={it.url} target="_blank" rel="noopener noreferrer">
                    {it.url}
                  </a>
                ) : (
                  <code class="breaks">{it.url}</code>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {email.defects.length > 0 && (
        <section class="stack tight">
          <h3>What is odd about its form</h3>
          <ul class="bullets">
            {email.defects.map((it) => (
              <li key={it}>{it}</li>
            ))}
          </ul>
        </section>
      )}
      {email.codes.length > 1 && (
        <p class="muted small row">
          <Icon name="key" />
          Other possible codes:{' '}
          {email.codes
            .slice(1)
            .map((it) => it.value)
            .join(', ')}
        </p>
      )}
    </div>
  );
}
