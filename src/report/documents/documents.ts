import * as z from 'zod';
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
import { backup, backupContents, eventLine, explain, report, runs, topics } from './runs.ts';
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

/** The dialects of JSON Schema that kbuild writes. */
type SchemaDraft = '7' | '2020-12';

/**
 * The JSON Schema of a document. `open`, which is published, allows fields that it does not name: a later kbuild adds
 * some. `strict` allows none, so that tests see a field without a description.
 */
export const documentJsonSchema = (
  name: keyof typeof DOCUMENTS,
  draft: SchemaDraft,
  fields: 'open' | 'strict' = 'open',
): Record<string, unknown> => ({
  ...z.toJSONSchema(DOCUMENTS[name], { io: fields === 'open' ? 'input' : 'output', target: `draft-${draft}` }),
});
