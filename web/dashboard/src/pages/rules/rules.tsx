import { useState } from 'preact/hooks';
import { api, type Rule, type Webhook } from '../../api';
import { hasFeature, isPastPlan } from '../../plans';
import { useAction, useResource } from '../../resource';
import { paths } from '../../routes';
import { useSession } from '../../session';
import { useAnnounce } from '../../ui/announce';
import { Button, IconButton } from '../../ui/button';
import { FormDialog } from '../../ui/dialog';
import { FeatureNotice, PastPlan } from '../../ui/feature';
import { Switch } from '../../ui/field';
import { Empty, ErrorNotice, Loading } from '../../ui/notice';
import { PageHead } from '../../ui/page';
import { PlansWith } from '../plans-with';
import { WebhookTabs } from '../webhooks/webhook-tabs';
import { EditRule } from './edit-rule';
import { sentence } from './rule-words';
import { RuleTester } from './tester';

type OpenDialog = { what: 'create' } | { what: 'edit' | 'delete'; rule: Rule } | null;

interface Row {
  rule: Rule;
  webhook: Webhook | undefined;
  isPast: boolean;
  isOffered: boolean;
  onOpenDialog: (dialog: OpenDialog) => void;
  onChanged: () => void;
}

// On a plan without rules all that is left to do with one is to delete it.
function RuleRow({ rule, webhook, isPast, isOffered, onOpenDialog, onChanged }: Row) {
  const switching = useAction();
  return (
    <li class="row-item">
      <div class="row-main">
        <p class="row-title breaks">
          {rule.name} {rule.conditions.length === 0 && <span class="badge accent">catch-all</span>}{' '}
          {isPast && <PastPlan />}
        </p>
        <p class="breaks">{sentence(rule.conditions)}</p>
        <p class="row-note breaks">
          to <span class="mono">{webhook?.url ?? 'a webhook that is gone'}</span>
          {webhook && !webhook.isEnabled && ' (off: what it would get is kept as failed)'}
        </p>
        <ErrorNotice error={switching.error} />
      </div>
      <div class="row-actions">
        {isOffered && (
          <>
            <Switch
              label={`Rule ${rule.name}`}
              checked={rule.isEnabled}
              isBusy={switching.isBusy}
              onChange={(isEnabled) =>
                void switching.run(async () => {
                  await api.changeRule(rule.id, { isEnabled });
                  onChanged();
                })
              }
            />
            <Button
              size="small"
              label={`Edit rule ${rule.name}`}
              onClick={() => onOpenDialog({ what: 'edit', rule })}
            >
              Edit
            </Button>
          </>
        )}
        <IconButton
          icon="trash"
          label={`Delete rule ${rule.name}`}
          onClick={() => onOpenDialog({ what: 'delete', rule })}
        />
      </div>
    </li>
  );
}

function DeleteRule({
  rule,
  onClose,
  onDone,
}: {
  rule: Rule;
  onClose: () => void;
  onDone: () => void;
}) {
  const announce = useAnnounce();
  return (
    <FormDialog
      title="Delete this rule?"
      submit="Delete rule"
      kind="danger"
      onClose={onClose}
      onSubmit={async () => {
        await api.deleteRule(rule.id);
        announce(`Deleted the rule ${rule.name}`);
        onClose();
        onDone();
      }}
    >
      <p class="breaks">
        <strong>{rule.name}</strong> no longer routes mail from now on. This cannot be undone.
      </p>
    </FormDialog>
  );
}

function HowItWorks() {
  return (
    <details class="panel explain">
      <summary>How routing works</summary>
      <ul class="bullets">
        <li>
          A mail goes to the webhook of every rule that matches, once per webhook, whatever events
          that webhook listens to.
        </li>
        <li>
          All conditions of a rule must match. Upper and lower case are the same; there are no
          patterns.
        </li>
        <li>
          A rule without conditions is a catch-all: it matches every mail, also mail that other
          rules match.
        </li>
        <li>
          A mail no rule matches is delivered nowhere. Have a catch-all if nothing may be missed.
        </li>
        <li>With no rule on, every webhook that listens to email.received gets each mail.</li>
      </ul>
    </details>
  );
}

