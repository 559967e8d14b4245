import { kubectl } from '../../cluster/kubectl.ts';
import type { Inventory, JsonObject, LinuxHost } from '../../inventory/inventory.ts';
import type { Remote } from '../../remote/remote.ts';
import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';
import { portOf } from './objects.ts';

/** A pod of the selftest as the API shows it. */
export interface PodSeen {
  readonly name: string;
  readonly node: string;
  readonly ip: string;
  readonly ready: boolean;
  /** Why it is not ready; empty when it is. */
  readonly reason: string;
}

/** What flows are tried with: the cluster through one control plane, and this machine. */
export interface Bench {
  readonly namespace: string;
  pods(): Promise<readonly PodSeen[]>;
  /** Cluster address and node port of a Service. */
  service(name: string): Promise<{ readonly address: string; readonly nodePort: number }>;
  /** The name of the pod that answers when pod `from` asks; an error says what it said. */
  dial(from: string, host: string, port: number): Promise<string>;
  /** What one of a pod's servers says about itself, by way of the API server. */
  hostname(pod: string, port: number): Promise<string>;
  logs(pod: string): Promise<string>;
  exec(pod: string, command: readonly string[]): Promise<string>;
  portForward(pod: string, port: number): Promise<string>;
  apply(objects: readonly JsonObject[]): Promise<void>;
  /** Makes the namespace; `end` deletes it and waits until all of it is gone. */
  begin(): Promise<void>;
  end(): Promise<void>;
  /** The answer to `GET /hostname` asked from this machine. */
  fromOutside(address: string, port: number): Promise<string>;
}

interface RawPod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly {
      readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
    }[];
  };
}

function seen({ metadata, spec, status }: RawPod): PodSeen {
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const ready = condition('Ready')?.status === 'True';
  const waiting = status.containerStatuses?.map(({ state }) => state?.waiting).find((one) => one !== undefined);
  const scheduling = condition('PodScheduled');
  const reason = ready
    ? ''
    : scheduling?.status === 'False'
      ? (scheduling.message ?? 'not scheduled')
      : waiting === undefined
        ? 'its server does not answer'
        : `${waiting.reason ?? 'waiting'}${waiting.message === undefined ? '' : `: ${waiting.message}`}`;
  return { name: metadata.name, node: spec.nodeName ?? '', ip: status.podIP ?? '', ready, reason };
}

interface Parts {
  readonly inventory: Inventory;
  readonly host: LinuxHost;
  readonly remote: Remote<'sh'>;
  readonly namespace: string;
  readonly fetch: (url: string) => Promise<string>;
}

/** The bench of one cluster. Everything is asked by kubectl on a control plane: nothing is needed on this machine. */
export function benchOf({ inventory, host, remote, namespace, fetch }: Parts): Bench {
  const tool = [...kubectl(inventory, host), '--request-timeout=30s'];
  const inside = [...tool, '-n', namespace];
  const proxy = (pod: string, port: number, path: string): Promise<string> =>
    remote.run(
      sh`${tool} get --raw ${`/api/v1/namespaces/${namespace}/pods/http:${pod}:${String(port)}/proxy/${path}`}`,
    );
  return {
    namespace,
    pods: async () => {
      const out = await remote.run(sh`${inside} get pods -o json`);
      return (JSON.parse(out) as { readonly items: readonly RawPod[] }).items.map(seen);
    },
    service: async (name) => {
      const { spec } = JSON.parse(await remote.run(sh`${inside} get service ${name} -o json`)) as {
        readonly spec: { readonly clusterIP: string; readonly ports: readonly { readonly nodePort: number }[] };
      };
      return { address: spec.clusterIP, nodePort: spec.ports[0]!.nodePort };
    },
    dial: async (from, to, port) => {
      const query = `host=${to}&port=${String(port)}&request=hostname&protocol=http&tries=1`;
      const { responses, errors } = JSON.parse(await proxy(from, portOf(from), `dial?${query}`)) as {
        readonly responses?: readonly string[];
        readonly errors?: readonly string[];
      };
      const [answer] = responses ?? [];
      if (answer === undefined) throw new Error(errors?.[0] ?? 'no answer');
      return answer.trim();
    },
    hostname: async (pod, port) => (await proxy(pod, port, 'hostname')).trim(),
    logs: (pod) => remote.run(sh`${inside} logs ${pod} -c web --tail=50`),
    exec: (pod, command) => remote.run(sh`${inside} exec ${pod} -c web -- ${command}`),
    portForward: (pod, port) =>
      remote.run(script('linux/port-forward.sh', { KUBECTL: inside.join(' '), POD: pod, PORT: port })),
    apply: async (objects) => {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      await remote.run(sh`printf %s ${list} | ${inside} apply -f -`);
    },
    begin: async () => {
      await remote.run(sh`${tool} create namespace ${namespace}`);
    },
    end: async () => {
      await remote.run(sh`${kubectl(inventory, host)} delete namespace ${namespace} --ignore-not-found --timeout=5m`);
    },
    fromOutside: async (address, port) => (await fetch(`http://${address}:${String(port)}/hostname`)).trim(),
  };
}
