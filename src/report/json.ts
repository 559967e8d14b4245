import type { Reporter } from '../engine/event.ts';

/** Version of every JSON document and event; raised when a field changes its meaning or goes away. */
export const SCHEMA_VERSION = 1;

/** One event a line, as JSON. */
export function jsonReporter(write: (text: string) => void): Reporter {
  return {
    report: (event) => write(`${JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...event })}\n`),
    close: () => Promise.resolve(),
  };
}

/** One JSON document. */
export const jsonDocument = (content: object): string =>
  `${JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...content }, undefined, 2)}\n`;
