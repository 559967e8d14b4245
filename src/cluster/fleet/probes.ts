import { signsByCommand } from '../../certificates/authorities.value.ts';
import { furtherFingerprints, spkiFingerprint } from '../../certificates/fingerprint.value.ts';
import { parseTokenUse, type TokenUse } from '../../certificates/token-use.facts.ts';
import { etcdCommand, type EtcdView, parseEtcd } from '../../etcd/view.facts.ts';
import { ADMIN_KUBECONFIG, apiServerUrl } from '../../inventory/api-server.ts';
import { controlPlanes } from '../../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { servesByCluster } from '../../kubeadm/kubelet-serving.value.ts';
import { parseKubeletRequests } from '../../kubeadm/kubelet.facts.ts';
import { networkNamespaces } from '../../network/load-balancers.value.ts';
import { paths } from '../../paths.ts';
import { handlerPodsProbe, keptHandlers } from '../../runtime/handlers.facts.ts';
import type { Command } from '../../shell/command.ts';
import type { JsonObject } from '../../shell/decode.ts';
import { clockOf, lines, probe, type Probe } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';
import { kubeadmRulesProbe } from '../../upgrade/addons.facts.ts';
import { advertisedEtcd, apiServerAt, endpointAt, localEtcd } from './places.ts';
import { etcdByGateway } from './etcd-gateway.ts';
import type { FactsOf } from './framed-script.ts';
import { kubeletsProbe } from './kubelets.ts';
import {
  parseCaReaders,
  parseConfigMaps,
  parseNodes,
  parseObjects,
  parsePods,
  parseSecrets,
  parseTokens,
  unready,
} from './objects.ts';
import {
  caReadersOver,
  handlerPodsOver,
  kubeadmRulesOver,
  objectsOver,
  type Over,
  secretsOver,
  tokensOver,
  tokenUseOver,
} from './over-channel.ts';
import { identity } from './ownership.ts';

/** Bootstrap tokens with this start of their description are kbuild's. */
const TOKEN_DESCRIPTION = 'kbuild';

/** Objects in one `kubectl get`: their identities are one argument, which Linux limits to 128 KiB. */
const OBJECTS_AT_ONCE = 200;

/** How long the endpoint may take to answer, in ms: as long as kubectl's requests. */
const ENDPOINT_MS = 5000;

/** kubectl against the host's own API server. It keeps what it learns about the API where a reboot clears it. */
const kubectl = (inventory: Inventory, host: LinuxHost): readonly string[] =>
  adminKubectl(apiServerUrl(inventory, host));

/**
 * The argv of a kubectl as the administrator against the API server at a URL; each of its requests may take `seconds`.
 */
export const adminKubectl = (server: string, seconds = 5): readonly string[] => [
  ...['env', '-u', 'HTTPS_PROXY', '-u', 'https_proxy', `KUBECACHEDIR=${paths.run}/kubectl`, ADMIN_KUBECONFIG],
  ...['kubectl', '--server', server, `--request-timeout=${String(seconds)}s`],
];

/** Prints live objects. One whose kind the API does not know (its CRD is not there yet) is absent, not unknown. */
const objects = (tool: readonly string[], wanted: readonly JsonObject[], output: readonly string[]) =>
  script('cluster/get-objects.sh', {
    KUBECTL: tool,
    OBJECTS: wanted.map((object) => JSON.stringify(identity(object))),
    OUTPUT: output,
  });

/** The control planes that are probed for readiness. With several, the host itself has been probed before. */
const probedForReadiness = (inventory: Inventory, host: LinuxHost): readonly LinuxHost[] => {
  const all = controlPlanes(inventory);
  return all.filter(({ name }) => name !== host.name || all.length === 1);
};

/**
 * Probes the other control planes' own API servers for readiness, all at once: lines of `host answer`, the answer in
 * base64.
 */
