import { lowestApiServer } from '../cluster/api-versions.ts';
import { acting, liveCluster } from '../cluster/acting.ts';
import { changesIn } from '../engine/plan.ts';
import { restartsOf } from '../engine/restarts.ts';
import { combined, FactError } from '../errors.ts';
import { observeUpgrade } from '../facts/upgrade-view.ts';
import { jsonDocument } from '../report/json.ts';
import { planText } from '../report/plan.ts';
import { upgradeNotes, upgradeNotesText } from '../report/upgrade-notes.ts';
import { upgradeViewJson, upgradeViewText } from '../report/upgrade-view.ts';
import { controlPlanes } from '../topology/select.ts';
import type { Hop } from '../upgrade/hop.ts';
import { unreadableApis, unreadableRefusals } from '../upgrade/unreadable-objects.ts';
import type { RunPlan } from './session/run-plan.ts';
import type { Run } from './session/run.ts';
import { missingDownloads } from './session/upgrade-downloads.ts';

/** Blocks of a plan with an empty line between them. */
const joined = (blocks: readonly string[]): string => blocks.filter((block) => block !== '').join('\n');

/** `1.34.4 → 1.35.8 → 1.36.3` */
export const hopsText = (hops: readonly Hop[]): string =>
  `Kubernetes ${[hops[0]?.from, ...hops.map(({ version }) => version)].filter((one, at, all) => one !== all[at - 1]).join(' → ')}\n`;

/**
 * What the upgrade meets in the cluster, as text and as JSON. Reads only. `use`: where it is only shown, a part that cannot be read is shown as
 * unknown.
 * @throws Refused for objects that no newer API server can read; FactError when it is unknown whether there are any
 */
export async function viewOf(
  run: Run,
  { changes }: RunPlan,
  use: 'only shown' | 'before an upgrade',
): Promise<{
  readonly text: string;
  readonly json: ReturnType<typeof upgradeViewJson>;
  readonly notes: readonly string[];
}> {
  const { inventory, connected } = run;
  const fleet = connected.observations.fleet();
  const control = acting(fleet);
  const cluster = liveCluster(fleet);
  const apiServers = controlPlanes(inventory).filter(({ name }) => cluster.apiServers.has(name));
  const nodes = changes.flatMap(({ step, host }) => (step === 'drained' ? [host] : []));
  const unreadable = unreadableApis(lowestApiServer(cluster), inventory.kubernetes.version);
  const view = await observeUpgrade(connected.on(control), inventory, control, { apiServers, unreadable });
  const objects = view.unreadableObjects;
  if ('unknown' in objects && use === 'before an upgrade')
    throw new FactError(control.name, 'whether there are objects that a newer API server cannot read', objects.unknown);
  const refused = 'unknown' in objects ? [] : unreadableRefusals(inventory, objects.value);
  if (refused.length > 0) throw combined(refused);
  const notes = upgradeNotes(inventory, fleet, changes, view);
  const text = upgradeViewText(view, { target: inventory.kubernetes.version, nodes: [...new Set(nodes)] });
  return { text: joined([text, upgradeNotesText(notes)]), json: upgradeViewJson(view), notes };
}

/** Shows the plan alone, and what could not be downloaded. */
export async function showOnly(run: Run, hops: readonly Hop[], plan: RunPlan): Promise<number> {
  const { context, flags, inventory } = run;
  const { phases, changes } = plan;
  const { text, json, notes } = await viewOf(run, plan, 'only shown');
  const fetching = changes.flatMap(({ phase, host }) => (phase === 'fetch' ? [host] : []));
  const missing = await missingDownloads(run, hops, new Set(fetching));
  const restarts = restartsOf(inventory, changes);
  if (flags.json === true) {
    const shown = changesIn(changes).map(({ phase, host, step, summary }) => ({ phase, host, step, summary }));
    const all = { hops, changes: shown, restarts, meets: json, notes, missingDownloads: missing.found };
    context.out(jsonDocument<'upgrade-plan'>({ cluster: inventory.name, ...all }));
    return 0;
  }
  context.out(
    changes.length === 0
      ? 'nothing to do\n'
      : `${hopsText(hops)}${planText(phases, changes, restarts)}${joined([text, missing.text])}`,
  );
  return 0;
}
