import { useState } from 'preact/hooks';
import { api, type Rule, type Sample, type RuleOutcome, type Webhook } from '../../api';
import { useNow } from '../../clock';
import { useAction, useResource } from '../../resource';
import { ago } from '../../time';
import { Button } from '../../ui/button';
import { SelectField, TextField } from '../../ui/field';
import { ErrorNotice, Loading } from '../../ui/notice';
import { RuleOutcomes } from './rule-outcomes';

type Source = 'sample' | 'stored';

function StoredMail({ chosen, onChoose }: { chosen: string; onChoose: (emailId: string) => void }) {
  const now = useNow();
  const emails = useResource('stored mail', (signal) => api.allEmails({ limit: 50 }, signal));
  if (!emails.value)
    return emails.error ? (
      <ErrorNotice error={emails.error} onRetry={emails.reload} />
    ) : (
      <Loading what="your mail" />
    );
  if (emails.value.emails.length === 0)
    return <p class="muted">None of your live inboxes holds a mail. Type a sample instead.</p>;
  return (
    <SelectField
      label="Mail"
      value={chosen}
      options={[
        { value: '', text: 'Choose a mail …' },
        ...emails.value.emails.map((it) => ({
          value: it.emailId,
          text: `${it.subject || '(no subject)'} · ${it.from} · ${ago(it.receivedAt, now)}`,
        })),
      ]}
      onChange={onChoose}
    />
  );
}

function Outcome({ outcome, webhooks }: { outcome: RuleOutcome; webhooks: readonly Webhook[] }) {
  const urls = outcome.webhookIds.map(
    (id) => webhooks.find((it) => it.webhookId === id)?.url ?? id,
  );
  return (
    <div class="stack tight" role="status">
      {urls.length === 0 ? (
        <p>
          <strong>It would be delivered nowhere.</strong>
        </p>
      ) : (
        <div>
          <p>
            <strong>It would be delivered to</strong>
          </p>
          <ul class="bullets">
            {urls.map((it) => (
              <li key={it} class="mono breaks small">
                {it}
              </li>
            ))}
          </ul>
        </div>
      )}
      <RuleOutcomes outcome={outcome} />
    </div>
  );
}

// Shows what the server's own evaluator decides for a mail: a typed sample or a stored one. With
// `drafts`, those are tested instead of the saved rules.
export function RuleTester({
  webhooks,
  drafts,
}: {
  webhooks: readonly Webhook[];
  drafts?: Partial<Rule>[];
}) {
  const [source, setSource] = useState<Source>('sample');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [subject, setSubject] = useState('');
  const [emailId, setEmailId] = useState('');
  const [outcome, setOutcome] = useState<RuleOutcome | null>(null);
  const testing = useAction();
  const sample: Sample = source === 'sample' ? { from, to, subject } : { emailId };
  const test = () => void testing.run(async () => setOutcome(await api.testRules(sample, drafts)));

  return (
    <div class="tester stack">
      <div class="segments" role="group" aria-label="Test with">
        {(['sample', 'stored'] as const).map((it) => (
          <button key={it} type="button" aria-pressed={source === it} onClick={() => setSource(it)}>
            {it === 'sample' ? 'A sample' : 'A stored mail'}
          </button>
        ))}
      </div>
      {source === 'sample' ? (
        <div class="thirds">
          <TextField
            label="Sender"
            value={from}
            onInput={setFrom}
            placeholder="billing@shop.example"
          />
          <TextField label="Recipient" value={to} onInput={setTo} placeholder="inbox@…" />
          <TextField
            label="Subject"
            value={subject}
            onInput={setSubject}
            placeholder="Your invoice"
          />
        </div>
      ) : (
        <StoredMail chosen={emailId} onChoose={setEmailId} />
      )}
      <div>
        <Button
          icon="check"
          isBusy={testing.isBusy}
          disabled={source === 'stored' && !emailId}
          onClick={test}
        >
          Test
        </Button>
      </div>
      <ErrorNotice error={testing.error} />
      {outcome && <Outcome outcome={outcome} webhooks={webhooks} />}
    </div>
  );
}
