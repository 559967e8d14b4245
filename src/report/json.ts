import type { Reporter } from '../engine/event.ts';
import { jsonText } from './visible.ts';

/** Version of every JSON document and event; raised when a field changes its meaning or goes away. */
const SCHEMA_VERSION = 1;

/** One event a line, as JSON. */
export function jsonReporter(write: (text: string) => void): Reporter {
  return {
    report: (event) => write(`${jsonText({ schemaVersion: SCHEMA_VERSION, ...event })}\n`),
    close: () => Promise.resolve(),
  };
}

/** One JSON document. */
export const jsonDocument = (content: object): string =>
  `${jsonText({ schemaVersion: SCHEMA_VERSION, ...content }, 2)}\n`;
