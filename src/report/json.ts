import type { Reporter } from '../engine/event.ts';
import type { DocumentName, DocumentOf } from './documents/index.ts';
import { jsonText } from './visible.ts';

/** Version of every JSON document and event; raised when a field changes its meaning or goes away. */
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
