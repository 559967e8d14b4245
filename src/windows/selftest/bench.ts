import { kubectl } from '../../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { podSpace, type PodSpace } from '../../network/pods.survey.ts';
import { numberIn, objectOf, objectsOf, textIn, textsIn, within } from '../../shell/decode.ts';
import { sh } from '../../shell/sh.ts';
import type { Remote } from '../../ssh/remote.ts';
import { script } from '../../templates.ts';
import { portOf } from './objects.ts';

/** What flows can do: use the cluster through one control plane, and connect from this machine. */
export interface Bench extends Omit<PodSpace, 'warnings'> {
  /** Cluster address and node port of a Service. */
  service(name: string): Promise<{ readonly address: string; readonly nodePort: number }>;
  /**
   * Name of the pod that answers a request of pod `from`. Throws an Error with the answer's first error if none does.
   */
  dial(from: string, host: string, port: number): Promise<string>;
  /** Hostname that the pod's server at this port returns, through the API server's proxy. */
  hostname(pod: string, port: number): Promise<string>;
  logs(pod: string): Promise<string>;
  portForward(pod: string, port: number): Promise<string>;
  /** IPv4 addresses of a name, as the control plane resolves it; empty if it does not. */
  resolve(name: string): Promise<readonly string[]>;
  /** The answer to `GET /hostname`, sent from this machine. */
  fromOutside(address: string, port: number): Promise<string>;
}

interface Parts {
  readonly inventory: Inventory;
  readonly host: LinuxHost;
  readonly remote: Remote<'sh'>;
  readonly namespace: string;
  readonly fetch: (url: string) => Promise<string>;
}

/** Longer than any selftest. If kbuild is killed, a later run deletes the namespace after this time. */
const LIFE_SECONDS = 4 * 60 * 60;

/** The bench of one cluster. It runs kubectl on a control plane, so this machine needs no kubeconfig. */
export function benchOf({ inventory, host, remote, namespace, fetch }: Parts): Bench {
  const tool = [...kubectl(inventory, host), '--request-timeout=30s'];
  const inside = [...tool, '-n', namespace];
  const proxy = (pod: string, port: number, path: string): Promise<string> =>
    remote.run(
      sh`${tool} get --raw ${`/api/v1/namespaces/${namespace}/pods/http:${pod}:${String(port)}/proxy/${path}`}`,
    );
  const space = podSpace({
    kubectl: kubectl(inventory, host),
    remote,
    namespace,
    // One pod uses hostNetwork, which only the level `privileged` allows.
    security: 'privileged',
    lifeSeconds: LIFE_SECONDS,
  });
  return {
    ...space,
    service: async (name) => {
      const spec = within(JSON.parse(await remote.run(sh`${inside} get service ${name} -o json`)), 'spec');
      return { address: textIn(spec['clusterIP']), nodePort: numberIn(objectsOf(spec['ports'])[0]?.['nodePort']) };
    },
    dial: async (from, to, port) => {
      const query = `host=${to}&port=${String(port)}&request=hostname&protocol=http&tries=1`;
      const { responses, errors } = objectOf(JSON.parse(await proxy(from, portOf(from), `dial?${query}`)));
      const [answer] = textsIn(responses);
      if (answer === undefined) throw new Error(textsIn(errors)[0] ?? 'no answer');
      return answer.trim();
    },
    hostname: async (pod, port) => (await proxy(pod, port, 'hostname')).trim(),
    logs: (pod) => remote.run(sh`${inside} logs ${pod} -c web --tail=50`),
    portForward: (pod, port) =>
      remote.run(script('windows/port-forward.sh', { KUBECTL: inside.join(' '), POD: pod, PORT: port })),
    resolve: async (name) => {
      const out = await remote.run(sh`getent ahostsv4 ${name} || [ $? -eq 2 ]`);
      return [...new Set(out.split('\n').flatMap((line) => line.split(' ')[0]?.trim() || []))];
    },
    fromOutside: async (address, port) => (await fetch(`http://${address}:${String(port)}/hostname`)).trim(),
  };
}
