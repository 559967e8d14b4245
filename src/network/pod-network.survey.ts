import { reasonOf } from '../host/surveyor.survey.ts';
import { type Family, familyOf, hostPort } from '../inventory/addresses.ts';
import { limiter } from '../limit.ts';
import type { JsonObject } from '../shell/decode.ts';
import { script } from '../templates.ts';
import { CONTAINER, type PodSeen, type PodSpace, podsStarted, type PodWait } from './pods.survey.ts';

/** The target of a pod's connection: a pod of another node, the API by its Service address, or the API by its name. */
type PodTarget =
  { readonly about: 'pod'; readonly node: string; readonly over?: Family } | { readonly about: 'api' | 'dns' };

/** A connection from a pod of a node that failed. */
export interface PodBlocked {
  readonly from: string;
  readonly to: PodTarget;
  /** e.g. `no answer within 3 s` */
  readonly how: string;
}

/** The network of a live cluster, tried from pods on its nodes. */
export interface PodNetwork {
  /** Number of connections that were tried. */
  readonly tried: number;
  readonly blocked: readonly PodBlocked[];
  /** Nodes whose pod could not try, each with the reason. */
  readonly failed: readonly NotTried[];
  /** Nodes that the survey skipped, each with the reason. */
  readonly untried: readonly NotTried[];
}

/** A node on which no connection was tried. */
interface NotTried {
  readonly node: string;
  readonly reason: string;
}

const PORT = 8080;

/** Number of pods that connect at the same time. Each needs a kubectl process on the same control plane. */
const AT_ONCE = 10;

const podOn = (node: string): string => `on-${node}`;

/**
 * A pod for the node, whatever the node's taints are. Every cluster accepts it, even with restricted Pod Security
 * Standards.
 */
function trialPod(node: string, image: string): JsonObject {
  const container = {
    name: CONTAINER,
    image,
    args: ['netexec', `--http-port=${String(PORT)}`, '--udp-port=-1'],
    ports: [{ containerPort: PORT }],
    // The /healthz of this image waits for a UDP server.
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
      // A name that does not exist must not take longer than the other connections.
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

function how(answer: string): string {
  if (answer.startsWith('TIMEOUT')) return 'no answer within 3 s';
  if (answer.startsWith('REFUSED')) return 'refused';
  return answer.replace(/^(?:OTHER|DNS): /, '');
}

/** Reads the results of a pod by target, from lines `TARGET ANSWER`. A result is undefined if the connection worked. */
export function readPodConnects(
  out: string,
  targets: readonly (readonly [address: string, target: PodTarget])[],
): readonly (readonly [PodTarget, string | undefined])[] {
  const answers = new Map(
    out.split('\n').map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const),
  );
  return targets.map(([address, target]) => {
    const answer = answers.get(address) ?? 'it was not tried';
    // If the name was resolved, the connection itself does not matter: the pod tries the Service address by itself.
    const works = answer === 'open' || (target.about === 'dns' && /^(?:TIMEOUT|REFUSED|OTHER)/.test(answer));
    return [target, works ? undefined : how(answer)];
  });
}

/** The ways to a pod, one for each of its addresses. */
const waysTo = ({ node, ip, secondIp }: PodSeen): readonly (readonly [address: string, target: PodTarget])[] =>
  secondIp === undefined
    ? [[hostPort(ip, PORT), { about: 'pod', node }]]
    : [ip, secondIp].map((one) => [hostPort(one, PORT), { about: 'pod', node, over: familyOf(one) }]);

const failure = (to: PodTarget, why: string): string => ('over' in to ? `over ${to.over}: ${why}` : why);

/** What the survey of pods needs. */
interface PodSurveyOptions extends PodWait {
  readonly image: string;
  /** Service `kubernetes`: `address:port`. */
  readonly api: string;
}

/**
 * Starts a pod on every named node. Each connects to all others, and to the API by its Service address and by its name.
 * It tries each failed connection once more, because a packet may get lost. Deletes all pods in every case.
 * @throws CommandError, ConnectError if kubectl fails; the signal's reason if it was aborted
 */
export async function podNetwork(
  space: PodSpace,
  nodes: readonly string[],
  { image, api, ...wait }: PodSurveyOptions,
): Promise<Omit<PodNetwork, 'untried'>> {
  const { say, signal } = wait;
  await space.begin();
  try {
    await space.apply(nodes.map((node) => trialPod(node, image)));
    const pods = await podsStarted(() => space.pods(), wait);
    const ready = pods.filter((pod) => pod.ready);
    const late = pods.filter((pod) => !pod.ready);
    const warnings = late.length === 0 ? undefined : await space.warnings();
    const failed = late.map(({ name, node, reason }) => ({ node, reason: warnings?.get(name) ?? reason }));
    const targetsOf = (from: string) => [
      ...ready.flatMap((pod) => (pod.node === from ? [] : waysTo(pod))),
      [api, { about: 'api' }] as const,
      ['kubernetes.default:443', { about: 'dns' }] as const,
    ];
    const connect = async (from: string, targets: ReturnType<typeof targetsOf>) => {
      const { script: text } = script('network/survey-pod.sh', { TARGETS: targets.map(([address]) => address) });
      return readPodConnects(await space.exec(podOn(from), ['sh', '-c', text]), targets);
    };
    say(`trying the network from pods on ${String(ready.length)} nodes`);
    const { run } = limiter(AT_ONCE);
    const connectAll = async (node: string): Promise<readonly PodBlocked[]> => {
      const targets = targetsOf(node);
      const first = await connect(node, targets);
      signal.throwIfAborted();
      const again = targets.filter((_, index) => first[index]![1] !== undefined);
      const last = again.length === 0 ? [] : await connect(node, again);
      return last.flatMap(([to, why]) => (why === undefined ? [] : [{ from: node, to, how: failure(to, why) }]));
    };
    const results = await Promise.all(
      ready.map(({ node }) =>
        run(() => connectAll(node)).then(
          (blocked) => ({ blocked }),
          (error: unknown) => ({ failed: reasonOf(error) }),
        ),
      ),
    );
    signal.throwIfAborted();
    return {
      tried: ready.reduce((sum, { node }) => sum + targetsOf(node).length, 0),
      blocked: results.flatMap((result) => ('blocked' in result ? result.blocked : [])),
      failed: [
        ...failed,
        ...results.flatMap((result, index) =>
          'failed' in result ? [{ node: ready[index]!.node, reason: result.failed }] : [],
        ),
      ],
    };
  } finally {
    say(`deleting namespace ${space.namespace}`);
    await space.end();
  }
}
