import { limiter } from '../each-limit.ts';
import type { JsonObject } from '../model/inventory.ts';
import { script } from '../templates.ts';
import { CONTAINER, type PodSpace } from './pod-space.ts';
import { podsStarted, type Patience } from './pods-seen.ts';
import { reasonOf } from './surveyed.ts';

/** What a pod connects to: a pod of another node, the API by its Service address, and by its name. */
export type PodTarget = { readonly about: 'pod'; readonly node: string } | { readonly about: 'api' | 'dns' };

/** A way from a pod of a node that does not lead there. */
export interface PodBlocked {
  readonly from: string;
  readonly to: PodTarget;
  /** e.g. `no answer within 3 s` */
  readonly how: string;
}

/** The network of a live cluster as pods on its nodes see it. */
export interface PodNetwork {
  /** Ways that were tried. */
  readonly tried: number;
  readonly blocked: readonly PodBlocked[];
  /** Nodes on which nothing could be tried, and why. */
  readonly failed: readonly NotTried[];
  /** Nodes that were left alone, and why. */
  readonly untried: readonly NotTried[];
}

/** A node on which nothing was tried. */
export interface NotTried {
  readonly node: string;
  readonly reason: string;
}

const PORT = 8080;

/** Pods that are asked at once: each is a kubectl on one control plane. */
const AT_ONCE = 10;

const podOn = (node: string): string => `on-${node}`;

/** A pod that any cluster takes, also one that restricts pods (Pod Security Standards), on the node whatever its taints. */
function trialPod(node: string, image: string): JsonObject {
  const container = {
    name: CONTAINER,
    image,
    args: ['netexec', `--http-port=${String(PORT)}`, '--udp-port=-1'],
    ports: [{ containerPort: PORT }],
    // Its /healthz waits for a UDP server.
    readinessProbe: { httpGet: { path: '/hostname', port: PORT }, periodSeconds: 1 },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podOn(node), labels: { app: 'kbuild-check' } },
    spec: {
      nodeName: node,
      tolerations: [{ operator: 'Exists' }],
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_534, seccompProfile: { type: 'RuntimeDefault' } },
      // A name that is not found must not take longer than all else.
      dnsConfig: {
        options: [
          { name: 'timeout', value: '2' },
          { name: 'attempts', value: '2' },
        ],
      },
      containers: [container],
    },
  };
}

function how(said: string): string {
  if (said.startsWith('TIMEOUT')) return 'no answer within 3 s';
  if (said.startsWith('REFUSED')) return 'refused';
  return said.replace(/^(?:OTHER|DNS): /, '');
}

/** The results of a pod by target, from lines `TARGET ANSWER`: undefined where the way is free. */
export function readPodConnects(
  out: string,
  targets: readonly (readonly [address: string, target: PodTarget])[],
): readonly (readonly [PodTarget, string | undefined])[] {
  const answers = new Map(
    out.split('\n').map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const),
  );
  return targets.map(([address, target]) => {
    const said = answers.get(address) ?? 'it was not tried';
    // What comes after the name is the way by the Service address, which is tried by itself.
    const free = said === 'open' || (target.about === 'dns' && /^(?:TIMEOUT|REFUSED|OTHER)/.test(said));
    return [target, free ? undefined : how(said)];
  });
}

const at = (ip: string): string => (ip.includes(':') ? `[${ip}]` : ip) + `:${String(PORT)}`;

/** What the survey of pods needs. */
export interface PodSurveyOptions extends Patience {
  readonly image: string;
  /** Service `kubernetes`: `address:port`. */
  readonly api: string;
}

/**
 * Starts a pod on every named node, and from each connects to all others, to the API by its Service address, and by its
 * name: one command a node, and one more where something failed, because a packet may get lost. Cleans up whatever happens.
 * @throws CommandError, ConnectError when the cluster cannot be asked; the signal's reason when it was aborted
 */
export async function podNetwork(
  space: PodSpace,
  nodes: readonly string[],
  { image, api, ...patience }: PodSurveyOptions,
): Promise<Omit<PodNetwork, 'untried'>> {
  const { say, signal } = patience;
  await space.begin();
  try {
    await space.apply(nodes.map((node) => trialPod(node, image)));
    const pods = await podsStarted(() => space.pods(), patience);
    const ready = pods.filter((pod) => pod.ready);
    const late = pods.filter((pod) => !pod.ready);
    const said = late.length === 0 ? undefined : await space.complaints();
    const failed = late.map(({ name, node, reason }) => ({ node, reason: said?.get(name) ?? reason }));
    const targetsOf = (from: string) => [
      ...ready.flatMap(({ node, ip }) => (node === from ? [] : [[at(ip), { about: 'pod', node }] as const])),
      [api, { about: 'api' }] as const,
      ['kubernetes.default:443', { about: 'dns' }] as const,
    ];
    const ask = async (from: string, targets: ReturnType<typeof targetsOf>) => {
      const { script: text } = script('linux/survey-pod.sh', { TARGETS: targets.map(([address]) => address) });
      return readPodConnects(await space.exec(podOn(from), ['sh', '-c', text]), targets);
    };
    say(`trying the network from pods on ${String(ready.length)} nodes`);
    const { run } = limiter(AT_ONCE);
    const askAll = async (node: string): Promise<readonly PodBlocked[]> => {
      const targets = targetsOf(node);
      const first = await ask(node, targets);
      signal.throwIfAborted();
      const again = targets.filter((_, index) => first[index]![1] !== undefined);
      const last = again.length === 0 ? [] : await ask(node, again);
      return last.flatMap(([to, why]) => (why === undefined ? [] : [{ from: node, to, how: why }]));
    };
    const results = await Promise.all(
      ready.map(({ node }) =>
        run(() => askAll(node)).then(
          (blocked) => ({ blocked }),
          (error: unknown) => ({ failed: reasonOf(error) }),
        ),
      ),
    );
    signal.throwIfAborted();
    return {
      tried: ready.length * (ready.length + 1),
      blocked: results.flatMap((one) => ('blocked' in one ? one.blocked : [])),
      failed: [
        ...failed,
        ...results.flatMap((one, index) => ('failed' in one ? [{ node: ready[index]!.node, reason: one.failed }] : [])),
      ],
    };
  } finally {
    say(`deleting namespace ${space.namespace}`);
    await space.end();
  }
}
