import { useState } from 'preact/hooks';
import { api } from '../api';
import { useAction } from '../resource';
import { paths } from '../routes';
import { useStanding } from '../session';
import { Button } from '../ui/button';
import { DoorCard } from '../ui/door';
import { TextField } from '../ui/field';
import { ErrorNotice, Notice } from '../ui/notice';

export function SignIn({ hasEnded }: { hasEnded: boolean }) {
  const { enter } = useStanding();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useAction();
  return (
    <DoorCard
      title="Sign in"
      lead="Inboxes that last as long as you need them."
      foot={
        <p>
          New here? <a href={paths.signUp}>Create an account</a>
        </p>
      }
    >
      {hasEnded && <Notice>Your session has ended. Sign in again to go on where you were.</Notice>}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn.run(async () => enter(await api.signIn(email, password)));
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
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onInput={setPassword}
        />
        <ErrorNotice error={signIn.error} title="Signing in did not work" />
        <Button type="submit" kind="primary" isBusy={signIn.isBusy}>
          Sign in
        </Button>
        <p class="beside">
          <a href={paths.reset}>Forgot your password?</a>
        </p>
      </form>
    </DoorCard>
  );
}
