import { kubectl } from '../../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { isIP, overlap } from '../../inventory/addresses.ts';
import { type PodSeen, podSpace, type PodSpace } from '../../network/pods.survey.ts';
import { numberIn, objectOf, objectsOf, textIn, textsIn, within } from '../../shell/decode.ts';
import { sh } from '../../shell/sh.ts';
import type { Remote } from '../../ssh/remote.ts';
import { script } from '../../templates.ts';
import { type GroupPods, HOST_POD, LINUX_POD, portOf, WEB_PORT, WINDOWS_HOST_PROGRAM } from './objects.ts';
import { fail, type Group, limit, notTried, type Outcome, pass } from './plan.ts';

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

/** `host:port` to connect to, or why there is none. */
type Place = { readonly target: string } | { readonly none: string };

/** A place outside the cluster: packets to it leave with the address of their host. */
export interface Outside {
  readonly byAddress: Place;
  /** A name that the DNS of the cluster must forward. */
  readonly byName: Place;
}

const hostOf = (target: string): string => target.slice(0, target.lastIndexOf(':')).replaceAll(/^\[|\]$/g, '');
const portPart = (target: string): string => target.slice(target.lastIndexOf(':') + 1);

/** The server from which the nodes pull the test image: a name that some DNS of the site knows. */
export function defaultOutside({ network, runtime }: Pick<Inventory, 'network' | 'runtime'>): string {
  const registry = network.testImage.split('/')[0]!;
  const mirror = runtime.registries.find(({ host }) => host === registry)?.mirrors[0];
  const { hostname, port, protocol } = new URL(mirror ?? `https://${registry}`);
  return `${hostname}:${port === '' ? (protocol === 'http:' ? '80' : '443') : port}`;
}

/**
 * True for an address that pods reach without translation: one of pods, Services, or hosts. A connection there proves
 * nothing about the outside.
 */
function isInside(address: string, { network, hosts }: Pick<Inventory, 'network' | 'hosts'>): boolean {
  const subnets = [network.podSubnet, network.serviceSubnet].flatMap((list) => list.split(','));
  const single = `${address}/${address.includes(':') ? '128' : '32'}`;
  return (
    hosts.some((host) => [host.address, host.internalAddress].includes(address)) ||
    subnets.some((subnet) => overlap(subnet, single))
  );
}

/**
 * Places outside the cluster to which the selftest connects. `target`: `host:port`. `resolve`: IPv4 addresses of a
 * name, as a control plane sees them; empty if it knows none.
 */
export async function outsideOf(
  inventory: Pick<Inventory, 'network' | 'hosts'>,
  target: string,
  resolve: (name: string) => Promise<readonly string[]>,
): Promise<Outside> {
  const host = hostOf(target);
  const isName = isIP(host) === 0;
  const addresses = isName ? await resolve(host) : [host];
  const outer = addresses.find((address) => !isInside(address, inventory));
  const unknown = `no control plane resolves ${host}: name a server with --outside`;
  const inside = `${host} is inside the cluster, or a host of it: name a server with --outside`;
  const none = { none: addresses.length === 0 ? unknown : inside };
  return {
    byAddress:
      outer === undefined ? none : { target: `${outer.includes(':') ? `[${outer}]` : outer}:${portPart(target)}` },
    byName: isName
      ? addresses.length === 0
        ? none
        : { target }
      : { none: `${host} is an address: give --outside a name` },
  };
}

/** The inputs of all flows of one group. */
export interface Trial {
  readonly bench: Bench;
  readonly group: Group;
  readonly names: GroupPods;
  readonly pods: ReadonlyMap<string, PodSeen>;
  /** Names of the pods behind the group's Service. */
  readonly behind: readonly string[];
  readonly nodeAddresses: ReadonlyMap<string, string>;
  readonly linuxNodes: readonly string[];
  readonly dnsDomain: string;
  /** Why a Windows node need not reach pods of other nodes (`WindowsPlugin`). */
  readonly nodeLimit: string | undefined;
  /** Places outside the cluster. */
  readonly outside: Outside;
}

/** Why a flow that needs a Linux node is not tried. */
export const NO_LINUX = 'no Linux node takes pods';
/** Passes if one of the expected pods answered. */
export const answers = async (answered: Promise<string>, expected: readonly string[]): Promise<Outcome> => {
  const answer = await answered;
  return expected.includes(answer) ? pass : fail(`${answer === '' ? 'nothing' : answer} answered`);
};

/** Address of a pod; empty if it has none. */
export const ipOf = ({ pods }: Trial, name: string): string => pods.get(name)?.ip ?? '';

/** A pod connects by TCP to a place, or says why there is none. */
export const toPlace = async ({ bench, names }: Trial, place: Place): Promise<Outcome> => {
  if ('none' in place) return notTried(place.none);
  await bench.exec(names.main, ['/agnhost', 'connect', place.target, '--timeout=5s']);
  return pass;
};

/** Ports of a node that pods may have to reach: the kubelet and the health of kube-proxy. */
const NODE_PORTS = [10_250, 10_256];

/** A pod connects to its own node, to another of its group, and to a Linux node. */
export async function toNodes({ bench, group, names, nodeAddresses, linuxNodes }: Trial): Promise<Outcome> {
  const nodes = new Set([...group.nodes.map(({ name }) => name), ...linuxNodes.slice(0, 1)]);
  for (const node of nodes) {
    for (const port of NODE_PORTS) {
      const target = `${nodeAddresses.get(node) ?? ''}:${String(port)}`;
      await bench.exec(names.main, ['/agnhost', 'connect', target, '--timeout=5s']).catch((error: unknown) => {
        throw new Error(`${target} of ${node}: ${(error as Error).message.split('\n')[0]!}`);
      });
    }
  }
  return pass;
}

/** A node connects to a pod that runs on another node. */
export async function nodeToOtherNode(trial: Trial): Promise<Outcome> {
  const { bench, group, names, pods } = trial;
  const source = group.os === 'windows' ? names.host! : HOST_POD;
  const own = pods.get(source)?.node;
  if (own === undefined) return notTried(NO_LINUX);
  const target = [...trial.behind, LINUX_POD].find((name) => pods.has(name) && pods.get(name)!.node !== own);
  if (target === undefined) return notTried('there is only one node that takes pods');
  if (group.os === 'linux') return answers(bench.dial(source, ipOf(trial, target), WEB_PORT), [target]);
  const seen = pods.get(source)!;
  if (!seen.ready) return fail(`its HostProcess pod does not run: ${seen.reason}`);
  const place = `${ipOf(trial, target)}:${String(WEB_PORT)}`;
  const connected = bench.exec(source, [WINDOWS_HOST_PROGRAM, 'connect', place, '--timeout=5s']).then(() => pass);
  const { nodeLimit } = trial;
  return nodeLimit === undefined ? connected : connected.catch(() => limit(nodeLimit));
}
