import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, type Inbox } from '../../api';
import { useAction, useResource } from '../../resource';
import { count } from '../../time';
import { useAnnounce } from '../../ui/announce';
import { Button } from '../../ui/button';
import { FormDialog } from '../../ui/dialog';
import { Field, SelectField } from '../../ui/field';
import { ErrorNotice } from '../../ui/notice';
import { describeStep, parseSteps, STORIES } from './fault-steps';

const stepsOf = (name: string) =>
  JSON.stringify(STORIES.find((it) => it.name === name)?.steps ?? [], null, 2);

function PlayFaults({
  inbox,
  onClose,
  onDone,
}: {
  inbox: Inbox;
  onClose: () => void;
  onDone: () => void;
}) {
  const announce = useAnnounce();
  const [story, setStory] = useState(STORIES[0]?.name ?? '');
  const [text, setText] = useState(stepsOf(story));
  return (
    <FormDialog
      title="Play faults on purpose"
      submit="Play these"
      onClose={onClose}
      onSubmit={async () => {
        await api.setFaults(inbox.inboxId, { steps: parseSteps(text) });
        announce('The faults are in force within a second');
        onClose();
        onDone();
      }}
    >
      <SelectField
        label="Story"
        value={story}
        options={STORIES.map((it) => ({ value: it.name, text: it.name }))}
        onChange={(name) => {
          setStory(name);
          setText(stepsOf(name));
        }}
      />
      <Field label="Steps" hint="The first that fits and is not used up is played.">
        {(control) => (
          <textarea
            {...control}
            class="input mono"
            rows={8}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}

// What the inbox plays to whoever sends to it.
export function Faults({ inbox }: { inbox: Inbox }) {
  const { inboxId } = inbox;
  const [isOpen, open] = useState(false);
  const ending = useAction();
  const announce = useAnnounce();
  const found = useResource(`faults ${inboxId}`, (signal) => api.faults(inboxId, signal));
  const steps = found.value?.steps ?? [];
  const heading = useRef<HTMLHeadingElement>(null);
  const hasEnded = useRef(false);
  useLayoutEffect(() => {
    // The button that had the focus went with the steps that it ended.
    if (!hasEnded.current || document.activeElement !== document.body) return;
    hasEnded.current = false;
    heading.current?.focus({ preventScroll: true });
  });
  return (
    <section class="panel faults" aria-labelledby="faults">
      <div class="panel-head">
        <h2 id="faults" tabIndex={-1} ref={heading}>
          Faults
        </h2>
        <div class="row">
          <Button size="small" icon="refresh" isBusy={found.isLoading} onClick={found.reload}>
            Look again
          </Button>
          <Button size="small" onClick={() => open(true)}>
            Play faults
          </Button>
          {steps.length > 0 && (
            <Button
              size="small"
              kind="danger"
              isBusy={ending.isBusy}
              onClick={() =>
                void ending.run(async () => {
                  await api.clearFaults(inboxId);
                  hasEnded.current = true;
                  announce('The faults end within a second');
                  found.reload();
                })
              }
            >
              End faults
            </Button>
          )}
        </div>
      </div>
      <ErrorNotice error={found.error ?? ending.error} onRetry={found.reload} />
      {found.value && steps.length === 0 && (
        <p class="panel-empty">
          Mail is taken as ever. With faults on purpose you see what a sender does after a refusal,
          a delay or a lost reply.
        </p>
      )}
      {steps.length > 0 && (
        <ol class="rows">
          {steps.map((step, index) => (
            <li key={index} class="row-item">
              <p class="row-main breaks">{describeStep(step)}</p>
              <span class="badge">{count(step.used, 'use')}</span>
            </li>
          ))}
        </ol>
      )}
      {isOpen && (
        <PlayFaults inbox={inbox} onClose={() => open(false)} onDone={() => found.reload()} />
      )}
    </section>
  );
}
