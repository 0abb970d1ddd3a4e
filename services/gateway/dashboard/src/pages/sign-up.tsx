import { useState } from 'preact/hooks';
import { api, type Session } from '../api';
import { useAction } from '../resource';
import { paths } from '../routes';
import { useStanding } from '../session';
import { Button } from '../ui/button';
import { DoorCard } from '../ui/door';
import { TextField } from '../ui/field';
import { ErrorNotice } from '../ui/notice';

const LEAST_CHARACTERS = 10;

export function SignUp() {
  const { enter } = useStanding();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signUp = useAction();
  return (
    <DoorCard
      title="Create an account"
      lead="It is free and starts with one live inbox."
      foot={
        <p>
          Have an account? <a href={paths.signIn}>Sign in</a>
        </p>
      }
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void signUp.run(async () => enter((await api.signUp(email, password)) as Session));
        }}
      >
        <TextField label="Email address" type="email" autoComplete="username" required value={email} onInput={setEmail} />
        <TextField
          label="Password"
          type="password"
          autoComplete="new-password"
          required
          minLength={LEAST_CHARACTERS}
          hint={`At least ${LEAST_CHARACTERS} characters. A few words you can remember are best.`}
          value={password}
          onInput={setPassword}
        />
        <ErrorNotice error={signUp.error} />
        <Button type="submit" kind="primary" isBusy={signUp.isBusy}>
          Create account
        </Button>
      </form>
    </DoorCard>
  );
}