function RulesOffer() {
  return (
    <FeatureNotice
      icon="rule"
      title="Each mail to the right webhook"
      plans={<PlansWith feature="rules" />}
    >
      <p>
        Rules look at subject, sender and recipient of a mail and choose the webhooks that hear of
        it: invoices to accounting, sign-ups to your tests, the rest to a catch-all. A tester shows,
        condition by condition, what a rule says about a mail.
      </p>
    </FeatureNotice>
  );
}

// Rules outlive their plan: they route nothing then, and can still be read and deleted.
export function RulesPage() {
  const { limits } = useSession();
  const isOffered = hasFeature(limits, 'rules');
  const rules = useResource('rules', (signal) => api.rules(signal));
  const webhooks = useResource('webhooks', (signal) => api.webhooks(signal));
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const close = () => setDialog(null);
  const list = rules.value?.rules;
  const targets = webhooks.value?.webhooks ?? [];
  const error = rules.error ?? webhooks.error;
  const create = (
    <Button
      kind="primary"
      icon="plus"
      disabled={targets.length === 0}
      onClick={() => setDialog({ what: 'create' })}
    >
      New rule
    </Button>
  );
  const reload = () => {
    rules.reload();
    webhooks.reload();
  };

  return (
    <>
      <WebhookTabs />
      {isOffered ? (
        <PageHead
          title="Routing Rules"
          lead={`Decide which webhook hears of which mail. Up to ${limits.routingRules} rules.`}
        >
          {create}
        </PageHead>
      ) : (
        <PageHead title="Routing Rules" />
      )}
      <div class="stack loose">
        {!isOffered && <RulesOffer />}
        <ErrorNotice error={error} onRetry={reload} />
        {isOffered && !error && (!list || !webhooks.value) && <Loading what="your rules" />}
        {isOffered && list?.length === 0 && webhooks.value && targets.length === 0 && (
          <Empty
            icon="webhook"
            title="Rules need a webhook"
            action={
              <a class="button primary" href={paths.webhooks}>
                Go to webhooks
              </a>
            }
          >
            A rule sends mail to one of your webhooks, and there is none yet.
          </Empty>
        )}
        {isOffered && list?.length === 0 && targets.length > 0 && (
          <Empty icon="rule" title="No rule yet" action={create}>
            Until there is one, every webhook that listens to <code>email.received</code> gets each
            mail.
          </Empty>
        )}
        {list && list.length > 0 && (
          <ul class="panel rows">
            {list.map((it, index) => (
              <RuleRow
                key={it.id}
                rule={it}
                webhook={targets.find((target) => target.webhookId === it.webhookId)}
                isPast={isPastPlan(index, list.length, limits.routingRules)}
                isOffered={isOffered}
                onOpenDialog={setDialog}
                onChanged={rules.reload}
              />
            ))}
          </ul>
        )}
        {isOffered && <HowItWorks />}
        {isOffered && list && list.length > 0 && (
          <section class="panel padded" aria-labelledby="tester-title">
            <h2 id="tester-title">Test your rules</h2>
            <p class="muted">
              See what each condition says about a mail, before one comes. The same evaluator
              decides over real mail.
            </p>
            <RuleTester webhooks={targets} />
          </section>
        )}
      </div>
      {dialog?.what === 'create' && (
        <EditRule webhooks={targets} onClose={close} onDone={rules.reload} />
      )}
      {dialog?.what === 'edit' && (
        <EditRule rule={dialog.rule} webhooks={targets} onClose={close} onDone={rules.reload} />
      )}
      {dialog?.what === 'delete' && (
        <DeleteRule rule={dialog.rule} onClose={close} onDone={rules.reload} />
      )}
    </>
  );
}
