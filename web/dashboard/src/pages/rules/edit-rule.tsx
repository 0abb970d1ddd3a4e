import { useState } from 'preact/hooks';
import {
  api,
  type Condition,
  type Rule,
  type RuleField,
  type RuleOperator,
  type RuleFields,
  type Webhook,
} from '../../api';
import { Button, IconButton } from '../../ui/button';
import { FormDialog } from '../../ui/dialog';
import { CheckField, SelectField, TextField } from '../../ui/field';
import { Notice } from '../../ui/notice';
import { RuleTester } from './tester';
import { choices, FIELDS, MAX_CONDITIONS, OPERATORS } from './rule-words';

function ConditionRow({
  number,
  condition,
  onChange,
  onRemove,
}: {
  number: number;
  condition: Condition;
  onChange: (changed: Condition) => void;
  onRemove: () => void;
}) {
  return (
    <div class="condition">
      <select
        class="input"
        aria-label={`Field of condition ${number}`}
        value={condition.field}
        onChange={(event) =>
          onChange({ ...condition, field: event.currentTarget.value as RuleField })
        }
      >
        {choices(FIELDS).map((it) => (
          <option key={it.value} value={it.value}>
            {it.text}
          </option>
        ))}
      </select>
      <select
        class="input"
        aria-label={`Operator of condition ${number}`}
        value={condition.operator}
        onChange={(event) =>
          onChange({ ...condition, operator: event.currentTarget.value as RuleOperator })
        }
      >
        {choices(OPERATORS).map((it) => (
          <option key={it.value} value={it.value}>
            {it.text}
          </option>
        ))}
      </select>
      <input
        class="input"
        aria-label={`Value of condition ${number}`}
        required
        maxLength={500}
        value={condition.value}
        onInput={(event) => onChange({ ...condition, value: event.currentTarget.value })}
      />
      <IconButton icon="close" label={`Remove condition ${number}`} onClick={onRemove} />
    </div>
  );
}

function Conditions({
  conditions,
  onChange,
}: {
  conditions: Condition[];
  onChange: (changed: Condition[]) => void;
}) {
  return (
    <fieldset class="stack tight">
      <legend class="legend">Conditions</legend>
      {conditions.length === 0 ? (
        <Notice>
          Without conditions this is a catch-all: it takes every mail, also mail that other rules
          take.
        </Notice>
      ) : (
        <p class="hint">All of them must match. Upper and lower case are the same.</p>
      )}
      {conditions.map((condition, index) => (
        <ConditionRow
          key={index}
          number={index + 1}
          condition={condition}
          onChange={(changed) =>
            onChange(conditions.map((it, at) => (at === index ? changed : it)))
          }
          onRemove={() => onChange(conditions.filter((_, at) => at !== index))}
        />
      ))}
      {conditions.length < MAX_CONDITIONS && (
        <div>
          <Button
            size="small"
            icon="plus"
            onClick={() =>
              onChange([...conditions, { field: 'subject', operator: 'contains', value: '' }])
            }
          >
            Add a condition
          </Button>
        </div>
      )}
    </fieldset>
  );
}

// A new rule, or a change of one, with a tester for what is not saved yet.
export function EditRule({
  rule,
  webhooks,
  onClose,
  onDone,
}: {
  rule?: Rule;
  webhooks: readonly Webhook[];
  onClose: () => void;
  onDone: () => void;
}) {
  const [draft, setDraft] = useState<RuleFields>({
    name: rule?.name ?? '',
    webhookId: rule?.webhookId ?? webhooks[0]?.webhookId ?? '',
    conditions: rule?.conditions ?? [{ field: 'subject', operator: 'contains', value: '' }],
    isEnabled: rule?.isEnabled ?? true,
  });
  const [isTesting, setTesting] = useState(false);
  const change = (what: Partial<RuleFields>) => setDraft((was) => ({ ...was, ...what }));

  return (
    <FormDialog
      title={rule ? 'Edit rule' : 'New rule'}
      submit={rule ? 'Save' : 'Create rule'}
      isWide
      onClose={onClose}
      onSubmit={async () => {
        const fields = { ...draft, name: draft.name.trim() };
        await (rule ? api.changeRule(rule.id, fields) : api.createRule(fields));
        onClose();
        onDone();
      }}
    >
      <TextField
        label="Name"
        required
        maxLength={100}
        value={draft.name}
        onInput={(name) => change({ name })}
        placeholder="Invoices to accounting"
      />
      <Conditions conditions={draft.conditions} onChange={(conditions) => change({ conditions })} />
      <SelectField
        label="Deliver to"
        value={draft.webhookId}
        options={webhooks.map((it) => ({
          value: it.webhookId,
          text: it.description ? `${it.description} (${it.url})` : it.url,
        }))}
        onChange={(webhookId) => change({ webhookId })}
      />
      <CheckField
        label="On"
        hint="A rule that is off matches nothing."
        checked={draft.isEnabled}
        onChange={(isEnabled) => change({ isEnabled })}
      />
      <div>
        <Button size="small" expanded={isTesting} onClick={() => setTesting(!isTesting)}>
          Try it on a mail
        </Button>
      </div>
      {isTesting && (
        <RuleTester
          webhooks={webhooks}
          drafts={[{ ...draft, name: draft.name.trim(), ...(rule && { id: rule.id }) }]}
        />
      )}
    </FormDialog>
  );
}
