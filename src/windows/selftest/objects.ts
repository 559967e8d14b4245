import type { NodeView } from '../../cluster/fleet/view.ts';
import { WINDOWS_TAINT } from '../../inventory/hosts.ts';
import type { Taint } from '../../inventory/inventory.ts';
import type { JsonObject } from '../../shell/decode.ts';
import { IMAGE_ROOT } from '../network/host-pods.step.ts';
import { RELEASES } from '../runtime-classes.step.ts';
import { blockingTaints, type Group, type SelftestPlan } from './plan.ts';

/** Ports of the web servers in the first and second container of a pod. */
export const WEB_PORT = 8080;
export const SIDE_PORT = 8081;

/** Content of the ConfigMap and the Secret, which flows read in a pod. */
export const CONTENT = { config: 'from-a-config-map', secret: 'from-a-secret' } as const;
/** Mount paths of both; on Windows they are on drive C:. */
export const MOUNTS = { config: '/kbuild-config/value', secret: '/kbuild-secret/value' } as const;

/** The user of the pod that sets `runAsUserName`. */
export const WINDOWS_USER = 'ContainerUser';

/** Names of the pods of one group, by purpose. */
export interface GroupPods {
  /** On the first node. */
  readonly main: string;
  /** On the same node. */
  readonly beside: string;
  /** On the second node; undefined when the group has only one. */
  readonly across: string | undefined;
  /** Scheduled only by its RuntimeClass; undefined if kbuild has none for the build. */
  readonly byClass: string | undefined;
  /** Sets `runAsUserName`; undefined on Linux. */
  readonly asUser: string | undefined;
  /** A HostProcess pod on the first node, which stands for that node; undefined on Linux. */
  readonly host: string | undefined;
}

/** Name of the RuntimeClass for the group's build, e.g. `windows-2025`; undefined if kbuild has none. */
export const runtimeClassOf = ({ build }: Group): string | undefined => {
  const found = RELEASES.find((release) => release.build === build);
  return found === undefined ? undefined : `windows-${found.release}`;
};

const short = (about: string): string => about.replaceAll(/[^a-z0-9]+/g, '-');

/** Names of the group's pods. */
export function podsOf(group: Group): GroupPods {
  const name = short(group.about);
  return {
    main: `${name}-main`,
    beside: `${name}-beside`,
    across: group.nodes.length > 1 ? `${name}-across` : undefined,
    byClass: runtimeClassOf(group) === undefined ? undefined : `${name}-by-class`,
    asUser: group.os === 'windows' ? `${name}-as-user` : undefined,
    host: group.os === 'windows' ? `${name}-host` : undefined,
  };
}

/** Name of the Service of the group's pods. */
export const serviceOf = ({ about }: Group): string => short(about);

/** Name of the headless Service, below which each pod of the group has a name. */
export const headlessOf = (group: Group): string => `${serviceOf(group)}-pods`;

/** A Linux pod with hostNetwork, which stands for a Linux node. */
export const HOST_POD = 'linux-host';
/** A Linux pod to which Windows pods connect. */
export const LINUX_POD = 'linux-peer';
/** A pod without node selector and tolerations. */
export const PLAIN_POD = 'plain';

/** agnhost in a HostProcess pod: its image lies there, and its own root is that of the host. */
export const WINDOWS_HOST_PROGRAM = `${IMAGE_ROOT}\\agnhost.exe`;

/** Port of the pod with hostNetwork. No free port is known beforehand; this port is rarely in use. */
const HOST_PORT = 18_479;

const web = (image: string, name: string, port: number): JsonObject => ({
  name,
  image,
  args: ['netexec', `--http-port=${String(port)}`, '--udp-port=-1'],
  ports: [{ containerPort: port }],
  // agnhost's /healthz needs its UDP server, and two UDP servers in one pod would use the same port.
  readinessProbe: { httpGet: { path: '/hostname', port }, periodSeconds: 2 },
});

/** Lets a pod on a node with taints. */
const tolerating = (taints: readonly Taint[]): readonly JsonObject[] =>
  taints.map(({ key, value = '', effect }) => ({ key, operator: 'Equal', value, effect }));

