import type { Addons, Kured, NodesSeen } from '../facts/upgrade-addons.ts';
import type { DeprecatedApi, FailingWebhook } from '../facts/upgrade-parts.ts';
import type { UpgradeView } from '../facts/upgrade-view.ts';
import { compareVersions, minorOf } from '../versions.ts';
import { hostList } from './host-list.ts';
import { breaking, note, some, unknown, warning, type UpgradeScope } from './upgrade-lines.ts';

/** `networking.k8s.io/v1beta1 ipaddresses/status` */
const apiName = ({ group, version, resource, subresource }: DeprecatedApi): string =>
  `${group === '' ? '' : `${group}/`}${version} ${resource}${subresource === '' ? '' : `/${subresource}`}`;

/**
 * Deprecated APIs that clients requested, each with the hosts of the API servers that served it. What no release removes yet
 * is left out: Kubernetes' own controllers use some of it (v1 Endpoints).
 */
export function deprecatedApiLines(apis: UpgradeView['deprecatedApis'], { target }: UpgradeScope): readonly string[] {
  const seen = new Map<string, { readonly api: DeprecatedApi; readonly hosts: string[] }>();
  for (const [host, part] of apis) {
    for (const api of 'value' in part ? part.value : []) {
      if (api.removedRelease === '') continue;
      const key = `${apiName(api)} ${api.removedRelease}`;
      const entry = seen.get(key) ?? { api, hosts: [] };
      seen.set(key, entry);
      entry.hosts.push(host);
    }
  }
  const isRemoved = ({ removedRelease }: DeprecatedApi): boolean =>
    compareVersions(removedRelease, minorOf(target)) <= 0;
  const sorted = [...seen.values()].toSorted((a, b) => compareVersions(a.api.removedRelease, b.api.removedRelease));
  return sorted.map(({ api, hosts }) =>
    isRemoved(api)
      ? breaking(
          `${apiName(api)} is not served by ${api.removedRelease} any more (requested on ${hostList(hosts)})`,
          "move its clients to a newer version of this API before the upgrade; the API server's audit log names them (annotation k8s.io/deprecated)",
        )
      : note(`${apiName(api)} is removed in ${api.removedRelease} (requested on ${hostList(hosts)})`),
  );
}

const hookName = ({ name, service }: FailingWebhook): string =>
  service === undefined ? name : `${name} (service ${service})`;

/** Webhooks whose failure fails requests: those that no endpoint answers now, and those that a drain can take away. */
export function webhookLines(webhooks: readonly FailingWebhook[]): readonly string[] {
  const dead = webhooks.filter(({ endpoint }) => endpoint === 'none');
  const served = webhooks.filter(({ endpoint }) => endpoint === 'ready');
  return [
    ...warning(
      dead,
      `webhooks with failurePolicy Fail have no ready endpoint: ${some(dead.map(hookName))}`,
      'make the pods of their services ready, or delete the webhooks: every request that they match fails, evictions and the Job of kubeadm among them',
    ),
    ...(served.length === 0
      ? []
      : [
          note(
            `webhooks with failurePolicy Fail: ${some(served.map(hookName))}; requests that they match fail while none of their pods is ready`,
          ),
        ]),
  ];
}

const CONFIGURATION = 'the ClusterConfiguration of ConfigMap kube-system/kubeadm-config';

/** What kubeadm overwrites or creates again. Nothing if the part is unknown. */
export function addonLines(addons: Addons | undefined): readonly string[] {
  if (addons === undefined) return [];
  const { coreDnsEdits: edits, comesBack } = addons;
  const edited = typeof edits === 'string' ? [] : edits;
  return [
    ...warning(
      edited,
      `kubeadm overwrites what was edited in Deployment kube-system/coredns: ${edited
        .map(({ manager, fields }) => `${some(fields)} (by ${manager})`)
        .join('; ')}`,
      'to keep it, write it as a patch corednsdeployment.yaml into the folder of `kubeadm.patches`; replicas and the Corefile stay',
    ),
    ...(edits === 'unknown'
      ? [unknown('who set the fields of Deployment kube-system/coredns; kubeadm overwrites all but its replicas')]
      : []),
    ...comesBack.flatMap((addon) =>
      warning(
        [addon],
        `kubeadm creates ${addon} again, which was deleted from this cluster`,
        `to keep it away, set \`${addon === 'CoreDNS' ? 'dns' : 'proxy'}.disabled: true\` in ${CONFIGURATION}`,
      ),
    ),
  ];
}

/** Cordons of the operator, and kured's lock. */
export function nodeLines(
  nodes: NodesSeen | undefined,
  kured: Kured | undefined,
  scope: UpgradeScope,
): readonly string[] {
  const cordoned = (nodes?.cordonedByOperator ?? []).filter((name) => scope.nodes?.includes(name) ?? true);
  const locks = kured === undefined || kured === 'absent' ? [] : kured.locks;
  return [
    ...(cordoned.length === 0 ? [] : [note(`cordoned by an operator, and cordoned afterwards: ${hostList(cordoned)}`)]),
    ...warning(
      locks,
      `kured holds its lock for ${locks.map(({ node, since }) => `${node} (since ${since})`).join(', ')}`,
      'wait until kured has restarted the node and released the lock',
    ),
  ];
}