function readyz(inventory: Inventory, host: LinuxHost) {
  const asks = probedForReadiness(inventory, host).map((one) => sh`q ${one.name} ${kubectl(inventory, one)} &`.script);
  const command = sh`q() { name=$1; shift; answer=$("$@" --request-timeout=3s get --raw /readyz 2>&1 | base64 -w 0) || true; echo "$name $answer"; }`;
  return { ...command, script: [command.script, ...asks, 'wait'].join('\n') };
}

/** The same over SSH's own channel. */
const readyzOver =
  (inventory: Inventory, host: LinuxHost): Over =>
  async ({ readyz: ask }) =>
    (
      await Promise.all(
        probedForReadiness(inventory, host).map(async (one) => {
          const answer = await ask(apiServerAt(inventory, one));
          return `${one.name} ${Buffer.from(answer).toString('base64')}`;
        }),
      )
    ).join('\n');

const answerOf = (text: string): string => (text.trim() === 'ok' ? 'ok' : unready(text));

const parseReadyz = (out: string): ReadonlyMap<string, string> =>
  new Map(
    lines(out).map((line) => {
      const [name = '', answer = ''] = line.split(' ');
      return [name, answerOf(Buffer.from(answer, 'base64').toString('utf8'))];
    }),
  );

/** Succeeds when the host's own API server is ready: a control plane that is not is given up within seconds. */
export const readyCommand = (inventory: Inventory, host: LinuxHost): Command<'sh'> =>
  sh`${kubectl(inventory, host)} --request-timeout=3s get --raw /readyz`;

const isSecret = (object: JsonObject): boolean => object['kind'] === 'Secret' && object['apiVersion'] === 'v1';

function chunks<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}

/**
 * Who holds service account tokens. `always`: also while their key is not rotated; it reads all pods of the cluster.
 */
export const tokenUseProbe = (inventory: Inventory, host: LinuxHost, always = false): Probe<TokenUse> =>
  probe(
    script('cluster/token-use.sh', { KUBECTL: kubectl(inventory, host), ALWAYS: always ? 'yes' : '' }),
    parseTokenUse,
  );

/** A probe of the cluster: by a command on a control plane, or over SSH's own channel. Both are parsed alike. */
export interface ClusterProbe<T> extends Probe<T> {
  readonly over: Over;
}

const both = <T>(one: Probe<T>, over: Over): ClusterProbe<T> => ({ ...one, over });

/** The probe of what the API has at a path. */
const rawProbe = <T>(tool: readonly string[], path: string, parse: (out: string) => T): ClusterProbe<T> =>
  both(probe(sh`${tool} get --raw ${path}`, parse), ({ get }) => get(path));

const podsAt = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

const pluginPods = (tool: readonly string[], namespaces: readonly string[]) =>
  both(
    probe(
      sh`for namespace in ${namespaces}; do ${tool} get --raw "/api/v1/namespaces/$namespace/pods" || exit 1; echo; done`,
      (out) => lines(out).flatMap(parsePods),
    ),
    async ({ get }) => (await Promise.all(namespaces.map((name) => get(podsAt(name))))).join('\n'),
  );

/** Kubelets that wait for a certificate, where kbuild has to do with them. */
const kubeletRequests = (inventory: Inventory, tool: readonly string[]) =>
  signsByCommand(inventory, 'ca') || inventory.hosts.some(servesByCluster)
    ? rawProbe(tool, '/apis/certificates.k8s.io/v1/certificatesigningrequests', parseKubeletRequests)
    : both(probe(sh`echo '{"items":[]}'`, parseKubeletRequests), () => Promise.resolve('{"items":[]}'));

/** Ids and descriptions only: the token itself stays where it is. */
const tokens = (tool: readonly string[]) =>
  both(
    probe(
      sh`${tool} -n kube-system get secrets --field-selector type=bootstrap.kubernetes.io/token -o ${'jsonpath={range .items[*]}{.data.token-id}{" "}{.data.description}{"\\n"}{end}'}`,
      (out) => parseTokens(out, TOKEN_DESCRIPTION),
    ),
    tokensOver,
  );

