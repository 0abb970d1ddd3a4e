import { useState } from 'preact/hooks';
import { api } from '../api';
import { useAction, useResource } from '../resource';
import { paths } from '../routes';
import { Button } from '../ui/button';
import { DoorCard } from '../ui/door';
import { TextField } from '../ui/field';
import { ErrorNotice, Notice } from '../ui/notice';

const MIN_CHARACTERS = 10;

// The token stands behind the #, so that it is in no server's log and in no Referer.
function tokenOfAddress(): string {
  return location.hash.slice(1);
}

const foot = (
  <p>
    <a href={paths.signIn}>Back to sign in</a>
  </p>
);

function AskForLink() {
  const [email, setEmail] = useState('');
  const [isSent, setSent] = useState(false);
  const asking = useAction();
  const settings = useResource('settings', (signal) => api.settings(signal));
  if (settings.value?.mailRelay === false) {
    return (
      <DoorCard title="Reset your password" foot={foot}>
        <Notice>
          This service sends no mail. Its operator can make you a link that lets you choose a new
          password; it works once, for an hour.
        </Notice>
      </DoorCard>
    );
  }
  return (
    <DoorCard
      title="Reset your password"
      lead="We mail you a link to choose a new one."
      foot={foot}
    >
      {isSent ? (
        <Notice kind="good">
          If <strong>{email}</strong> has an account, a link is on its way. It is good for one hour.
          Nothing there? Ask the operator for a link.
        </Notice>
      ) : (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void asking.run(async () => {
              await api.askForReset(email);
              setSent(true);
            });
          }}
        >
          <TextField
            label="Email address"
            type="email"
            autoComplete="username"
            required
            value={email}
            onInput={setEmail}
          />
          <ErrorNotice error={asking.error} />
          <Button type="submit" kind="primary" isBusy={asking.isBusy}>
            Send the link
          </Button>
        </form>
      )}
    </DoorCard>
  );
}

function ChooseNew({ token }: { token: string }) {
  const [password, setPassword] = useState('');
  const [isDone, setDone] = useState(false);
  const choosing = useAction();
  return (
    <DoorCard
      title="Choose a new password"
      lead="Everyone who is signed in with the old one is signed out."
      foot={foot}
    >
      {isDone ? (
        <Notice kind="good">Your password is changed. You can sign in with it now.</Notice>
      ) : (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void choosing.run(async () => {
              await api.resetPassword(token, password);
              history.replaceState(null, '', location.pathname);
              setDone(true);
            });
          }}
        >
          <TextField
            label="New password"
            type="password"
            autoComplete="new-password"
            required
            minLength={MIN_CHARACTERS}
            hint={`At least ${MIN_CHARACTERS} characters.`}
            value={password}
            onInput={setPassword}
          />
          <ErrorNotice error={choosing.error} />
          <Button type="submit" kind="primary" isBusy={choosing.isBusy}>
            Save password
          </Button>
        </form>
      )}
    </DoorCard>
  );
}

export function ResetPassword() {
  const [token] = useState(tokenOfAddress);
  return token ? <ChooseNew token={token} /> : <AskForLink />;
}
