import { ownAuthority } from '../certificates/authorities.value.ts';
import { shortFingerprint, spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { type Fleet, linuxFacts, observedLinux } from '../cluster/fleet/fleet.ts';
import { isControlPlane } from '../cluster/fleet/joined.ts';
import { runs } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { controlPlanes, etcdHosts } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { etcdDocuments } from './config.ts';
import { ETCD_SIGNING } from './etcd.facts.ts';

const MODE = 0o600;

/** Fingerprint of etcd's certificate authority on a host; `absent` if it has none or was not observed. */
export function authorityOn(fleet: Fleet, host: LinuxHost): string {
  const pki = linuxFacts(fleet, host)?.etcdPki ?? 'not asked';
  return pki === 'not asked' ? 'absent' : pki.authority;
}

/** The hosts of role etcd that have the certificate authority with its key, and can sign. */
export const signers = (fleet: Fleet): readonly LinuxHost[] =>
  observedLinux(fleet)
    .filter(({ host }) => host.role === 'etcd' && authorityOn(fleet, host) !== 'absent')
    .filter(({ facts }) => facts.files.get(paths.etcdCaKey)?.kind === 'file')
    .map(({ host }) => host);

function refuseSeveral(fleet: Fleet, inventory: Inventory): void {
  const found = new Set(
    etcdHosts(inventory)
      .map((host) => authorityOn(fleet, host))
      .filter((authority) => authority !== 'absent'),
  );
  if (found.size > 1)
    throw new Refused(
      'different-authorities',
      etcdHosts(inventory)
        .map(({ name }) => name)
        .join(', '),
      `they have ${String(found.size)} different certificate authorities of etcd`,
      'find out which one the API servers use (/etc/kubernetes/pki/etcd/ca.crt), and reset the hosts with the other',
    );
}

/** @throws Refused if a host of role etcd has another authority than the inventory names */
function refuseAnother(fleet: Fleet, inventory: Inventory): void {
  const own = ownAuthority(inventory, 'etcd-ca');
  if (own === undefined) return;
  const desired = spkiFingerprint(own.cert);
  for (const host of etcdHosts(inventory)) {
    const found = authorityOn(fleet, host);
    if (found === 'absent' || found === desired) continue;
    throw new Refused(
      'authority-in-place',
      host.name,
      `its certificate authority of etcd is ${shortFingerprint(found)}…, and certificates.etcdCa is ` +
        `${shortFingerprint(desired)}…: kbuild does not overwrite an authority`,
      'name the authority that the host has, or remove certificates.etcdCa; reset a host that is not a member yet',
    );
  }
}

/** @throws Refused if hosts may use a certificate authority whose key no host of role etcd has */
function refuseSecond({ inventory, fleet, host }: Target): void {
  const unobserved = etcdHosts(inventory).find((other) => linuxFacts(fleet, other) === undefined);
  if (unobserved !== undefined)
    throw new Refused(
      'host-not-observed',
      host.name,
      `kbuild did not reach ${unobserved.name}, which may hold etcd's certificate authority`,
    );
  const user = controlPlanes(inventory).find(
    (control) =>
      authorityOn(fleet, control) !== 'absent' &&
      isControlPlane(linuxFacts(fleet, control)?.kubernetesTraces ?? new Set()),
  );
  if (user !== undefined)
    throw new Refused(
      'authority-key-missing',
      host.name,
      `no host of role etcd holds the key of etcd's certificate authority any more, and ${user.name} uses it`,
      'bring one of the hosts back, or /etc/kubernetes/pki/etcd/ca.crt and ca.key of one of them',
    );
}

/** Copies the authority from another host. */
async function copyAuthority(on: On, from: LinuxHost, host: LinuxHost): Promise<void> {
  const cert = await on(from).read(paths.etcdCa);
  await placeAuthority(on, host, { cert, key: await on(from).reveal(sh`cat ${paths.etcdCaKey}`) });
}

/**
 * Puts an authority on a host. Writes both files to a staging folder first, so that certificate and key always belong
 * together.
 */
async function placeAuthority(
  on: On,
  host: LinuxHost,
  { cert, key }: { readonly cert: string; readonly key: Secret },
): Promise<void> {
  await on(host).write(`${ETCD_SIGNING}/etcd/ca.key`, key, MODE);
  await on(host).write(`${ETCD_SIGNING}/etcd/ca.crt`, cert);
  await on(host).run(script('etcd/etcd-certificates.sh', { SIGN: '', STAGING: ETCD_SIGNING }));
}

/**
 * Puts etcd's certificate authority with its key on every host of role etcd: each host signs its own certificates. The
 * first host creates it, the others copy it.
 */
export const etcdAuthority: Step = {
  name: 'etcd-authority',
  watches: { files: [paths.etcdCaKey] },
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    refuseSeveral(fleet, inventory);
    refuseAnother(fleet, inventory);
    const key = facts.files.get(paths.etcdCaKey);
    const has = authorityOn(fleet, host) !== 'absent' && key?.kind === 'file';
    if (has && key.mode === MODE) return [];
    if (has)
      return [
        {
          summary: `let root alone read ${paths.etcdCaKey} (found mode ${key.mode.toString(8)})`,
          apply: runs(host, sh`chmod 600 ${paths.etcdCaKey}`),
        },
      ];
    const [from] = signers(fleet);
    if (from !== undefined)
      return [
        {
          summary: `take etcd's certificate authority from ${from.name} (found none)`,
          apply: (on) => copyAuthority(on, from, host),
        },
      ];
    refuseSecond(target);
    const own = ownAuthority(inventory, 'etcd-ca');
    if (own !== undefined && 'key' in own)
      return [
        {
          summary:
            "have the inventory's certificate authority of etcd, put here or on another host of role etcd (found none)",
          apply: (on) => placeAuthority(on, host, own),
        },
      ];
    return [
      {
        summary: "have etcd's certificate authority, made here or on another host of role etcd (found none)",
        apply: async (on) => {
          await on(host).job('etcd-authority', sh`kubeadm init phase certs etcd-ca --config config.yaml`, {
            'config.yaml': secretYaml(etcdDocuments(inventory, host)),
          });
        },
      },
    ];
  },
};
