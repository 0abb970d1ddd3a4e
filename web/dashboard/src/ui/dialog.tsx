import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { useAction } from '../resource';
import { Button, IconButton } from './button';
import { ErrorNotice } from './notice';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  isWide?: boolean;
}

// Wraps the browser's own modal dialog, which keeps the focus inside, closes on Escape and gives
// the focus back.
export function Dialog({ title, onClose, children, isWide }: DialogProps) {
  const here = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = here.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)')?.focus();
    return () => {
      dialog?.close(); // while it is open, nothing behind it takes the focus
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={here}
      class={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={(event) => {
        // The browser may close the dialog without asking first.
        if (event.currentTarget.isConnected) onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}

// A form in a dialog: its buttons, its failure, one submission at a time.
export function FormDialog({
  submit,
  onSubmit,
  kind = 'primary',
  children,
  ...dialog
}: DialogProps & { submit: string; onSubmit: () => Promise<void>; kind?: 'primary' | 'danger' }) {
  const action = useAction();
  return (
    <Dialog {...dialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(onSubmit);
        }}
      >
        <div class="dialog-body">
          {children}
          <ErrorNotice error={action.error} />
        </div>
        <div class="dialog-foot">
          <Button onClick={dialog.onClose}>Cancel</Button>
          <Button type="submit" kind={kind} isBusy={action.isBusy}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
