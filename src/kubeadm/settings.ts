import { acting } from '../cluster/acting.ts';
import { initDocuments } from '../cluster/kubeadm-config.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { same } from '../cluster/compare.ts';
import { secretYaml } from '../cluster/secret-yaml.ts';
import { editedParts, settingsNote, settingsOf, type SettingsPart } from '../cluster/settings.ts';
import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { observedLinux, type Fleet } from '../facts/fleet.ts';
import { FIELD_MANAGER } from '../facts/ownership.ts';
import type { Inventory, JsonObject, LinuxHost } from '../inventory/inventory.ts';
import { script } from '../templates.ts';

const INVENTORY_NAME: Readonly<Record<SettingsPart, string>> = {
  cluster: 'kubeadm.cluster',
  kubelet: 'kubelet',
  kubeProxy: 'kubeadm.kubeProxy',
};

/** What of `kubeadm.cluster` can be changed on a live cluster by writing the control plane's manifests anew. */
const CHANGEABLE: Readonly<Record<string, readonly string[]>> = {
  apiServer: ['extraArgs', 'extraVolumes', 'extraEnvs'],
  controllerManager: ['extraArgs', 'extraVolumes', 'extraEnvs'],
  scheduler: ['extraArgs', 'extraVolumes', 'extraEnvs'],
};

const keysOf = (...objects: readonly (JsonObject | undefined)[]): readonly string[] => [
  ...new Set(objects.flatMap((object) => Object.keys(object ?? {}))),
];

const inner = (object: JsonObject | undefined, key: string): JsonObject | undefined =>
  object?.[key] as JsonObject | undefined;

/** Settings of `kubeadm.cluster` that were edited and that no step can apply. */
function fixedEdits(wanted: JsonObject, noted: JsonObject | undefined): readonly string[] {
  return keysOf(wanted, noted)
    .filter((key) => !same(wanted[key], noted?.[key]))
    .flatMap((key) => {
      const changeable = CHANGEABLE[key];
      if (changeable === undefined) return [`kubeadm.cluster.${key}`];
      return keysOf(inner(wanted, key), inner(noted, key))
        .filter((one) => !changeable.includes(one) && !same(inner(wanted, key)?.[one], inner(noted, key)?.[one]))
        .map((one) => `kubeadm.cluster.${key}.${one}`);
    });
}

function refuseFixed(inventory: Inventory, noted: JsonObject | undefined): void {
  const fixed = fixedEdits(settingsOf(inventory).cluster, noted?.['cluster'] as JsonObject | undefined);
  if (fixed.length > 0)
    throw new Refused(
      inventory.name,
      `${fixed.join(', ')} was edited, and kbuild cannot change it on a live cluster`,
      'set it back to what the cluster was made with',
    );
}

/** The joined control planes beside one. */
const others = (inventory: Inventory, fleet: Fleet, host: LinuxHost): readonly LinuxHost[] =>
  observedLinux(fleet)
    .filter((seen) => seen.host.role === 'control-plane' && seen.host.name !== host.name)
    .filter((seen) => standing({ inventory, fleet, ...seen }) === 'joined')
    .map((seen) => seen.host);

/** kubeadm settings that were edited after init are drift: applied by kubeadm's own phases, refused where there is none. */
export const kubeadmSettings: Step<'cluster'> = {
  name: 'kubeadm-settings',
  settleMs: 60_000,
  diff: ({ inventory, facts, fleet }) => {
    if (facts.state !== 'up') return [];
    const edited = editedParts(inventory, facts);
    if (edited.length === 0) return [];
    if (edited !== 'unknown' && edited.includes('cluster')) refuseFixed(inventory, facts.settings);
    const parts = edited === 'unknown' ? [] : edited;
    return [
      {
        summary:
          edited === 'unknown'
            ? `note the kubeadm settings of ${inventory.name} (found no note)`
            : `apply the edited settings of ${parts.map((part) => INVENTORY_NAME[part]).join(', ')} to the live cluster`,
        apply: async (on) => {
          const host = acting(fleet);
          const apply = (to: LinuxHost, what: readonly string[], note: string): Promise<string> =>
            on(to).job(
              'kubeadm-settings',
              script('linux/kubeadm-settings.sh', {
                PARTS: what,
                NODE: to.name,
                KUBECTL: kubectl(inventory, to).join(' '),
                MANAGER: FIELD_MANAGER,
                SETTINGS: note,
              }),
              { 'config.yaml': secretYaml(initDocuments(inventory, to)) },
            );
          // One after another, each until its API server is back; noted when all of them have it.
          if (parts.includes('cluster'))
            for (const other of others(inventory, fleet, host)) await apply(other, ['manifests'], '');
          await apply(host, parts, JSON.stringify(settingsNote(inventory)));
        },
      },
    ];
  },
};
