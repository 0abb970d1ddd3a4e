import { useState } from 'preact/hooks';
import { api } from '../api';
import { useAction, useResource } from '../resource';
import { paths } from '../routes';
import { useStanding } from '../session';
import { Button } from '../ui/button';
import { DoorCard } from '../ui/door';
import { TextField } from '../ui/field';
import { ErrorNotice, Notice } from '../ui/notice';

const MIN_CHARACTERS = 10;

const foot = (
  <p>
    Have an account? <a href={paths.signIn}>Sign in</a>
  </p>
);

function Confirm({ email, password }: { email: string; password: string }) {
  const { enter } = useStanding();
  const [code, setCode] = useState('');
  const confirm = useAction();
  return (
    <DoorCard
      title="Check your mail"
      lead={
        `If ${email} can have an account here, a code of 8 digits is on its way. ` +
        'It is good for 15 minutes.'
      }
      foot={foot}
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void confirm.run(async () =>
            enter(await api.confirmSignUp(email, code.replace(/\s/g, ''), password)),
          );
        }}
      >
        <TextField
          label="Code"
          autoComplete="one-time-code"
          required
          isMono
          value={code}
          onInput={setCode}
        />
        <ErrorNotice error={confirm.error} />
        <Button type="submit" kind="primary" isBusy={confirm.isBusy}>
          Confirm
        </Button>
      </form>
    </DoorCard>
  );
}

export function SignUp() {
  const { enter } = useStanding();
  const settings = useResource('settings', (signal) => api.settings(signal));
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [isCodeSent, setCodeSent] = useState(false);
  const signUp = useAction();
  if (isCodeSent) return <Confirm email={email} password={password} />;
  if (settings.value?.signUp === 'closed') {
    return (
      <DoorCard title="Sign-up is closed" foot={foot}>
        <Notice>The operator of this service makes accounts. Ask there for one.</Notice>
      </DoorCard>
    );
  }

  async function submit() {
    const answer = await api.signUp(email, password);
    if ('csrfToken' in answer) enter(answer);
    else setCodeSent(true);
  }

  return (
    <DoorCard
      title="Create an account"
      lead="It is free and starts with one live inbox."
      foot={foot}
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void signUp.run(submit);
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
          autoComplete="new-password"
          required
          minLength={MIN_CHARACTERS}
          hint={`At least ${MIN_CHARACTERS} characters. A few words you can remember are best.`}
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
