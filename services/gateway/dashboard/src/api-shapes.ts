// What the gateway takes and answers, as docs/api.md describes it.

export type Plan = 'free' | 'starter' | 'pass7' | 'pro' | 'business' | 'premium';

export interface Limits {
  requestsPerDay: number | null; // null: no daily limit
  liveInboxes: number;
  maxTtlSeconds: number;
  maxMessageBytes: number;
  webhooks: number;
  apiKeys: number;
  routingRules: number;
}

export interface Price {
  amount: string; // a decimal number
  period: 'none' | 'once' | 'month';
}

export interface OfferedPlan {
  plan: Plan;
  price: Price;
  limits: Limits;
}

export interface Session {
  accountId: string;
  email: string;
  plan: Plan;
  planEndsAt: string | null;
  limits: Limits;
  csrfToken: string;
}

export interface Account extends Omit<Session, 'csrfToken'> {
  usage: { requestsToday: number; liveInboxes: number; webhooks: number };
}

export interface UsageDay {
  date: string;
  requests: number;
  emails: number;
  deliveries: number;
}

export interface Inbox {
  inboxId: string;
  emailAddress: string;
  name: string | null;
  tags: string[];
  metadata: Record<string, string>;
  status: 'active' | 'expired';
  emailCount: number;
  lastSequence: number;
  lastEmailAt: string | null;
  createdAt: string;
  expiresAt: string | null;
  expiredAt: string | null;
  isFull?: boolean; // of one inbox, not in lists
}

export interface InboxWishes {
  localPart?: string;
  domain?: string;
  ttlSeconds?: number;
  name?: string;
  tags?: string[];
  metadata?: Record<string, string>;
}

export interface EmailSummary {
  emailId: string;
  inboxId: string;
  sequence: number;
  from: string;
  fromName: string;
  to: string[];
  subject: string;
  preview: string;
  receivedAt: string;
  sizeBytes: number;
  attachmentCount: number;
  isRead: boolean;
  codes?: Code[];
}

export interface Code {
  value: string;
  score: number;
  part: string;
  offset: number;
}

export interface Attachment {
  attachmentId: string;
  filename: string;
  contentType: string;
  sizeBytes: number;
  contentId: string | null;
  inline: boolean;
}

export interface Email extends EmailSummary {
  toHeader: string[];
  cc: string[];
  replyTo: string[];
  messageId: string | null;
  date: string | null;
  headers: { name: string; value: string }[];
  text: string | null;
  html: string | null;
  attachments: Attachment[];
  codes: Code[];
  links: { url: string; text: string; kind: 'verify' | 'reset' | 'unsubscribe' | 'other' }[];
  authentication: Record<string, string | null> | null;
  envelope: {
    mailFrom: string;
    rcptTo: string[];
    remoteAddress: string;
    helo: string;
    tls: string | null;
  };
  routing: { ruleId: string; matched: boolean }[] | null;
  defects: string[];
}

export type EventKind = 'email.received' | 'inbox.created' | 'inbox.expired';
export const EVENT_KINDS: readonly EventKind[] = [
  'email.received',
  'inbox.created',
  'inbox.expired',
];

export interface Webhook {
  webhookId: string;
  url: string;
  events: EventKind[];
  description: string | null;
  isEnabled: boolean;
  disabledReason: string | null;
  createdAt: string;
  secret?: string;
}

export type WebhookWishes = Partial<Pick<Webhook, 'url' | 'events' | 'description' | 'isEnabled'>>;
export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

export interface Attempt {
  at: string;
  statusCode: number | null;
  durationMs: number;
  error: string | null;
  responseBody: string | null;
}

export interface Delivery {
  deliveryId: string;
  eventId: string;
  event: string;
  status: DeliveryStatus;
  attempts: Attempt[];
  nextAttemptAt: string | null;
  createdAt: string;
  ruleIds: string[];
}

export interface Key {
  keyId: string;
  label: string;
  prefix: string;
  createdAt: string;
  lastUsedAt: string | null;
  isActive: boolean;
  key?: string;
}

export type RuleField = 'subject' | 'from' | 'to';
export type RuleOperator = 'contains' | 'equals' | 'starts_with' | 'ends_with';

export interface Condition {
  field: RuleField;
  operator: RuleOperator;
  value: string;
}

export interface RuleWishes {
  name: string;
  webhookId: string;
  conditions: Condition[];
  isEnabled: boolean;
}

export interface Rule extends RuleWishes {
  id: string;
  createdAt: string;
}

export type Sample = { from: string; to: string; subject: string } | { emailId: string };

export interface TestedRule {
  id: string | null;
  name: string;
  isEnabled: boolean;
  matched: boolean;
  conditions: (Condition & { actual: string; matched: boolean })[];
}

export interface Verdict {
  rules: TestedRule[];
  webhookIds: string[];
}

export interface Page {
  limit?: number;
  cursor?: string;
}
