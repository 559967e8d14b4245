import { refuseMixed } from '../cluster/api-versions.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { files, type WantedFile } from '../host/file.step.ts';
import { packages, type WantedPackages } from '../host/packages/packages.step.ts';
import { same } from '../inventory/merge.ts';
import { applySettings } from '../kubeadm/apply-settings.ts';
import { paths } from '../paths.ts';
import { ofCluster, textsIn, within } from '../shell/decode.ts';
import { compareVersions } from '../versions.ts';

/** The endpoints that the cluster's stored configuration names. */
const stored = (cluster: ClusterUp): readonly string[] =>
  ofCluster(cluster, 'ClusterConfiguration', () =>
    textsIn(within(cluster.configuration, 'etcd', 'external')['endpoints']),
  );

const hostOf = (url: string): string => url.replace(/^https:\/\/|:\d+$/g, '');

/**
 * @throws Refused if the API servers' endpoints and the inventory's have none in common: the inventory names another
 * etcd
 */
function refuseAnother({ inventory }: Target, wanted: readonly string[], found: readonly string[]): void {
  if (found.length === 0 || found.some((url) => wanted.includes(url))) return;
  throw new Refused(
    'other-etcd',
    inventory.name,
    `its API servers use etcd at ${found.join(', ')}, and the inventory names other endpoints (${wanted.join(', ')})`,
    'a cluster cannot be put onto another etcd; members are replaced one by one, so that one endpoint always stays',
  );
}

/**
 * Points a joined control plane's API server to the inventory's etcd endpoints when members were added or removed, and
 * updates the stored configuration for control planes that join later. One API server restarts at a time.
 */
export const etcdEndpoints: Step = {
  name: 'etcd-endpoints',
  needs: 'whole-control-plane',
  settleMs: 60_000,
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const { etcd } = inventory;
    const { cluster } = fleet;
    if (etcd.topology === 'stacked' || standing(target) !== 'joined' || cluster.state === 'absent') return [];
    if (cluster.state === 'down') return [waitForApi(cluster)];
    const found = facts.etcdServers === 'absent' ? etcd.endpoints : facts.etcdServers;
    refuseAnother(target, etcd.endpoints, found);
    const isOld = !same([...found].sort(), [...etcd.endpoints].sort());
    const isNoted = same([...stored(cluster)].sort(), [...etcd.endpoints].sort());
    if (!isOld && (isNoted || cluster.via !== host.name)) return [];
    refuseMixed(inventory.name, cluster, 'a change of the endpoints of etcd');
    const parts = [cluster.via === host.name && !isNoted ? ('cluster' as const) : ('manifests' as const)];
    return [
      {
        summary:
          `point the API server of ${host.name} to etcd at ${etcd.endpoints.map(hostOf).join(', ')} (found ` +
          `${(isOld ? found : stored(cluster)).map(hostOf).join(', ')})`,
        disrupts: isOld,
        ...(isOld ? { restarts: [{ what: 'API server', hosts: [host.name], aboutMs: ABOUT_MS.apiServer }] } : {}),
        apply: (on) => applySettings(on, inventory, host, { job: 'etcd-endpoints', parts }),
      },
    ];
  },
};

/** The oldest external etcd that kubeadm of the supported minors accepts (its constants.go, 1.36). */
export const OLDEST_EXTERNAL_ETCD = '3.5.24';

/** curl: a control plane probes an etcd on other hosts with it, because it has no etcdctl. */
const curl = packages('etcd-curl', ({ inventory }): WantedPackages =>
  inventory.etcd.topology !== 'stacked' ? { curl: 'any' } : {},
);

/** Writes the CA of the user's etcd, and the API server's client certificate with its key. */
const certificates = files('etcd-client-certificates', ({ inventory: { etcd } }): readonly WantedFile[] =>
  etcd.topology !== 'external'
    ? []
    : [
        { path: paths.etcdCa, content: etcd.ca },
        { path: paths.etcdClientCertificate, content: etcd.cert },
        { path: paths.etcdClientKey, content: etcd.key },
      ],
);

/** The reasons why the host cannot use the etcd yet. @throws Refused if the etcd has the data of another cluster */
function missing({ host, facts, fleet }: Target): readonly string[] {
  const { externalEtcd } = facts;
  if (externalEtcd === 'not asked') return ['its certificates are there'];
  const full = externalEtcd.find(({ keys }) => keys > 0);
  if (full !== undefined && fleet.cluster.state === 'absent')
    throw new Refused(
      'foreign-etcd-data',
      host.name,
      `the etcd at ${full.url} holds ${String(full.keys)} keys of a Kubernetes cluster, and there is none of ` +
        'this inventory',
      'set etcd.endpoints to an etcd without keys below /registry/. kbuild does not know to which cluster these ' +
        'keys belong, and never deletes them; the administrator of that etcd can list them with `etcdctl get ' +
        '--prefix --keys-only /registry/`',
    );
  return externalEtcd.flatMap(({ url, problem, version }) => {
    if (problem !== undefined) return [`${url}: ${problem}`];
    return compareVersions(version, OLDEST_EXTERNAL_ETCD) < 0
      ? [`${url}: it is etcd ${version}, and ${OLDEST_EXTERNAL_ETCD} is the oldest`]
      : [];
  });
}

/** Waits until every member of the etcd answers this control plane, is healthy and new enough. */
const ready: Step = {
  name: 'external-etcd-ready',
  settleMs: 30_000,
  diff: (target) => {
    if (target.inventory.etcd.topology === 'stacked' || standing(target) === 'joined') return [];
    const found = missing(target);
    return found.length === 0 ? [] : [{ summary: `wait until the external etcd is ready (${found.join('; ')})` }];
  },
};

/**
 * Connects a control plane to an etcd outside the control planes, before kubeadm runs. Does nothing if etcd is stacked.
 */
export const externalEtcd: readonly Step[] = [curl, certificates, ready];
