import { lowestApiServer } from '../cluster/api-versions.ts';
import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { compareVersions, minorOf } from '../versions.ts';
import { type PlaceSource, removedInUse, removedTables, type RemovedUse } from './removed.value.ts';
import { settingsPlaces } from './settings-places.ts';
import { lowestKubelet } from './versions.ts';
import type { StoredObjects } from './view-parts.facts.ts';

/**
 * True for an API version that a later one does not convert: objects of alpha versions have to be deleted before it
 * goes.
 */
const isAlpha = (groupVersion: string): boolean => /\bv\d+alpha\d+\b/.test(groupVersion);

/**
 * The alpha API versions of kinds that Kubernetes no longer knows on the way from version `from` to version `to`, as
 * kubectl takes them: `Workload.v1alpha2.scheduling.k8s.io`. What is stored in etcd in such a version, no newer API
 * server can read (release notes of 1.35 and 1.37: "delete all objects before").
 */
export const unreadableApis = (from: string, to: string): readonly string[] =>
  removedTables
    .filter(({ minor }) => compareVersions(minor, minorOf(from)) > 0 && compareVersions(minor, minorOf(to)) <= 0)
    .flatMap(({ apis }) => apis)
    .filter(isAlpha)
    .map((api) => {
      const [group = '', version = '', kind = ''] = api.split('/');
      return `${kind}.${version}.${group}`;
    });

/** One refusal for each API version with objects that no newer API server can read. */
export const unreadableRefusals = (
  { name, kubernetes: { minor } }: Inventory,
  found: readonly StoredObjects[],
): readonly Refused[] =>
  found.map(
    ({ api, count }) =>
      new Refused(
        'removed-api',
        name,
        `Kubernetes ${minor} cannot read ${String(count)} ${count === 1 ? 'object' : 'objects'} of ${api}, and ` +
          'has no newer version of them',
        `delete those objects yourself when you know what they are for (\`kubectl get ${api} -A\`), then run ` +
          '`kbuild upgrade` again',
      ),
  );

const AGAIN = 'then run `kbuild upgrade` again';
const BY_UP = 'run `kbuild up`, which writes the file from the inventory';

/** How a setting leaves its place. */
const REMEDY: Readonly<Record<PlaceSource, string>> = {
  inventory: 'remove it from the inventory and apply that with `kbuild up`',
  'kubeadm-config': 'remove it with `kubectl -n kube-system edit configmap kubeadm-config`',
  'kubelet-config': 'remove it with `kubectl -n kube-system edit configmap kubelet-config`, then run `kbuild up`',
  'kubeadm-flags.env': BY_UP,
  'config.yaml': BY_UP,
  administrator: 'remove it from the file and run `systemctl restart kubelet`',
};

/**
 * The settings in force with which a component does not start after the upgrade, without those that kbuild takes out
 * itself. A kubelet may be older than the API servers, so the oldest running kubelet counts for kubelets.
 */
function removedSettings(inventory: Inventory, fleet: Fleet, cluster: ClusterUp): readonly RemovedUse[] {
  const to = inventory.kubernetes.version;
  const places = settingsPlaces(inventory, fleet);
  const api = lowestApiServer(cluster);
  const kubelet = [api, lowestKubelet(cluster) ?? api].toSorted(compareVersions)[0]!;
  const isKubelet = ({ component }: { readonly component: string }): boolean => component === 'kubelet';
  const uses = [
    ...removedInUse(
      places.filter((place) => !isKubelet(place)),
      api,
      to,
    ),
    ...removedInUse(places.filter(isKubelet), kubelet, to),
  ].filter(({ kbuildRemovesIt }) => !kbuildRemovesIt);
  return uses.filter((use, i) => !uses.slice(0, i).some((earlier) => covers(earlier, use)));
}

/** True if the same setting stands in a place that the later one is written from: the operator changes the former. */
const covers = (earlier: RemovedUse, later: RemovedUse): boolean =>
  earlier.source !== later.source &&
  earlier.component === later.component &&
  earlier.name === later.name &&
  earlier.kind === later.kind &&
  later.source !== 'administrator' &&
  (earlier.hosts.length === 0 || later.hosts.every((host) => earlier.hosts.includes(host)));

/** Without the setting the API server does not show the objects of an alpha API any more, and they stay in etcd. */
function objectsFirst(uses: readonly RemovedUse[]): string {
  const apis = uses.filter(({ kind, name }) => kind === 'API' && isAlpha(name)).map(({ name }) => name);
  return apis.length === 0
    ? ''
    : `first delete the objects of ${apis.join(', ')} that you made, if there are any; then `;
}

/** One refusal for each place in which settings stand that a newer component does not accept. */
export function removedRefusals(
  inventory: Inventory,
  fleet: Fleet,
  cluster: ClusterUp,
): readonly Refused<'removed-setting'>[] {
  const uses = removedSettings(inventory, fleet, cluster);
  return [...new Set(uses.map(({ where }) => where))].map((where) => {
    const here = uses.filter((use) => use.where === where);
    const { source, hosts, component } = here[0]!;
    const consequence =
      component === 'kubeadm' ? 'kubeadm would refuse its configuration' : `${component} would not start`;
    return new Refused(
      'removed-setting',
      hosts.length === 0 ? inventory.name : hosts.join(', '),
      `${where}: ${here.map(({ message }) => message).join('; ')}: ${consequence}`,
      `${objectsFirst(here)}${REMEDY[source]}, ${AGAIN}`,
    );
  });
}
