// The shapes of the dashboard's API, under the names that the page uses. All come from
// openapi.d.ts, which `./dev check dashboard` makes from docs/dashboard-openapi.yaml.

import type { components, paths } from './openapi';

type Schemas = components['schemas'];

export type ErrorCode = Schemas['ErrorCode'];
export type Session = Schemas['Session'];
export type Plan = Session['plan'];
export type Limits = Schemas['Limits'];
export type OfferedPlan = Schemas['OfferedPlan'];
export type Price = Schemas['Price'];
export type UsageDay = Schemas['UsageOfDay'];

export type Domain = Schemas['Domain'];
export type Inbox = Schemas['Inbox'];
export type NewInbox = Schemas['NewInbox'];
export type InboxChange = Schemas['InboxChange'];
export type Capture = Schemas['Capture'];
export type NewRotation = Schemas['NewRotation'];
export type FaultStep = Schemas['FaultStep'];
export type NewFaultStep = Schemas['NewFaultStep'];
export type NewFaults = Schemas['NewFaults'];
export type SenderReport = Schemas['SenderReport'];
export type SentMessage = Schemas['SentMessage'];
export type SenderAttempt = Schemas['SenderAttempt'];
export type SenderMarks = Schemas['SenderMarks'];
export type FaultNotApplied = Schemas['FaultNotApplied'];
export type Rejection = Schemas['Rejection'];
export type EmailSummary = Schemas['EmailSummary'];
export type SearchedEmails = Schemas['SearchedEmails'];
export type Email = Schemas['Email'];
export type Attachment = Schemas['Attachment'];
export type Timeline = Schemas['Timeline'];
export type TimelineStep = Timeline['steps'][number];

export type Webhook = Schemas['Webhook'];
export type CreatedWebhook = Schemas['CreatedWebhook'];
export type NewWebhook = Schemas['NewWebhook'];
export type WebhookChange = Schemas['WebhookChange'];
export type EventKind = Webhook['events'][number];
export type Delivery = Schemas['Delivery'];
export type DeliveryStatus = Delivery['status'];
export type NewReplay = Schemas['NewReplay'];
export type Attempt = Schemas['DeliveryAttempt'];

export type Key = Schemas['Key'];
export type CreatedKey = Schemas['CreatedKey'];
export type NewKey = Schemas['NewKey'];
export type Scope = Schemas['Scope'];

export type Rule = Schemas['Rule'];
export type RuleFields = Required<Schemas['RuleChange']>;
export type DraftRule = Schemas['DraftRule'];
export type Condition = Schemas['Condition'];
export type RuleField = Condition['field'];
export type RuleOperator = Condition['operator'];
export type Sample = Pick<Schemas['RuleTest'], 'emailId' | 'from' | 'to' | 'subject'>;
export type TestedRule = Schemas['TestedRule'];
export type RuleOutcome = Schemas['RuleVerdict'];

// A path is written as in the contract, below /dashboard/api.
type Operations = {
  [P in keyof paths as P extends `/dashboard/api${infer Rest}` ? Rest : never]: paths[P];
};
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type PathOf<M extends Method> = {
  [P in keyof Operations]: [Operations[P][M]] extends [undefined] ? never : P;
}[keyof Operations];
export type Operation<M extends Method, P extends PathOf<M>> = NonNullable<Operations[P][M]>;

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type BodyOf<O> = O extends { requestBody: infer Given }
  ? { body: Json<Given> }
  : O extends { requestBody?: infer Given }
    ? { body?: Json<NonNullable<Given>> }
    : unknown;
type ParametersOf<O> = O extends { parameters: infer All }
  ? Pick<All, Extract<keyof All, 'path' | 'query'>>
  : unknown;

// The parameters and the body of an operation's request, and the body of its answer.
export type RequestOf<O> = ParametersOf<O> & BodyOf<O> & { signal?: AbortSignal | undefined };
export type Answer<O> = O extends { responses: infer All }
  ? { [S in keyof All]: S extends 200 | 201 | 202 ? Json<All[S]> : never }[keyof All]
  : never;
export type Query<P extends PathOf<'get'>> = NonNullable<
  Operation<'get', P> extends { parameters: { query?: infer Given } } ? Given : never
>;
