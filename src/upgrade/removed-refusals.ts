import { lowestApiServer } from '../cluster/api-versions.ts';
import { Refused } from '../errors.ts';
import type { ClusterUp } from '../facts/cluster.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import { compareVersions } from '../versions.ts';
import { removedInUse, type PlaceSource, type RemovedUse } from './in-use.ts';
import { lowestKubelet } from './kubelet-versions.ts';
import { settingsPlaces } from './settings-places.ts';
import { isAlpha } from './unreadable-objects.ts';

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
 * The settings in force with which a component does not start after the upgrade, without those that kbuild takes out itself.
 * A kubelet may be older than the API servers, so the oldest running kubelet counts for kubelets.
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
export function removedRefusals(inventory: Inventory, fleet: Fleet, cluster: ClusterUp): readonly Refused[] {
  const uses = removedSettings(inventory, fleet, cluster);
  return [...new Set(uses.map(({ where }) => where))].map((where) => {
    const here = uses.filter((use) => use.where === where);
    const { source, hosts, component } = here[0]!;
    const consequence =
      component === 'kubeadm' ? 'kubeadm would refuse its configuration' : `${component} would not start`;
    return new Refused(
      hosts.length === 0 ? inventory.name : hosts.join(', '),
      `${where}: ${here.map(({ message }) => message).join('; ')}: ${consequence}`,
      `${objectsFirst(here)}${REMEDY[source]}, ${AGAIN}`,
    );
  });
}
