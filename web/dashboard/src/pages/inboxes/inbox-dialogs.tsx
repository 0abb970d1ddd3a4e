import { useState } from 'preact/hooks';
import { api, type Inbox } from '../../api';
import { useSession } from '../../session';
import { life } from '../../time';
import { useAnnounce } from '../../ui/announce';
import { FormDialog } from '../../ui/dialog';
import { TextField } from '../../ui/field';
import { LifeField } from './life-field';
import { tagsOf } from './inbox-request';

interface InboxDialogProps {
  inbox: Inbox;
  onClose: () => void;
  onDone: () => void;
}

// A new end, counted from now.
export function ExtendInbox({ inbox, onClose, onDone }: InboxDialogProps) {
  const { limits } = useSession();
  const announce = useAnnounce();
  const [seconds, setSeconds] = useState(limits.maxTtlSeconds);
  return (
    <FormDialog
      title="Extend inbox"
      submit="Extend"
      onClose={onClose}
      onSubmit={async () => {
        await api.changeInbox(inbox.inboxId, { ttlSeconds: seconds });
        announce(`Lives ${life(seconds)} from now`);
        onClose();
        onDone();
      }}
    >
      <p class="breaks">
        <code>{inbox.emailAddress}</code>
      </p>
      <LifeField
        label="Lives, from now on, for"
        hint={`Your plan allows up to ${life(limits.maxTtlSeconds)}, as often as you wish.`}
        maxSeconds={limits.maxTtlSeconds}
        seconds={seconds}
        onChange={setSeconds}
      />
    </FormDialog>
  );
}

export function EditInbox({ inbox, onClose, onDone }: InboxDialogProps) {
  const [name, setName] = useState(inbox.name ?? '');
  const [tags, setTags] = useState(inbox.tags.join(', '));
  return (
    <FormDialog
      title="Name and tags"
      submit="Save"
      onClose={onClose}
      onSubmit={async () => {
        await api.changeInbox(inbox.inboxId, { name: name.trim() || null, tags: tagsOf(tags) });
        onClose();
        onDone();
      }}
    >
      <TextField label="Name" isOptional maxLength={100} value={name} onInput={setName} />
      <TextField
        label="Tags"
        isOptional
        value={tags}
        onInput={setTags}
        hint="Up to 10, with commas between them."
      />
    </FormDialog>
  );
}

export function DeleteInbox({ inbox, onClose, onDone }: InboxDialogProps) {
  const announce = useAnnounce();
  return (
    <FormDialog
      title="Delete this inbox?"
      submit="Delete inbox"
      kind="danger"
      onClose={onClose}
      onSubmit={async () => {
        await api.deleteInbox(inbox.inboxId);
        announce(`Deleted ${inbox.emailAddress}`);
        onClose();
        onDone();
      }}
    >
      <p class="breaks">
        <code>{inbox.emailAddress}</code> ends now and its mail is gone. New mail to it is refused.
        This cannot be undone.
      </p>
    </FormDialog>
  );
}

export function EmptyInbox({ inbox, onClose, onDone }: InboxDialogProps) {
  const announce = useAnnounce();
  return (
    <FormDialog
      title="Delete all mail of this inbox?"
      submit="Delete all mail"
      kind="danger"
      onClose={onClose}
      onSubmit={async () => {
        await api.emptyInbox(inbox.inboxId);
        announce('The inbox is empty');
        onClose();
        onDone();
      }}
    >
      <p>The inbox itself stays, and goes on receiving. This cannot be undone.</p>
    </FormDialog>
  );
}
