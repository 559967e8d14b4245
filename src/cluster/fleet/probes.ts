import { signsByCommand } from '../../certificates/authorities.value.ts';
import { furtherFingerprints, spkiFingerprint } from '../../certificates/fingerprint.value.ts';
import { parseTokenUse, type TokenUse } from '../../certificates/token-use.facts.ts';
import { etcdCommand, type EtcdView, parseEtcd } from '../../etcd/view.facts.ts';
import { ADMIN_KUBECONFIG, apiServerUrl } from '../../inventory/api-server.ts';
import { controlPlanes } from '../../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { parseKubeletRequests } from '../../kubeadm/kubelet-requests.facts.ts';
import { servesByCluster } from '../../kubeadm/kubelet-serving.value.ts';
import { networkPlugin } from '../../network/plugins.value.ts';
import { paths } from '../../paths.ts';
import { handlerPodsProbe } from '../../runtime/handlers.facts.ts';
import type { Command } from '../../shell/command.ts';
import type { JsonObject } from '../../shell/decode.ts';
import { lines, numberOf, probe, type Probe } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';
import { kubeadmRulesProbe } from '../../upgrade/kubeadm-rules.facts.ts';
import { unready } from './api-answer.ts';
import type { FactsOf } from './framed-script.ts';
import {
  parseCaReaders,
  parseConfigMaps,
  parseNodes,
  parseObjects,
  parsePods,
  parseSecrets,
  parseTokens,
} from './objects.ts';
import { identity } from './ownership.ts';

/** Bootstrap tokens with this start of their description are kbuild's. */
const TOKEN_DESCRIPTION = 'kbuild';

/** Objects in one `kubectl get`: their identities are one argument, which Linux limits to 128 KiB. */
const OBJECTS_AT_ONCE = 200;

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

/**
 * Probes the other control planes' own API servers for readiness, all at once: lines of `host answer`, the answer in
 * base64. With several control planes, `readyCommand` has probed the host itself before; a single control plane is
 * probed here.
 */
function readyz(inventory: Inventory, host: LinuxHost) {
  const all = controlPlanes(inventory);
  const asks = all
    .filter(({ name }) => name !== host.name || all.length === 1)
    .map((one) => sh`q ${one.name} ${kubectl(inventory, one)} &`.script);
  const command = sh`q() { name=$1; shift; answer=$("$@" --request-timeout=3s get --raw /readyz 2>&1 | base64 -w 0) || true; echo "$name $answer"; }`;
  return { ...command, script: [command.script, ...asks, 'wait'].join('\n') };
}

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

/**
 * The probes of one control plane with an administrator's kubeconfig. `wanted`: the desired objects; their live state
 * is read.
 */
export function clusterProbes(inventory: Inventory, host: LinuxHost, wanted: readonly JsonObject[]) {
  const tool = kubectl(inventory, host);
  const raw = (path: string) => sh`${tool} get --raw ${path}`;
  return {
    nowMs: probe(sh`date +%s%3N`, (out) => numberOf(out, 'time')),
    ca: probe(sh`cat /etc/kubernetes/pki/ca.crt`, (pem) => ({
      first: spkiFingerprint(pem),
      others: furtherFingerprints(pem),
    })),
    nodes: probe(raw('/api/v1/nodes'), parseNodes),
    configMaps: probe(raw('/api/v1/namespaces/kube-system/configmaps'), parseConfigMaps),
    systemPods: probe(raw('/api/v1/namespaces/kube-system/pods'), parsePods),
    pluginPods: probe(
      sh`for namespace in ${networkPlugin(inventory).namespaces}; do ${tool} get --raw "/api/v1/namespaces/$namespace/pods" || exit 1; echo; done`,
      (out) => lines(out).flatMap(parsePods),
    ),
    caReaders: probe(script('cluster/ca-readers.sh', { KUBECTL: tool }), parseCaReaders),
    tokenUse: tokenUseProbe(inventory, host),
    handlerPods: handlerPodsProbe(inventory, tool),
    kubeadmRules: kubeadmRulesProbe(tool),
    // Ids and descriptions only: the token itself stays where it is.
    tokens: probe(
      sh`${tool} -n kube-system get secrets --field-selector type=bootstrap.kubernetes.io/token -o ${'jsonpath={range .items[*]}{.data.token-id}{" "}{.data.description}{"\\n"}{end}'}`,
      (out) => parseTokens(out, TOKEN_DESCRIPTION),
    ),
    kubeletRequests: probe(
      signsByCommand(inventory, 'ca') || inventory.hosts.some(servesByCluster)
        ? raw('/apis/certificates.k8s.io/v1/certificatesigningrequests')
        : sh`echo '{"items":[]}'`,
      parseKubeletRequests,
    ),
    endpoint: probe(sh`${adminKubectl(`https://${inventory.endpoint}`)} get --raw /readyz 2>&1 || true`, answerOf),
    // An etcd of the user's is the user's to watch.
    etcd:
      inventory.etcd.topology === 'stacked'
        ? probe(etcdCommand(inventory, host), parseEtcd)
        : probe(sh`echo external`, (): EtcdView => ({ members: [], alarms: [] })),
    apiServers: probe(readyz(inventory, host), parseReadyz),
    ...Object.fromEntries(
      chunks(
        wanted.filter((object) => !isSecret(object)),
        OBJECTS_AT_ONCE,
      ).map((chunk, i) => [`objects${String(i)}`, probe(objects(tool, chunk, ['-o', 'json']), parseObjects)]),
    ),
    ...Object.fromEntries(
      chunks(wanted.filter(isSecret), OBJECTS_AT_ONCE).map((chunk, i) => [
        `objects-secret${String(i)}`,
        probe(
          objects(tool, chunk, [
            '--no-headers',
            '-o',
            String.raw`custom-columns=NS:.metadata.namespace,NAME:.metadata.name,HASH:.metadata.annotations.kbuild\.dev/hash`,
          ]),
          parseSecrets,
        ),
      ]),
    ),
  };
}

/** What the probes of a control plane yield. */
export type ClusterFacts = FactsOf<ReturnType<typeof clusterProbes>>;
