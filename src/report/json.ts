import type * as z from 'zod';
import type { Reporter } from '../engine/event.ts';
import type { DOCUMENTS } from './documents/documents.ts';
import { jsonText } from './text.ts';

/** The name of a document. */
export type DocumentName = keyof typeof DOCUMENTS;

type Shown<Value> = Value extends readonly (infer Item)[]
  ? readonly Shown<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Shown<Value[Key]> }
    : Value;

type Unversioned<Value> = Value extends unknown ? Omit<Value, 'schemaVersion'> : never;

/** The values that a command gives for this document. */
export type DocumentOf<Name extends DocumentName> = Unversioned<Shown<z.output<(typeof DOCUMENTS)[Name]>>>;

/** Version of every JSON document and event; raised when a field changes its meaning or is removed. */
const SCHEMA_VERSION = 1;

/** One event a line, as JSON. */
export function jsonReporter(write: (text: string) => void): Reporter {
  return {
    report: (event) => write(jsonLine<'event'>(event)),
    close: () => Promise.resolve(),
  };
}

/** One JSON document on a line of its own. */
export const jsonLine = <Name extends DocumentName>(content: DocumentOf<Name>): string =>
  `${jsonText({ schemaVersion: SCHEMA_VERSION, ...content })}
`;

/** One JSON document, whose fields are those that its schema describes. */
export const jsonDocument = <Name extends DocumentName>(content: DocumentOf<Name>): string =>
  `${jsonText({ schemaVersion: SCHEMA_VERSION, ...content }, 2)}\n`;
