import type { TestedRule, RuleOutcome } from '../../api';
import { Icon } from '../../ui/icon';
import { FIELDS, OPERATORS } from './rule-words';

function TestedRuleItem({ rule }: { rule: TestedRule }) {
  return (
    <li class={rule.isMatch ? 'outcome matched' : 'outcome'}>
      <div class="outcome-head">
        <span class={rule.isMatch ? 'badge good' : 'badge'}>
          {rule.isMatch ? 'matches' : 'does not match'}
        </span>
        <strong class="breaks">{rule.name || 'Unnamed rule'}</strong>
        {!rule.isEnabled && <span class="badge warn">off</span>}
      </div>
      {rule.conditions.length === 0 ? (
        <p class="muted small">No conditions: it matches every mail.</p>
      ) : (
        <ul class="outcome-conditions">
          {rule.conditions.map((it, index) => (
            <li key={index} class={it.isMatch ? 'yes' : 'no'}>
              <Icon name={it.isMatch ? 'check' : 'close'} />
              <p class="breaks">
                <span class="unseen">{it.isMatch ? 'Matched: ' : 'Not matched: '}</span>
                {FIELDS[it.field]} {OPERATORS[it.operator]} <code>{it.value}</code>
                <span class="muted small actual">
                  The mail has: <code>{it.actual || '(empty)'}</code>
                </span>
              </p>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

// The tester's answer, rule by rule and condition by condition.
export function RuleOutcomes({ outcome }: { outcome: RuleOutcome }) {
  if (outcome.rules.length === 0) return <p class="muted">There are no rules to ask.</p>;
  return (
    <ul class="outcomes">
      {outcome.rules.map((rule, index) => (
        <TestedRuleItem key={rule.id ?? index} rule={rule} />
      ))}
    </ul>
  );
}
