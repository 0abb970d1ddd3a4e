import { useState } from 'preact/hooks';
import { api, ApiError, type Inbox, type SenderReport, type SentMessage } from '../../api';
import { useNow } from '../../clock';
import { useResource } from '../../resource';
import { ago, moment } from '../../time';
import { Button } from '../../ui/button';
import { ErrorNotice } from '../../ui/notice';
import {
  attemptText,
  connectionText,
  delayText,
  markRows,
  messagesText,
  messageText,
  notAppliedText,
  refusedText,
  stateOf,
  type Tone,
} from './sender-words';

const badge = (tone: Tone) => (tone === 'plain' ? 'badge' : `badge ${tone}`);

const hasReport = ({ capture, emailAddress }: Inbox) =>
  Boolean(capture) || emailAddress.startsWith('*@');

// An inbox of which no attempts are kept has no report.
async function loadReport(inboxId: string, signal: AbortSignal): Promise<SenderReport | null> {
  try {
    return await api.senderReport(inboxId, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

function Marks({ report }: { report: SenderReport }) {
  return (
    <ul class="rows" aria-label="Marks">
      {markRows(report.marks).map(({ name, said, tone, detail, note }) => (
        <li key={name} class="row-item">
          <div class="row-main">
            <p class="row-title">{name}</p>
            <p class="row-note">{detail}</p>
            {note && <p class="row-note breaks">{note}</p>}
          </div>
          <span class={badge(tone)}>{said}</span>
        </li>
      ))}
    </ul>
  );
}

function MessageRow({ message }: { message: SentMessage }) {
  const now = useNow();
  const [said, tone] = stateOf(message);
  return (
    <li class="row-item">
      <div class="row-main">
        <p class="row-title breaks">
          <bdi>{message.messageId ?? '(no Message-ID was read)'}</bdi>
        </p>
        <p class="row-note breaks">
          <bdi>{messageText(message)}</bdi>
          {message.ambiguous && ' · other messages may be among these attempts'}
        </p>
        <ol class="attempts">
          {message.attempts.map((attempt, index) => (
            <li key={attempt.number} value={attempt.number}>
              <p class="breaks">
                <span class="muted" title={moment(attempt.at)}>
                  {index === 0
                    ? ago(attempt.at, now)
                    : delayText(message.delaysSeconds[index - 1] ?? 0)}
                </span>
                {' · '}
                {attemptText(attempt)}
              </p>
              {refusedText(attempt).map((text, at) => (
                <p key={at} class="breaks">
                  {text}
                </p>
              ))}
              <p class="muted small">{connectionText(attempt)}</p>
            </li>
          ))}
        </ol>
      </div>
      <span class={badge(tone)}>{said}</span>
    </li>
  );
}

function Report({ report }: { report: SenderReport }) {
  return (
    <>
      <Marks report={report} />
      <h3 class="report-part">{messagesText(report.messages)}</h3>
      <ol class="rows" aria-label="Messages">
        {report.messages.map((message) => (
          <MessageRow key={message.attempts[0]?.number} message={message} />
        ))}
      </ol>
      {report.notApplied.length > 0 && (
        <>
          <h3 class="report-part">Faults that were not played</h3>
          <ul class="rows" aria-label="Faults that were not played">
            {report.notApplied.map((it, index) => (
              <li key={index} class="row-item">
                <p class="row-main breaks">{notAppliedText(it)}</p>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

// What senders did with the inbox, marked by the RFCs.
export function SenderReportPanel({ inbox }: { inbox: Inbox }) {
  const { inboxId } = inbox;
  // Others have one only while they have faults: it is loaded on a click.
  const [isRequested, setRequested] = useState(hasReport(inbox));
  const found = useResource(`sender report ${inboxId} ${isRequested}`, (signal) =>
    isRequested ? loadReport(inboxId, signal) : Promise.resolve(null),
  );
  const report = found.value;
  const look = () => {
    if (isRequested) found.reload();
    else setRequested(true);
  };
  return (
    <section class="panel sender-report" aria-labelledby="sender-report">
      <div class="panel-head">
        <h2 id="sender-report">Sender report</h2>
        <Button size="small" icon="refresh" isBusy={found.isLoading} onClick={look}>
          Look again
        </Button>
      </div>
      <ErrorNotice error={found.error} onRetry={found.reload} />
      {report === null && (
        <p class="panel-empty">
          With a login, faults or a catch-all you see here what senders do after a refusal, and
          where they differ from the RFCs.
        </p>
      )}
      {report?.messages.length === 0 && (
        <p class="panel-empty">Nobody sent anything here in the last 72 hours.</p>
      )}
      {report && report.messages.length > 0 && <Report report={report} />}
    </section>
  );
}
