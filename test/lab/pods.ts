/** Pods that answer, to prove that a cluster's network carries: agnhost's netexec on every node, asked by way of each other. */
import type { Result } from './run.ts';
import { ssh } from './ssh.ts';
import { PATIENCE_MS, waitUntil } from './wait-until.ts';
import { VERSIONS } from './versions.ts';

/** One echoing pod. */
export interface EchoPod {
  readonly name: string;
  readonly node: string;
  readonly ip: string;
}

const PORT = 8080;
const IMAGE = `registry.k8s.io/e2e-test-images/agnhost:${VERSIONS.agnhost}`;

/** A control plane: the name of a host of the lab, or what runs a shell command on any other one. */
export type ControlPlane = string | ((command: string, stdin?: string) => Promise<Result>);

/** kubectl on a control plane as its administrator; throws with its stderr. */
export async function kubectl(controlPlane: ControlPlane, args: string, stdin?: string): Promise<string> {
  const command = `kubectl --kubeconfig /etc/kubernetes/admin.conf ${args}`;
  const { code, stdout, stderr } = await (typeof controlPlane === 'string'
    ? ssh(controlPlane, command, stdin)
    : controlPlane(command, stdin));
  if (code !== 0) throw new Error(`kubectl ${args}: ${stderr}`);
  return stdout;
}

/** Nodes by name with their Ready condition. */
export async function nodes(controlPlane: ControlPlane): Promise<Readonly<Record<string, boolean>>> {
  const { items } = JSON.parse(await kubectl(controlPlane, 'get nodes -o json')) as {
    items: { metadata: { name: string }; status: { conditions: { type: string; status: string }[] } }[];
  };
  return Object.fromEntries(
    items.map(({ metadata, status }) => [
      metadata.name,
      status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    ]),
  );
}

/**
 * Starts an echoing pod on every node and a Service `echo` in front of them; returns the pods when all are ready.
 * @throws Error if they are not within these seconds
 */
export async function startEcho(
  controlPlane: ControlPlane,
  namespace: string,
  seconds = 120,
): Promise<readonly EchoPod[]> {
  const labels = { app: 'echo' };
  const container = {
    name: 'echo',
    image: IMAGE,
    args: ['netexec', `--http-port=${String(PORT)}`],
    ports: [{ containerPort: PORT, hostPort: 18080 }],
    readinessProbe: { httpGet: { path: '/healthz', port: PORT }, periodSeconds: 1 },
  };
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'echo', namespace },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { tolerations: [{ operator: 'Exists' }], terminationGracePeriodSeconds: 0, containers: [container] },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'echo', namespace },
      spec: { selector: labels, ports: [{ port: 80, targetPort: PORT }] },
    },
  ];
  await kubectl(controlPlane, 'apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await kubectl(controlPlane, `-n ${namespace} rollout status daemonset/echo --timeout=${String(seconds)}s`);
  const { items } = JSON.parse(await kubectl(controlPlane, `-n ${namespace} get pods -l app=echo -o json`)) as {
    items: { metadata: { name: string }; spec: { nodeName: string }; status: { podIP: string } }[];
  };
  return items.map(({ metadata, spec, status }) => ({ name: metadata.name, node: spec.nodeName, ip: status.podIP }));
}

/** Removes what `startEcho` made. */
export async function stopEcho(controlPlane: ControlPlane, namespace: string): Promise<void> {
  await kubectl(controlPlane, `delete namespace ${namespace} --timeout=120s`);
}

/** True if an echoing pod answers the machine of the lab, which is no node, at an address of a Service. By a connection of its own. */
export async function answersFromOutside(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`http://${address}/hostname`, {
      signal: AbortSignal.timeout(1000),
      headers: { connection: 'close' },
    });
    return (await answer.text()).startsWith('echo-');
  } catch {
    return false;
  }
}

/** The name of the pod that answered when `from` asked `host:port`, or its answer to another request; undefined if none answered. */
export async function dial(
  controlPlane: ControlPlane,
  namespace: string,
  from: EchoPod,
  host: string,
  port = PORT,
  request = 'hostname',
): Promise<string | undefined> {
  const query = `host=${host}&port=${String(port)}&request=${encodeURIComponent(request)}&protocol=http&tries=1`;
  const path = `/api/v1/namespaces/${namespace}/pods/http:${from.name}:${String(PORT)}/proxy/dial?${query}`;
  const { responses } = JSON.parse(await kubectl(controlPlane, `get --raw '${path}'`)) as { responses?: string[] };
  return responses?.[0];
}

/** A pod on one of the nodes asks a Service by its DNS name until a pod on another node has answered. */
export async function echoThroughService(
  controlPlane: ControlPlane,
  onNodes: readonly string[],
): Promise<{ readonly from: string; readonly to: string; readonly answer: string }> {
  const namespace = 'echo';
  const pods = await startEcho(controlPlane, namespace);
  const from = pods.find(({ node }) => onNodes.includes(node))!;
  const other = await waitUntil('a pod on another host answers through the Service', PATIENCE_MS, async () => {
    const answer = await dial(controlPlane, namespace, from, `echo.${namespace}.svc.cluster.local`, 80);
    return pods.find(({ name, node }) => name === answer && node !== from.node);
  });
  await stopEcho(controlPlane, namespace);
  return { from: from.node, to: other.node, answer: other.name };
}
