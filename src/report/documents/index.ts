import * as z from 'zod';
import { backup, backupContents } from './backup.ts';
import { eventLine } from './event.ts';
import { explain, topics } from './explain.ts';
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
} from './inspections.ts';
import { defragment, selftest, snapshot, upgradePlan } from './maintenance.ts';
import { report, runs } from './runs.ts';
import { status, statusWatch } from './status.ts';

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

/** What a command hands over to be printed as this document. */
export type DocumentOf<Name extends DocumentName> = Unversioned<Shown<z.output<(typeof DOCUMENTS)[Name]>>>;

/** The dialects of JSON Schema that kbuild writes. */
export type SchemaDraft = '7' | '2020-12';

/**
 * The JSON Schema of a document. `open`, which is published, allows fields that it does not name: a later kbuild adds some.
 * `strict` allows none, so that tests see a field without a description.
 */
export const documentJsonSchema = (
  name: DocumentName,
  draft: SchemaDraft,
  fields: 'open' | 'strict' = 'open',
): Record<string, unknown> => ({
  ...z.toJSONSchema(DOCUMENTS[name], { io: fields === 'open' ? 'input' : 'output', target: `draft-${draft}` }),
});
