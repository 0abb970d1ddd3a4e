import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { Layout } from './layout';
import { LiveProvider } from './live';
import { AccountPage } from './pages/account';
import { InboxPage } from './pages/inboxes/inbox';
import { Inboxes } from './pages/inboxes/inboxes';
import { KeysPage } from './pages/keys/keys';
import { MailPage } from './pages/mail/mail-page';
import { NotFound } from './pages/not-found';
import { Overview } from './pages/overview/overview';
import { ResetPassword } from './pages/reset-password';
import { RulesPage } from './pages/rules/rules';
import { SignIn } from './pages/sign-in';
import { SignUp } from './pages/sign-up';
import { WebhookLog } from './pages/webhooks/webhook-log';
import { WebhooksPage } from './pages/webhooks/webhooks';
import { isPublic, paths, SCOPE } from './routes';
import { SessionProvider, useStanding } from './session';
import { Announcer } from './ui/announce';
import { ErrorNotice, Loading } from './ui/notice';

function ToRules() {
  const { route } = useLocation();
  useEffect(() => route(paths.rules, true), [route]);
  return <Loading what="your rules" />;
}

function Pages() {
  return (
    <LiveProvider>
      <Layout>
        <Router>
          <Route path={paths.overview} component={Overview} />
          <Route path={paths.inboxes} component={Inboxes} />
          <Route path={`${paths.inboxes}/:inboxId/:emailId?`} component={InboxPage} />
          <Route path={paths.mail} component={MailPage} />
          <Route path={paths.keys} component={KeysPage} />
          <Route path={paths.webhooks} component={WebhooksPage} />
          <Route path={paths.rules} component={RulesPage} />
          <Route path={paths.rulesBefore} component={ToRules} />
          <Route path={`${paths.webhooks}/:webhookId`} component={WebhookLog} />
          <Route path={paths.account} component={AccountPage} />
          <Route default component={NotFound} />
        </Router>
      </Layout>
    </LiveProvider>
  );
}

// A person who is signed out sees the sign-in form at the address they came to, and stays there
// once signed in.
function Door() {
  const { standing, ask } = useStanding();
  const { path, route } = useLocation();
  const isIn = standing.is === 'in';
  useEffect(() => {
    if (isIn && (path === paths.signIn || path === paths.signUp)) route(paths.overview, true);
  }, [isIn, path, route]);

  if (path === paths.reset) return <ResetPassword />;
  if (standing.is === 'in') return isPublic(path) ? <Loading what="your overview" /> : <Pages />;
  if (standing.is === 'out')
    return path === paths.signUp ? <SignUp /> : <SignIn hasEnded={standing.hasEnded} />;
  return (
    <main class="door-wait">
      <h1 class="unseen">Temporary Inbox</h1>
      {standing.is === 'unknown' ? (
        <Loading what="the dashboard" />
      ) : (
        <ErrorNotice error={standing.error} onRetry={ask} />
      )}
    </main>
  );
}

export function App() {
  return (
    <LocationProvider scope={SCOPE}>
      <Announcer>
        <SessionProvider>
          <Door />
        </SessionProvider>
      </Announcer>
    </LocationProvider>
  );
}
