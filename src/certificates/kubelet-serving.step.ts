import type { Kind } from '../cluster/fleet/fleet.ts';
import { acting } from '../cluster/live.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { addressesOf } from '../inventory/addresses.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Host } from '../inventory/inventory.ts';
import { servesByCluster } from '../kubeadm/kubelet-serving.value.ts';
import type { KubeletRequest } from '../kubeadm/kubelet.facts.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { type Certified, requested } from './certificate.value.ts';
import { kubeletSubject } from './leaves.ts';
import { signedCertificate, signingAuthority } from './signing-command.value.ts';

/** How long a kubelet may take to ask for its certificate after a start, and to serve with it, in ms. */
const ASKS_MS = 2 * 60_000;

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** The names for which a kubelet may serve: its node's name, and the addresses that the inventory gives the node. */
function namesOf(host: Host): ReadonlySet<string> {
  const addresses = host.kubelet.extraArgs
    .filter(({ name }) => name === 'node-ip')
    .flatMap(({ value }) => value.split(','));
  return new Set([`DNS:${host.name}`, ...[...addressesOf(host), ...addresses].map((address) => `IP:${address}`)]);
}

/** The flaw of a request: its user, its subject, or names that are not the node's own; undefined if it has none. */
function objection(host: Host, asked: KubeletRequest): string | undefined {
  let found: Certified;
  try {
    found = requested(asked.request);
  } catch (error) {
    return `sent what cannot be read (${(error as Error).message})`;
  }
  const subject = [...kubeletSubject(host.name)].sort();
  if (found.subject.join('\n') !== subject.join('\n')) return `names itself ${found.subject.join(', ') || 'nothing'}`;
  const allowed = namesOf(host);
  const others = found.names.filter((name) => !allowed.has(name));
  if (others.length > 0) return `asks for ${others.join(', ')} (allowed: ${[...allowed].join(', ')})`;
  return found.names.includes(`IP:${host.internalAddress}`)
    ? undefined
    : `does not ask for its address ${host.internalAddress}`;
}

/**
 * A change that refuses a request. Only its own host fails: the request of one node must not stop `up` on all others.
 */
const refusal = (host: Host, { name }: KubeletRequest, why: string): Change => ({
  summary: `refuse the serving certificate of the kubelet of ${host.name} (its request ${name} ${why})`,
  apply: () =>
    Promise.reject(
      new Refused(
        'kubelet-request',
        host.name,
        `its kubelet ${why} in the request ${name} for its serving certificate, which is not approved`,
        "correct the node's name or address in the inventory; if the request is not the kubelet's, find out who " +
          `has the node's key. \`kubectl describe csr ${name}\` shows it`,
      ),
    ),
});

/** The update that approves a request. If the request was changed or replaced meanwhile, the API refuses the update. */
const approval = ({ name, uid, resourceVersion }: KubeletRequest): string =>
  JSON.stringify({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, uid, resourceVersion },
    status: {
      conditions: [
        {
          type: 'Approved',
          status: 'True',
          reason: 'KbuildApproved',
          message: 'user, names and addresses are those of the node in the inventory',
        },
      ],
    },
  });

/** The patch with a certificate that was signed elsewhere. Its uid protects another request of the same name. */
const issued = ({ uid }: KubeletRequest, certificate: string): string =>
  JSON.stringify({ metadata: { uid }, status: { certificate: Buffer.from(certificate).toString('base64') } });

async function approve(target: Pick<Target<Kind>, 'inventory' | 'host' | 'fleet'>, asked: KubeletRequest, on: On) {
  const { inventory, host, fleet } = target;
  const control = acting(fleet);
  const tool = kubectl(inventory, control);
  if (!asked.approved)
    await on(control).run(
      sh`printf %s ${approval(asked)} | ${tool} replace --raw ${`${REQUESTS}/${asked.name}/approval`} -f /dev/stdin`,
    );
  const authority = signingAuthority(inventory);
  if (authority === undefined) return;
  const certificate = await signedCertificate(
    authority,
    { host: host.name, certificate: 'kubelet-server', profile: 'server', request: asked.request },
    [kubeletSubject(host.name)],
  );
  await on(control).run(
    sh`printf %s ${issued(asked, certificate)} | ${tool} patch certificatesigningrequest ${asked.name} --subresource status --type merge --patch-file /dev/stdin`,
  );
}

/** The pending request of the node's kubelet; undefined if there is none. */
function pendingOf({ host, fleet: { cluster } }: Pick<Target<Kind>, 'host' | 'fleet'>): KubeletRequest | undefined {
  return cluster.state === 'up'
    ? cluster.kubeletRequests.find(({ profile, node }) => profile === 'server' && node === host.name)
    : undefined;
}