/** The fields of a pod that is pinned to a node. */
const pinnedTo = (node: NodeView): JsonObject => ({
  nodeSelector: onNode(node),
  tolerations: tolerating(blockingTaints(node)),
});

const onNode = ({ name }: NodeView): JsonObject => ({ 'kubernetes.io/hostname': name });

const pod = (name: string, labels: JsonObject, spec: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false, ...spec },
});

/** A HostProcess pod. The firewall of Windows lets no connection in to it: flows run its program instead. */
const windowsHostPod = (name: string, node: NodeView, image: string): JsonObject => ({
  ...pod(
    name,
    {},
    {
      ...pinnedTo(node),
      hostNetwork: true,
      securityContext: { windowsOptions: { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' } },
      containers: [{ name: 'web', image, command: [WINDOWS_HOST_PROGRAM], args: ['pause'] }],
    },
  ),
});

function groupObjects(group: Group, image: string): readonly JsonObject[] {
  const names = podsOf(group);
  const labels = { app: serviceOf(group) };
  const volumes = [
    { name: 'config', configMap: { name: 'selftest' } },
    { name: 'secret', secret: { secretName: 'selftest' } },
  ];
  const volumeMounts = [
    { name: 'config', mountPath: '/kbuild-config' },
    { name: 'secret', mountPath: '/kbuild-secret' },
  ];
  const containers = [{ ...web(image, 'web', WEB_PORT), volumeMounts }, web(image, 'side', SIDE_PORT)];
  const pinned = (name: string, node: NodeView): JsonObject =>
    pod(name, labels, { ...pinnedTo(node), hostname: name, subdomain: headlessOf(group), containers, volumes });
  const [first, second] = group.nodes;
  const service = (name: string, spec: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: labels, ports: [{ port: 80, targetPort: WEB_PORT }], ...spec },
  });
  return [
    pinned(names.main, first!),
    pinned(names.beside, first!),
    ...(names.across === undefined ? [] : [pinned(names.across, second!)]),
    ...(names.byClass === undefined
      ? []
      : [
          pod(
            names.byClass,
            {},
            {
              runtimeClassName: runtimeClassOf(group)!,
              // Its class tolerates the taint of Windows; what else the inventory has put on a node is not its
              // business.
              tolerations: tolerating(
                group.nodes.flatMap((node) => blockingTaints(node).filter(({ key }) => key !== WINDOWS_TAINT.key)),
              ),
              containers: [web(image, 'web', WEB_PORT)],
            },
          ),
        ]),
    ...(names.asUser === undefined
      ? []
      : [
          pod(
            names.asUser,
            {},
            {
              ...pinnedTo(first!),
              securityContext: { windowsOptions: { runAsUserName: WINDOWS_USER } },
              containers: [web(image, 'web', WEB_PORT)],
            },
          ),
        ]),
    ...(names.host === undefined ? [] : [windowsHostPod(names.host, first!, image)]),
    service(serviceOf(group), { type: 'NodePort' }),
    service(headlessOf(group), { clusterIP: 'None' }),
  ];
}

/** Everything that the selftest creates in its namespace. To clean up, kbuild deletes the namespace. */
export function selftestObjects({ groups, linux }: SelftestPlan, image: string): readonly JsonObject[] {
  const [helper] = linux;
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'selftest' }, data: { value: CONTENT.config } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'selftest' }, stringData: { value: CONTENT.secret } },
    ...(helper === undefined
      ? []
      : [
          pod(LINUX_POD, { app: LINUX_POD }, { ...pinnedTo(helper), containers: [web(image, 'web', WEB_PORT)] }),
          pod(
            HOST_POD,
            {},
            {
              hostNetwork: true,
              ...pinnedTo(helper),
              containers: [web(image, 'web', HOST_PORT)],
            },
          ),
        ]),
    pod(PLAIN_POD, {}, { containers: [web(image, 'web', WEB_PORT)] }),
    ...groups.flatMap((group) => groupObjects(group, image)),
  ];
}

/** Port at which a pod of the selftest listens. */
export const portOf = (name: string): number => (name === HOST_POD ? HOST_PORT : WEB_PORT);