/** Etcd beside the API server. An etcd of the user's is the user's to watch. */
const etcd = (inventory: Inventory, host: LinuxHost): ClusterProbe<EtcdView> =>
  inventory.etcd.topology === 'stacked'
    ? both(probe(etcdCommand(inventory, host), parseEtcd), ({ etcdPeer }) =>
        etcdByGateway(etcdPeer, localEtcd(host), controlPlanes(inventory).map(advertisedEtcd)),
      )
    : both(
        probe(sh`echo external`, () => ({ members: [], alarms: [] })),
        () => Promise.resolve('external'),
      );

/** Probes of live objects, in parts: their names begin with `objects`. */
function objectProbes(tool: readonly string[], wanted: readonly JsonObject[]) {
  const shown = chunks(
    wanted.filter((object) => !isSecret(object)),
    OBJECTS_AT_ONCE,
  );
  const columns = String.raw`custom-columns=NS:.metadata.namespace,NAME:.metadata.name,HASH:.metadata.annotations.kbuild\.dev/hash`;
  const whole = (chunk: readonly JsonObject[]) =>
    both(probe(objects(tool, chunk, ['-o', 'json']), parseObjects), objectsOver(chunk));
  const hashed = (chunk: readonly JsonObject[]) =>
    both(probe(objects(tool, chunk, ['--no-headers', '-o', columns]), parseSecrets), secretsOver(chunk));
  return Object.fromEntries([
    ...shown.map((chunk, i) => [`objects${String(i)}`, whole(chunk)] as const),
    ...chunks(wanted.filter(isSecret), OBJECTS_AT_ONCE).map(
      (chunk, i) => [`objects-secret${String(i)}`, hashed(chunk)] as const,
    ),
  ]);
}

/**
 * The probes of one control plane with an administrator's kubeconfig. `wanted`: the desired objects; their live state
 * is read.
 */
export function clusterProbes(inventory: Inventory, host: LinuxHost, wanted: readonly JsonObject[]) {
  const tool = kubectl(inventory, host);
  const nodes = rawProbe(tool, '/api/v1/nodes', parseNodes);
  return {
    nowMs: both(
      probe(sh`date +%s%N`, (out) => clockOf(out)),
      ({ told }) => told('nowMs'),
    ),
    ca: both(
      probe(sh`cat /etc/kubernetes/pki/ca.crt`, (pem) => ({
        first: spkiFingerprint(pem),
        others: furtherFingerprints(pem),
      })),
      ({ told }) => told('ca'),
    ),
    nodes,
    configMaps: rawProbe(tool, '/api/v1/namespaces/kube-system/configmaps', parseConfigMaps),
    systemPods: rawProbe(tool, podsAt('kube-system'), parsePods),
    pluginPods: pluginPods(tool, networkNamespaces(inventory)),
    caReaders: both(probe(script('cluster/ca-readers.sh', { KUBECTL: tool }), parseCaReaders), caReadersOver),
    tokenUse: both(tokenUseProbe(inventory, host), tokenUseOver),
    handlerPods: both(handlerPodsProbe(inventory, tool), handlerPodsOver(keptHandlers(inventory), nodes.over)),
    kubeadmRules: both(kubeadmRulesProbe(tool), kubeadmRulesOver),
    tokens: tokens(tool),
    kubeletRequests: kubeletRequests(inventory, tool),
    kubelets: kubeletsProbe(inventory, tool, nodes.over),
    endpoint: both(
      probe(sh`${adminKubectl(`https://${inventory.endpoint}`)} get --raw /readyz 2>&1 || true`, answerOf),
      ({ readyz }) => readyz(endpointAt(inventory), ENDPOINT_MS),
    ),
    etcd: etcd(inventory, host),
    apiServers: both(probe(readyz(inventory, host), parseReadyz), readyzOver(inventory, host)),
    ...objectProbes(tool, wanted),
  };
}

/** What the probes of a control plane yield. */
export type ClusterFacts = FactsOf<ReturnType<typeof clusterProbes>>;
