import type { Due } from '../certificates/expiry.ts';
import { isDue, leftText, RENEWED_BEFORE_MS } from '../certificates/validity.value.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { familyOf } from '../inventory/addresses.ts';
import { etcdHosts } from '../inventory/hosts.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { madeOf } from '../shell/secret.ts';
import { secretYaml, toYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { authorityOn, signers } from './authority.step.ts';
import { etcdDocuments } from './config.ts';
import { ETCD_SIGNING, type EtcdPki } from './etcd.facts.ts';

/** Certificates of a member, and kubeadm's phases that create them. */
const PHASES = {
  server: 'etcd-server',
  peer: 'etcd-peer',
  'healthcheck-client': 'etcd-healthcheck-client',
} as const;

/** The reason why a certificate, which must name `names`, must be signed again; undefined if it is good. */
function certificateFlaw(
  pki: EtcdPki | 'not asked',
  name: string,
  {
    names = [],
    renewBeforeMs = RENEWED_BEFORE_MS,
  }: { readonly names?: readonly string[]; readonly renewBeforeMs?: number } = {},
): string | undefined {
  if (pki === 'not asked') return 'none';
  const found = pki.certificates.find((certificate) => certificate.name === name);
  if (found === undefined) return 'none';
  if (pki.isUnfinished) return 'its signing was cut off';
  if (!found.hasKey) return 'no key';
  if (!found.isIssued) return 'of another authority';
  const missing = names.find((required) => !found.names.includes(required));
  if (missing !== undefined) return `not for ${missing}`;
  return isDue({ beginsMs: found.beginsMs, endsMs: found.expiresMs }, pki.nowMs, renewBeforeMs)
    ? leftText(found.expiresMs, pki.nowMs)
    : undefined;
}

const namesOf = (host: LinuxHost): readonly string[] => [
  ...[host.name, 'localhost', host.internalAddress, '127.0.0.1'],
  ...(familyOf(host.internalAddress) === 'IPv6' ? ['::1'] : []),
];

type Leaf = keyof typeof PHASES;
const LEAVES = Object.keys(PHASES) as readonly Leaf[];

const flaws = ({ inventory, host, facts }: Target) =>
  LEAVES.flatMap((name) => {
    const flaw = certificateFlaw(facts.etcdPki, name, {
      names: name === 'healthcheck-client' ? [] : namesOf(host),
      renewBeforeMs: inventory.certificates.renewBeforeMs,
    });
    return flaw === undefined ? [] : [{ name, flaw }];
  });

function signing(
  { inventory, host }: Target,
  found: readonly { readonly name: Leaf; readonly flaw: string }[],
): readonly Change[] {
  if (found.length === 0) return [];
  return [
    {
      summary:
        "sign etcd's certificates of " +
        `${host.name}: ${found.map(({ name, flaw }) => `${name} (found ${flaw})`).join(', ')}`,
      apply: async (on) => {
        await on(host).job(
          'etcd-certificates',
          script('etcd/etcd-certificates.sh', {
            SIGN: found.map(({ name }) => PHASES[name]),
            STAGING: ETCD_SIGNING,
          }),
          { 'config.yaml': secretYaml(etcdDocuments(inventory, host, { certificatesDir: ETCD_SIGNING })) },
        );
      },
    },
  ];
}

/**
 * Signs the certificates of a host's member on the host itself, for its name and addresses. Signs them again when they
 * expire soon. etcd reads them for every connection, so it need not restart.
 */
export const etcdCertificates: Step = {
  name: 'etcd-certificates',
  diff: (target) => signing(target, flaws(target)),
};

/** Renews the certificates of a member that are `due`. Does nothing on a host without certificates. */
export const renewedEtcdCertificates = (due: Due): Step => ({
  name: 'etcd-certificates',
  diff: (target) => {
    const { host, facts } = target;
    const found = LEAVES.flatMap((name) => {
      const certificate = facts.certificates.find((one) => one.name === PHASES[name]);
      const flaw =
        certificate === undefined ? undefined : due(host.name, certificate, { ...target, nowMs: facts.nowMs });
      return flaw === undefined ? [] : [{ name, flaw }];
    });
    return signing(target, found);
  },
});

/** A folder on tmpfs. The key is on a host of role etcd only until kbuild has fetched it. */
const WORK = `${paths.run}/etcd-client`;
const CERTIFICATE = '-----BEGIN CERTIFICATE-----';

async function fetch({ inventory, host, fleet }: Target, on: On): Promise<void> {
  const [from] = signers(fleet);
  if (from === undefined)
    throw new Refused(
      'authority-key-missing',
      host.name,
      "no host of role etcd has etcd's certificate authority with its key",
    );
  const authority = await on(from).read(paths.etcdCa);
  // The output has the certificate and its key. kbuild never logs it.
  const pair = await on(from).reveal(
    script('etcd/etcd-client-certificate.sh', {
      WORK,
      CONFIG: toYaml(etcdDocuments(inventory, from, { certificatesDir: WORK })),
    }),
  );
  const remote = on(host);
  await remote.write(`${ETCD_SIGNING}/etcd/ca.crt`, authority);
  await remote.write(
    `${ETCD_SIGNING}/apiserver-etcd-client.key`,
    madeOf(pair, (text) => text.slice(0, text.indexOf(CERTIFICATE))),
  );
  await remote.write(
    `${ETCD_SIGNING}/apiserver-etcd-client.crt`,
    madeOf(pair, (text) => text.slice(text.indexOf(CERTIFICATE))),
    0o644,
  );
  await remote.run(script('etcd/etcd-certificates.sh', { SIGN: '', STAGING: ETCD_SIGNING }));
}

const NAME = 'apiserver-etcd-client';

const fetching = (target: Target, found: string | undefined): readonly Change[] =>
  found === undefined
    ? []
    : [
        {
          summary: `fetch a client certificate of etcd for the API server of ${target.host.name} (found ${found})`,
          apply: (on) => fetch(target, on),
        },
      ];

/**
 * Fetches etcd's CA certificate, never its key, and a client certificate for the API server from a host of role etcd,
 * and again when it expires soon. The API server reads it for every connection.
 */
export const etcdClientCertificate: Step = {
  name: 'etcd-client-certificate',
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    if (inventory.etcd.topology !== 'built') return [];
    const theirs = etcdHosts(inventory)
      .map((member) => authorityOn(fleet, member))
      .find((authority) => authority !== 'absent');
    const other = theirs !== undefined && authorityOn(fleet, host) !== theirs;
    const flaw = certificateFlaw(facts.etcdPki, NAME, inventory.certificates);
    return fetching(target, flaw ?? (other ? 'of another authority' : undefined));
  },
};

/**
 * Renews that client certificate if it is `due`. Does nothing on a host without one, or if kbuild does not manage etcd.
 */
export const renewedEtcdClientCertificate = (due: Due): Step => ({
  name: 'etcd-client-certificate',
  diff: (target) => {
    const { inventory, host, facts } = target;
    const certificate = facts.certificates.find(({ name }) => name === NAME);
    if (inventory.etcd.topology !== 'built' || certificate === undefined) return [];
    return fetching(target, due(host.name, certificate, { ...target, nowMs: facts.nowMs }));
  },
});
