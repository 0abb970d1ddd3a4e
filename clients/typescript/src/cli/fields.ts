// Fields of the API's answers: a later version of the service may have others, or none.

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; none of another value. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** The text of a field; empty if there is none. */
export function textOf(object: unknown, name: string): string {
  const field = fieldsOf(object)[name];
  return typeof field === 'string' ? field : '';
}

/** The number of a field; 0 if there is none. */
export function integerOf(object: unknown, name: string): number {
  const field = fieldsOf(object)[name];
  return Number.isSafeInteger(field) ? (field as number) : 0;
}

/** The items of a list; none if there is none. */
export function itemsOf(object: unknown, name: string): readonly unknown[] {
  const field = fieldsOf(object)[name];
  return Array.isArray(field) ? field : [];
}
