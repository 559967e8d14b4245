import * as z from 'zod';
import type { Reporter } from '../engine/event.ts';
import {
  authorityPlan,
  certs,
  check,
  facts,
  moveEndpointPlan,
  plan,
  rebootPlan,
  unlock,
  validate,
} from './documents/inspections.ts';
import { defragment, selftest, snapshot, upgradePlan } from './documents/maintenance.ts';
import { backup, backupContents, eventLine, explain, report, runs, topics } from './documents/runs.ts';
import { status, statusWatch } from './documents/status.ts';
import { jsonText } from './text.ts';

/** Every JSON document that kbuild prints, by the name that `kbuild schema --document` takes. */
export const DOCUMENTS = {
  plan,
  check,
  status,
  'status-watch': statusWatch,
  facts,
  validate,
  certs,
  unlock,
  explain,
  topics,
  snapshot,
  backup,
  'backup-contents': backupContents,
  defragment,
  selftest,
  report,
  runs,
  'reboot-plan': rebootPlan,
  'authority-plan': authorityPlan,
  'move-endpoint-plan': moveEndpointPlan,
  'upgrade-plan': upgradePlan,
  event: eventLine,
} as const;

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

/** The dialects of JSON Schema that kbuild writes. */
type SchemaDraft = '7' | '2020-12';

/**
 * The JSON Schema of a document. `open`, which is published, allows fields that it does not name: a later kbuild adds
 * some. `strict` allows none, so that tests see a field without a description.
 */
export const documentJsonSchema = (
  name: DocumentName,
  draft: SchemaDraft,
  fields: 'open' | 'strict' = 'open',
): Record<string, unknown> => ({
  ...z.toJSONSchema(DOCUMENTS[name], { io: fields === 'open' ? 'input' : 'output', target: `draft-${draft}` }),
});

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
