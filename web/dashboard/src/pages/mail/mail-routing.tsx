import type { Email } from '../../api';
import { api } from '../../api';
import { hasFeature } from '../../plans';
import { useResource } from '../../resource';
import { paths } from '../../routes';
import { useSession } from '../../session';
import { ErrorNotice, Loading } from '../../ui/notice';
import { PlansWith } from '../plans-with';
import { RuleOutcomes } from '../rules/rule-outcomes';

// Explains which webhooks got this mail: what was decided when it came, and what the rules of today
// say, condition by condition.
export function MailRouting({ email }: { email: Email }) {
  const { limits } = useSession();
  const mayRoute = hasFeature(limits, 'rules');
  const rules = useResource(`rules ${mayRoute}`, async (signal) =>
    mayRoute ? (await api.rules(signal)).rules : [],
  );
  const outcome = useResource(`outcome ${email.emailId} ${mayRoute}`, async () =>
    mayRoute ? api.testRules({ emailId: email.emailId }) : null,
  );

  if (!mayRoute) {
    return (
      <p>
        Without routing rules, every webhook that listens to <code>email.received</code> gets each
        mail. Rules that choose by sender, recipient or subject come with{' '}
        <PlansWith feature="rules" />.
      </p>
    );
  }
  if (!rules.value)
    return rules.error ? (
      <ErrorNotice error={rules.error} onRetry={rules.reload} />
    ) : (
      <Loading what="the rules" />
    );
  const names = new Map(rules.value.map((it) => [it.id, it.name]));

  return (
    <div class="stack">
      <section class="stack tight">
        <h3>When it came</h3>
        {email.routing === null && (
          <p class="muted">
            No record: rules were not asked, the record is older than 30 days, or it is still being
            written.
          </p>
        )}
        {email.routing?.length === 0 && (
          <p class="muted">There were no rules, so every webhook that listens to mail got it.</p>
        )}
        {email.routing && email.routing.length > 0 && (
          <ul class="stack tight">
            {email.routing.map((it) => (
              <li key={it.ruleId} class="row">
                <span class={it.isMatch ? 'badge good' : 'badge'}>
                  {it.isMatch ? 'matched' : 'did not match'}
                </span>
                {names.get(it.ruleId) ?? 'A rule that was deleted since'}
              </li>
            ))}
          </ul>
        )}
      </section>
      <section class="stack tight">
        <h3>What the rules say now</h3>
        {rules.value.length === 0 ? (
          <p class="muted">
            There are no rules. <a href={paths.rules}>Create one</a>
          </p>
        ) : outcome.value ? (
          <RuleOutcomes outcome={outcome.value} />
        ) : outcome.error ? (
          <ErrorNotice error={outcome.error} onRetry={outcome.reload} />
        ) : (
          <Loading what="the outcome" />
        )}
      </section>
    </div>
  );
}
