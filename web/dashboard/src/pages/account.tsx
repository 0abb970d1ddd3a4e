import { useState } from 'preact/hooks';
import { api, type Limits } from '../api';
import { limitFacts, planName, priceText, requestsADay } from '../plans';
import { useAction, useResource } from '../resource';
import { paths } from '../routes';
import { useSession, useStanding } from '../session';
import { bytes, count, moment } from '../time';
import { useAnnounce } from '../ui/announce';
import { Button } from '../ui/button';
import { FormDialog } from '../ui/dialog';
import { TextField } from '../ui/field';
import { ErrorNotice, Loading } from '../ui/notice';
import { PageHead } from '../ui/page';
import { loadSubdomains } from './subdomains';

const MIN_CHARACTERS = 10;

function PlanPanel() {
  const { plan, planEndsAt, limits } = useSession();
  return (
    <section class="panel padded" aria-labelledby="plan-title">
      <div class="row">
        <h2 id="plan-title">Plan</h2>
        <span class="badge accent">{planName(plan)}</span>
      </div>
      {planEndsAt && <p>It ends {moment(planEndsAt)}; the account is on Free from then on.</p>}
      <dl class="facts">
        {limitFacts(limits).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="numbers">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

// The difference between two plans in a line.
function offer(limits: Limits): string {
  const parts = [
    count(limits.liveInboxes, 'live inbox', 'live inboxes'),
    `mail up to ${bytes(limits.maxMessageBytes)}`,
    limits.apiKeys === 0 ? 'no API' : `${requestsADay(limits)} API requests a day`,
    limits.webhooks > 0 && count(limits.webhooks, 'webhook'),
    limits.routingRules > 0 && count(limits.routingRules, 'routing rule'),
  ];
  return parts.filter(Boolean).join(' · ');
}

function PricePanel() {
  const { plan } = useSession();
  const plans = useResource('plans', (signal) => api.plans(signal));
  return (
    <section class="panel padded" aria-labelledby="prices-title">
      <h2 id="prices-title">Plans and prices</h2>
      <ErrorNotice error={plans.error} onRetry={plans.reload} />
      {!plans.value && plans.isLoading && <Loading what="the prices" />}
      {plans.value && (
        <dl class="facts">
          {plans.value.plans.map((it) => (
            <div key={it.plan}>
              <dt>
                {planName(it.plan)}{' '}
                {it.plan === plan && <span class="badge accent">your plan</span>}
              </dt>
              <dd>
                <span class="numbers">{priceText(it.price)}</span>
                <br />
                <span class="muted small">{offer(it.limits)}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <p class="muted small">The operator of this service changes plans.</p>
    </section>
  );
}

// The subdomains that the account holds, each with its catch-all. Accounts without any are shown
// nothing if their plan has none.
function SubdomainPanel() {
  const { limits } = useSession();
  const subdomains = useResource('subdomains', loadSubdomains);
  const held = subdomains.value ?? [];
  if (limits.catchAlls === 0 && held.length === 0) return null;
  return (
    <section class="panel padded" aria-labelledby="subdomains-title">
      <h2 id="subdomains-title">Subdomains</h2>
      <p class="muted">
        Your account alone has inboxes on them. The catch-all gets the mail to every name that no
        other live inbox has.
      </p>
      <ErrorNotice error={subdomains.error} onRetry={subdomains.reload} />
      {!subdomains.value && subdomains.isLoading && <Loading what="your subdomains" />}
      {subdomains.value && held.length === 0 && (
        <p>
          You hold none. <a href={paths.inboxes}>Create an inbox</a> with the address <code>*</code>
          .
        </p>
      )}
      {held.length > 0 && (
        <dl class="facts">
          {held.map(({ domain, catchAll }) => (
            <div key={domain}>
              <dt class="mono breaks">{domain}</dt>
              <dd>
                {catchAll ? (
                  <a class="mono breaks" href={paths.inbox(catchAll.inboxId)}>
                    {catchAll.emailAddress}
                  </a>
                ) : (
                  'no catch-all'
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function PasswordPanel() {
  const { emailAddress } = useSession();
  const { enter } = useStanding();
  const announce = useAnnounce();
  const [current, setCurrent] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const changing = useAction();
  return (
    <section class="panel padded" aria-labelledby="password-title">
      <h2 id="password-title">Password</h2>
      <form
        class="stack narrow"
        onSubmit={(event) => {
          event.preventDefault();
          void changing.run(async () => {
            enter(await api.changePassword(current, newPassword));
            setCurrent('');
            setNewPassword('');
            announce('Your password is changed; other devices are signed out');
          });
        }}
      >
        <input
          class="unseen"
          type="text"
          autoComplete="username"
          value={emailAddress}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          value={current}
          onInput={setCurrent}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          minLength={MIN_CHARACTERS}
          hint={`At least ${MIN_CHARACTERS} characters. Every other device is signed out.`}
          value={newPassword}
          onInput={setNewPassword}
        />
        <ErrorNotice error={changing.error} />
        <div>
          <Button type="submit" isBusy={changing.isBusy}>
            Change password
          </Button>
        </div>
      </form>
    </section>
  );
}

function SessionsPanel() {
  const { leave } = useStanding();
  const leaving = useAction();
  const [isAsking, setAsking] = useState(false);
  return (
    <section class="panel padded" aria-labelledby="sessions-title">
      <h2 id="sessions-title">Signing out</h2>
      <p class="muted">
        Everywhere means every browser that is signed in to this account, this one too. API keys
        stay good.
      </p>
      <ErrorNotice error={leaving.error} />
      <div class="row">
        <Button
          icon="out"
          isBusy={leaving.isBusy}
          onClick={() =>
            void leaving.run(async () => {
              await api.signOut();
              leave();
            })
          }
        >
          Sign out
        </Button>
        <Button kind="danger" onClick={() => setAsking(true)}>
          Sign out everywhere
        </Button>
      </div>
      {isAsking && (
        <FormDialog
          title="Sign out everywhere?"
          submit="Sign out everywhere"
          kind="danger"
          onClose={() => setAsking(false)}
          onSubmit={async () => {
            await api.signOutEverywhere();
            leave();
          }}
        >
          <p>Whoever uses this account in a browser has to sign in again.</p>
        </FormDialog>
      )}
    </section>
  );
}

export function AccountPage() {
  const { emailAddress, accountId } = useSession();
  return (
    <>
      <PageHead title="Account" lead={<span class="breaks">{emailAddress}</span>} />
      <div class="stack loose">
        <PlanPanel />
        <SubdomainPanel />
        <PricePanel />
        <PasswordPanel />
        <SessionsPanel />
        <p class="muted small breaks">
          Account id <code>{accountId}</code>
        </p>
      </div>
    </>
  );
}