/** The flaw of the certificate with which the kubelet of a Linux host serves; undefined if it has none. */
function flaw({ host, facts }: Target): string | undefined {
  const found = facts.certificates.find(({ name }) => name === 'kubelet-server');
  if (found === undefined) return 'found none';
  if (Date.parse(found.expires) <= facts.nowMs) return `found one that ended ${found.expires}`;
  return found.names.includes(host.internalAddress) ? undefined : `found one for ${found.names.join(', ')}`;
}

/** The change for a request that is not approved yet. */
function answerTo(target: Pick<Target<Kind>, 'inventory' | 'host' | 'fleet'>, asked: KubeletRequest): Change {
  const why = objection(target.host, asked);
  if (why !== undefined) return refusal(target.host, asked, why);
  return {
    summary: `approve the serving certificate of the kubelet of ${target.host.name} (found ${asked.name} pending)`,
    apply: (on) => approve(target, asked, on),
  };
}

/** True for a joined node that the inventory wants to serve with a certificate of the cluster. */
const concerns = <K extends Kind>(target: Target<K>): boolean =>
  servesByCluster(target.host) && standing(target as unknown as Target) === 'joined';

/**
 * Waits until the kubelet has asked for its serving certificate, or has one. A kubelet asks when it starts with
 * `serverTLSBootstrap`, when its addresses change, and when 70 to 90 % of the certificate's time is over.
 */
const servingRequested: Step = {
  name: 'kubelet-serving-requested',
  settleMs: ASKS_MS,
  diff: (target) => {
    const { host, fleet } = target;
    if (!concerns(target)) return [];
    if (fleet.cluster.state === 'down') return [waitForApi(fleet.cluster)];
    const found = flaw(target);
    if (found === undefined || pendingOf(target) !== undefined) return [];
    return [{ summary: `wait until the kubelet of ${host.name} asks for a serving certificate (${found})` }];
  },
};

/**
 * Compares the user, the names and the addresses of a kubelet's request for a serving certificate with the inventory,
 * and approves it: no controller of Kubernetes does. Signs it if the authority is external.
 */
const servingApproved: Step = {
  name: 'kubelet-serving',
  settleMs: ASKS_MS,
  diff: (target) => {
    const { host } = target;
    if (!concerns(target)) return [];
    const asked = pendingOf(target);
    if (asked === undefined) {
      const found = flaw(target);
      return found === undefined
        ? []
        : [{ summary: `wait until the kubelet of ${host.name} has a serving certificate (${found})` }];
    }
    if (asked.approved && signingAuthority(target.inventory) === undefined)
      return [{ summary: `wait until the certificate ${asked.name} of ${host.name} is signed` }];
    return [answerTo(target, asked)];
  },
};

/** The steps about the serving certificate of a Linux node's kubelet. */
export const kubeletServing: readonly Step[] = [servingRequested, servingApproved];

/** The same for a Windows node. kbuild cannot observe its certificate, only the kubelet's requests. */
export const windowsKubeletServing: Step<'windows'> = {
  name: 'kubelet-serving',
  diff: (target) => {
    if (!servesByCluster(target.host)) return [];
    const asked = pendingOf(target);
    if (asked === undefined || asked.approved) return [];
    return [answerTo(target, asked)];
  },
};

/**
 * Signs the kubelets' requests for their next client certificates if the certificate authority is external: no
 * controller of the cluster can sign then. Like Kubernetes' own signer, kbuild signs only what a node requests for
 * itself.
 */
export const kubeletRequests: Step<'cluster'> = {
  name: 'kubelet-requests',
  diff: ({ inventory, facts, fleet }) => {
    const authority = signingAuthority(inventory);
    if (authority === undefined || facts.state !== 'up') return [];
    const pending = facts.kubeletRequests.filter(
      ({ profile, node }) => profile === 'client' && facts.nodes.some(({ name }) => name === node),
    );
    if (pending.length === 0) return [];
    return [
      {
        summary:
          `sign the next client certificate of the kubelet${pending.length === 1 ? '' : 's'} on ` +
          `${pending.map(({ node }) => node).join(', ')} (found ${pending.map(({ name }) => name).join(', ')} ` +
          'pending)',
        apply: async (on) => {
          const control = acting(fleet);
          const tool = kubectl(inventory, control);
          for (const asked of pending) {
            const { name, node, request } = asked;
            const certificate = await signedCertificate(
              authority,
              { host: node, certificate: 'kubelet', profile: 'client', request },
              [kubeletSubject(node)],
            );
            await on(control).run(
              sh`printf %s ${issued(asked, certificate)} | ${tool} patch certificatesigningrequest ${name} --subresource status --type merge --patch-file /dev/stdin`,
            );
          }
        },
      },
    ];
  },
};
