import type { Due } from '../certificates/expiry.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { etcdHosts } from '../inventory/hosts.ts';
import { paths } from '../paths.ts';
import { madeOf } from '../shell/secret.ts';
import { toYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { authorityOn, signers } from './authority.step.ts';
import { ETCD_SIGNING } from './certificates.facts.ts';
import { certificateFlaw } from './certificates.step.ts';
import { etcdDocuments } from './config.ts';

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
