import { useMemo, useState } from 'preact/hooks';
import { api, type Email } from '../../api';
import {
  MAIL_FRAME_SANDBOX,
  readMailHtml,
  referencedContentIds,
} from '../../mail-html/safe-mail-document';
import { useResource } from '../../resource';
import { count } from '../../time';
import { Button } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { ErrorNotice, Loading } from '../../ui/notice';

function bare(contentId: string | null): string {
  return (contentId ?? '').replace(/^<|>$/g, '');
}

// Shows the mail as its sender drew it: cleaned, in a frame that can do nothing, and without remote
// pictures until the reader asks for them.
export function MailHtml({ email, html }: { email: Email; html: string }) {
  const [showRemotePictures, setShowRemotePictures] = useState(false);
  const referenced = useMemo(() => referencedContentIds(html), [html]);
  const parts = useResource(`parts ${email.emailId}`, (signal) =>
    Promise.all(
      email.attachments
        .filter((it) => it.contentId !== null && referenced.includes(bare(it.contentId)))
        .map(async (it) => ({
          ...(await api.attachment(email.emailId, it.attachmentId, signal)),
          contentId: it.contentId,
        })),
    ),
  );
  const shown = useMemo(
    () => readMailHtml(html, { showRemotePictures, inlineParts: parts.value ?? [] }),
    [html, showRemotePictures, parts.value],
  );
  if (parts.isLoading && !parts.value) return <Loading what="the mail's pictures" />;
  return (
    <div class="stack tight">
      <ErrorNotice error={parts.error} onRetry={parts.reload} />
      {shown.hiddenPictures > 0 && (
        <div class="pictures-bar">
          <Icon name="image" />
          <p>
            {count(shown.hiddenPictures, 'remote picture')} not shown. Loading{' '}
            {shown.hiddenPictures === 1 ? 'it' : 'them'} can tell the sender when and where you read
            this.
          </p>
          <Button size="small" onClick={() => setShowRemotePictures(true)}>
            Load pictures
          </Button>
        </div>
      )}
      <iframe
        class="mail-frame"
        title="The mail as its sender designed it"
        sandbox={MAIL_FRAME_SANDBOX}
        referrerPolicy="no-referrer"
        srcdoc={shown.html}
      />
    </div>
  );
}
